package control

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/kubefake/kubefake/internal/story"
)

// Operations are the requests of the endpoint: GET reads, POST acts, DELETE undoes.
// "go run ./internal/control/gen" describes them in openapi.json.
var Operations = []Operation{
	{"GET", "story", "story", "what happened: who wrote what, who had not seen it, and what failed; a page in a browser", "", "", serve((*Control).story)},
	{"GET", "requests", "requests", "the newest requests, with their answers", "", "", serve((*Control).requests)},
	{"GET", "writes", "writes", "the writes from a revision on, with their writers", "from=1", "", serve((*Control).writes)},

	{"GET", "objects", "readObjects", "the objects of a resource at a revision, as kubectl prints them", "resource=namespaces", "", serve((*Control).readObjects)},
	{"GET", "object", "readObject", "an object at a revision, with its versions, owners, dependents and Events", "resource=namespaces&name=default", "", serve((*Control).readObject)},
	{"GET", "revisions", "revisions", "writes field by field, as the story has them", "revision=1", "", serve((*Control).revisions)},

	{"GET", "scenario", "scenario", "the requests of clients as a scenario, which fakeapi play repeats", "from=1", "", serve((*Control).scenario)},
	{"POST", "play", "play", "plays scenarios and compares the answers", "", `{"scenarios": "name: read\nsteps:\n- do: GET /api/v1/namespaces/default\n  only: [metadata.name]\n  want: {body: {metadata.name: default}}\n"}`, serve((*Control).play)},

	{"GET", "explore", "explored", "what searches of explore have tried and found so far", "", "", serve((*Control).explored)},
	{"GET", "explore/story", "findingStory", "the story of a finding; a page in a browser", "name=NAME", "", serve((*Control).findingStory)},

	{"POST", "objects", "changeObjects", "stores and removes objects without admission", "", `{"store": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}]}`, serve((*Control).objects)},
	{"POST", "snapshot", "snapshot", "keeps the state under a name", "", `{"name": "before"}`, serve((*Control).snapshot)},
	{"POST", "restore", "restore", "restores the state of that name", "", `{"name": "before"}`, serve((*Control).restore)},
	{"POST", "reset", "reset", "restores the state of a fresh server, without the objects of --objects and --crds, and ends faults and lags", "", "", serve((*Control).reset)},

	{"POST", "forks", "fork", "starts a server with the same state, on a port of its own", "", `{}`, onHost(fork)},
	{"GET", "forks", "listForks", "the forks of the server", "", "", onHost(listForks)},
	{"DELETE", "forks", "endForks", "ends a fork; without an ID, all of them", "id=1", "", onHost(endForks)},

	{"POST", "replicas", "startReplica", "starts another API server of the cluster, with watch caches, lags and faults of its own", "", `{}`, onHost(startReplica)},
	{"GET", "replicas", "listReplicas", "the API servers of the cluster", "", "", onHost(listReplicas)},
	{"POST", "failover", "failover", "moves clients to another API server of the cluster", "", `{"userAgent": "manager/*", "replica": "1"}`, onHost(failover)},

	{"POST", "upgrade", "upgrade", "restarts the server with another Kubernetes release, over the same objects", "", `{"release": "v1.36"}`, onHost(upgrade)},

	{"POST", "kubeconfig", "kubeconfig", "a kubeconfig file of a user", "", `{"name": "alice", "groups": ["developers"]}`, onHost(kubeconfig)},
	{"POST", "webhooks", "installWebhooks", "a certificate and an address for webhooks", "", `{"services": ["shop/admission"]}`, onHost(installWebhooks)},

	{"POST", "compact", "compact", "removes old versions of objects; with watches, ends every open watch with 410 Expired", "", `{"watches": true}`, serve((*Control).compact)},
	{"POST", "lag", "lag", "delays the watch caches of a resource", "", `{"resource": "pods", "by": "3s"}`, serve((*Control).lag)},
	{"GET", "lag", "listLags", "the lags, and the revisions of the watch caches", "", "", serve((*Control).lags)},
	{"DELETE", "lag", "endLag", "ends a lag; without a resource, all of them", "resource=pods", "", serve((*Control).thaw)},

	{"POST", "faults", "injectFaults", "injects faults", "", `{"id": "busy", "verb": "update", "resource": "pods", "code": 409, "times": 1}`, serve((*Control).inject)},
	{"GET", "faults", "listFaults", "the faults, and how often each has hit", "", "", serve((*Control).listFaults)},
	{"DELETE", "faults", "removeFaults", "removes a fault; without an ID, all of them", "id=busy", "", serve((*Control).removeFaults)},

	{"POST", "disconnect", "disconnect", "breaks the connections of the watches of a client, and of its requests that wait in a fault", "", `{"userAgent": "manager/*"}`, serve((*Control).disconnect)},

	{"POST", "signal", "signal", "sends a signal to a process that the server knows by a name", "", `{"process": "manager", "signal": "SIGKILL"}`, onHost(signal)},

	{"POST", "coverage", "startCoverage", "counts the results of the expressions of policies, webhooks and definitions, from zero", "", "", serve((*Control).startCoverage)},
	{"GET", "coverage", "coverage", "the expressions and their results", "", "", serve((*Control).coverage)},
	{"DELETE", "coverage", "stopCoverage", "ends counting", "", "", serve((*Control).stopCoverage)},
	{"POST", "usage", "startUsage", "counts what clients ask", "", "", serve((*Control).startUsage)},
	{"GET", "usage", "usage", "what clients have asked, for the command fakeapi usage", "", "", serve((*Control).usage)},
	{"DELETE", "usage", "stopUsage", "ends counting", "", "", serve((*Control).stopUsage)},
	{"POST", "roles", "roles", "the roles that a client needs, and how those that it has differ", "", `{"userAgent": "manager/*"}`, serve((*Control).roles)},
	{"GET", "clock", "clock", "the time, and the number of timers", "", "", serve((*Control).clock)},
	{"POST", "clock", "advanceClock", "advances the clock, and runs the timers that are due", "", `{"advance": "10m"}`, serve((*Control).advance)},

	{"GET", "controllers", "controllers", "the controllers that run, and the names of all", "", "", serve((*Control).controllers)},
	{"POST", "controllers", "selectControllers", "starts and stops controllers, as the flag --controllers selects them", "", `{"select": ["serviceaccount-controller"]}`, serve((*Control).selectControllers)},
	{"DELETE", "controllers", "stopControllers", "stops all controllers", "", "", serve((*Control).stopControllers)},
	{"POST", "pods", "changePods", "says what the containers of Pods do, what they have written, and what they use", "", `{"selector": "app=web", "do": "crash-loop"}`, serve((*Control).changePods)},
	{"POST", "nodes", "changeNode", "stops and starts the kubelet of a Node", "", `{"name": "node-1", "stopped": true}`, serve((*Control).changeNode)},
	{"POST", "metrics", "setMetric", "sets a metric that HorizontalPodAutoscalers read", "", `{"name": "queue-length", "value": "30"}`, serve((*Control).setMetric)},
	{"POST", "status", "changeStatus", "writes fields of the status of an object, or that it is ready", "", `{"resource": "namespaces", "name": "default", "status": {"phase": "Active"}}`, serve((*Control).changeStatus)},
	{"POST", "settle", "settle", "waits until controllers and clients have nothing left to do, on a manual clock up to a time ahead", "", `{"ahead": "10m"}`, serve((*Control).settle)},

	{"GET", "openapi", "openapi", "this list as an OpenAPI document, from which clients can be generated", "", "", serve((*Control).openAPI)},
}

// find returns the operation of a request, nil if there is none, and the methods that the
// path has.
func find(method, path string) (op *Operation, methods []string) {
	for i := range Operations {
		if Operations[i].Path == path {
			methods = append(methods, Operations[i].Method)
			if Operations[i].Method == method {
				op = &Operations[i]
			}
		}
	}
	return op, methods
}

// link returns the path of an operation, with its example of a query.
func (o *Operation) link() string {
	if o.Query != "" {
		return Prefix + o.Path + "?" + o.Query
	}
	return Prefix + o.Path
}

// curl returns a command line that sends the operation to the server at a base URL.
func (o *Operation) curl(base string) string {
	line := "curl "
	if strings.HasPrefix(base, "https:") {
		line += "--insecure "
	}
	if o.Method != http.MethodGet && o.Body == "" {
		line += "-X " + o.Method + " "
	}
	url := base + o.link()
	if o.Query != "" {
		url = "'" + url + "'"
	}
	line += url
	if o.Body != "" {
		line += " --json '" + o.Body + "'"
	}
	return line
}

// manual is the address of the documentation of the endpoint.
const manual = "https://github.com/kubefake/kubefake/blob/main/docs/control-endpoint.md"

//go:embed openapi.json
var document []byte

func (c *Control) openAPI(*Request, none) (json.RawMessage, error) { return document, nil }

// index answers what the endpoint serves: a page for a browser, which shows what happens and
// has these requests as actions, the OpenAPI document for a client that accepts JSON by name,
// and text for others.
func (c *Control) index(r *Request) (Answer, error) {
	switch {
	case strings.Contains(r.Accept, "text/html"):
		return Answer{ContentType: "text/html; charset=utf-8", Body: []byte(story.LivePage("fakeapi at " + r.Host)), Policy: story.LivePolicy()}, nil
	case strings.Contains(r.Accept, "json"):
		return Answer{ContentType: "application/json", Body: document}, nil
	}
	return Answer{ContentType: "text/plain; charset=utf-8", Body: c.indexText(r)}, nil
}

// summary returns the state of the server in a line.
func (c *Control) summary() string {
	return fmt.Sprintf("revision %d, %d faults, %s", c.cluster.Store().Revision(), len(c.faults.Rules()), c.cluster.Clock().Now().UTC().Format("2006-01-02 15:04:05 UTC"))
}

const introduction = "This server is a Kubernetes API server for tests. These requests do to it what no kube-apiserver allows."

func (c *Control) indexText(r *Request) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n%s\n%s\n", introduction, manual, c.summary())
	for i := range Operations {
		o := &Operations[i]
		fmt.Fprintf(&out, "\n%-6s %s%s: %s\n       %s\n", o.Method, Prefix, o.Path, o.Effect, o.curl(r.BaseURL))
	}
	fmt.Fprintf(&out, "\n%-6s %s%s: the story while it happens, as server-sent events\n", http.MethodGet, Prefix, eventsPath)
	fmt.Fprintf(&out, "\n%-6s %s%s: the state as a file, for fakeapi.WithState\n", http.MethodGet, Prefix, statePath)
	return out.Bytes()
}
