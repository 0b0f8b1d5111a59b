package control

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"strings"
)

// An operation is a request that the endpoint serves.
type operation struct {
	Method string `json:"method"`
	Path   string `json:"path"` // below pathPrefix
	Effect string `json:"effect"`
	Query  string `json:"query,omitempty"` // an example
	Body   string `json:"body,omitempty"`  // an example; "" if the request needs none

	handle func(*Control, *Request) (any, error)
}

// operations are the requests of the endpoint: GET reads, POST acts, DELETE undoes. What
// a handler returns is encoded in JSON, except for a page.
var operations = []operation{
	{Method: http.MethodGet, Path: "story", Effect: "what happened: who wrote what, who had not seen it, and what failed; a page in a browser", handle: (*Control).story},
	{Method: http.MethodGet, Path: "requests", Effect: "the newest requests, with their answers", handle: (*Control).requests},
	{Method: http.MethodGet, Path: "writes", Effect: "the writes from a revision on, with their writers", Query: "from=1", handle: (*Control).writes},

	{Method: http.MethodPost, Path: "objects", Effect: "creates, replaces and deletes objects without admission", Body: `{"put": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}]}`, handle: (*Control).objects},
	{Method: http.MethodPost, Path: "snapshot", Effect: "keeps the state under a name", Body: `{"name": "before"}`, handle: (*Control).snapshot},
	{Method: http.MethodPost, Path: "restore", Effect: "restores the state of that name", Body: `{"name": "before"}`, handle: (*Control).restore},
	{Method: http.MethodPost, Path: "reset", Effect: "restores the state of a fresh server, and ends faults and lags", handle: (*Control).reset},

	{Method: http.MethodPost, Path: "compact", Effect: "removes old versions of objects; with watches, ends every open watch with 410 Expired", Body: `{"watches": true}`, handle: (*Control).compact},
	{Method: http.MethodPost, Path: "lag", Effect: "delays the watch caches of a resource", Body: `{"resource": "pods", "by": "3s"}`, handle: (*Control).lag},
	{Method: http.MethodGet, Path: "lag", Effect: "the lags, and the revisions of the watch caches", handle: (*Control).lags},
	{Method: http.MethodDelete, Path: "lag", Effect: "ends a lag; without a resource, all of them", Query: "resource=pods", handle: (*Control).thaw},

	{Method: http.MethodPost, Path: "faults", Effect: "injects faults", Body: `{"id": "busy", "verb": "update", "resource": "pods", "code": 409, "times": 1}`, handle: (*Control).inject},
	{Method: http.MethodGet, Path: "faults", Effect: "the faults, and how often each has hit", handle: (*Control).listFaults},
	{Method: http.MethodDelete, Path: "faults", Effect: "removes a fault; without an ID, all of them", Query: "id=busy", handle: (*Control).removeFaults},

	{Method: http.MethodGet, Path: "clock", Effect: "the time, and the number of timers", handle: (*Control).clock},
	{Method: http.MethodPost, Path: "clock", Effect: "advances the clock, and runs the timers that are due", Body: `{"advance": "10m"}`, handle: (*Control).advance},

	{Method: http.MethodGet, Path: "controllers", Effect: "the controllers that run, and the names of all", handle: (*Control).controllers},
	{Method: http.MethodPost, Path: "controllers", Effect: "starts and stops controllers, as the flag --controllers selects them", Body: `{"select": ["serviceaccount-controller"]}`, handle: (*Control).selectControllers},
	{Method: http.MethodDelete, Path: "controllers", Effect: "stops all controllers", handle: (*Control).stopControllers},
	{Method: http.MethodPost, Path: "settle", Effect: "runs the controllers until none has anything left to do, on a manual clock up to a time ahead", Body: `{"ahead": "10m"}`, handle: (*Control).settle},
}

// find returns the operation of a request. It is nil if there is none; known reports
// whether there is one with another method.
func find(method, path string) (op *operation, known bool) {
	for i := range operations {
		if operations[i].Path == path {
			known = true
			if operations[i].Method == method {
				return &operations[i], true
			}
		}
	}
	return nil, known
}

// link returns the path of an operation, with its example of a query.
func (o *operation) link() string {
	if o.Query != "" {
		return pathPrefix + o.Path + "?" + o.Query
	}
	return pathPrefix + o.Path
}

// curl returns a command line that sends the operation to the server at a base URL.
func (o *operation) curl(base string) string {
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

// index answers what the endpoint serves: a page for a browser, JSON for a client that
// accepts it by name, and text for others.
func (c *Control) index(r *Request) (Answer, error) {
	switch {
	case strings.Contains(r.Accept, "text/html"):
		return Answer{"text/html; charset=utf-8", c.indexPage(r)}, nil
	case strings.Contains(r.Accept, "json"):
		return jsonAnswer(struct {
			Requests []operation `json:"requests"`
		}{operations})
	}
	return Answer{"text/plain; charset=utf-8", c.indexText(r)}, nil
}

// state returns the state of the server in a line.
func (c *Control) state() string {
	return fmt.Sprintf("revision %d, %d faults, %s", c.registry.Store().Revision(), len(c.faults.Rules()), c.registry.Clock().Now().UTC().Format("2006-01-02 15:04:05 UTC"))
}

const introduction = "This server is a Kubernetes API server for tests. These requests do to it what no kube-apiserver allows."

func (c *Control) indexText(r *Request) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n%s\n%s\n", introduction, manual, c.state())
	for i := range operations {
		o := &operations[i]
		fmt.Fprintf(&out, "\n%-6s %s%s: %s\n       %s\n", o.Method, pathPrefix, o.Path, o.Effect, o.curl(r.BaseURL))
	}
	return out.Bytes()
}

func (c *Control) indexPage(r *Request) []byte {
	var out bytes.Buffer
	e := html.EscapeString
	fmt.Fprintf(&out, indexHead, e(r.Host), e(introduction), e(c.state()), e(pathPrefix+"story"), e(manual))
	for i := range operations {
		o := &operations[i]
		name := e(o.Path)
		if o.Method == http.MethodGet {
			name = `<a href="` + e(o.link()) + `">` + name + `</a>`
		}
		fmt.Fprintf(&out, "<tr><td>%s %s<td>%s<td><code>%s</code>\n", o.Method, name, e(o.Effect), e(o.curl(r.BaseURL)))
	}
	out.WriteString("</table>\n")
	return out.Bytes()
}

// indexHead begins the page. It is a format for the host, the introduction, the state,
// the path of the story and the manual.
const indexHead = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>fakeapi at %s</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%%; }
th, td { text-align: left; vertical-align: top; padding: .4rem 1rem .4rem 0; border-top: 1px solid #8884; }
td:first-child { white-space: nowrap; }
code { user-select: all; overflow-wrap: anywhere; }
</style>
<h1>fakeapi</h1>
<p>%s
<p>State: %s
<p><a href="%s">The story</a> shows what happened on this server. <a href="%s">The manual</a> explains every request.
<table>
<tr><th>Request<th>Effect<th>Try it
`
