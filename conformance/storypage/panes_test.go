package storypage

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios"
)

// rollout returns a server with a Deployment that was scaled twice, with its ReplicaSet and Pods, a Warning about
// it, a Secret, and a manager that has not seen the last write.
func rollout(t *testing.T) world {
	w := serve(t, fakeapi.WithControllers("deployment-controller", "replicaset-controller"))
	seen := w.watch("manager/v1", "/apis/apps/v1/deployments")
	w.as("kubectl/v1", "POST", deployments, `{"metadata":{"name":"shop"},"spec":{"replicas":1,
		"selector":{"matchLabels":{"app":"shop"}},"template":{"metadata":{"labels":{"app":"shop"}},"spec":{"containers":[{"name":"app","image":"app:v1"}]}}}}`)
	w.settle()
	w.as("scaler/v1", "PATCH", deployments+"/shop", `{"spec":{"replicas":2}}`)
	w.settle()
	require.NoError(t, w.SetLag("deployments.apps", fakeapi.Lag{Frozen: true}))
	w.as("scaler/v1", "PATCH", deployments+"/shop", `{"metadata":{"labels":{"size":"big"}}}`)
	w.as("kubectl/v1", "POST", "/api/v1/namespaces/default/events", `{"metadata":{"name":"e"},"type":"Warning","reason":"Slow","message":"it is slow","involvedObject":{"kind":"Deployment","namespace":"default","name":"shop"}}`)
	w.as("kubectl/v1", "POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"key"},"stringData":{"password":"correct horse"}}`)
	w.settle()
	seen()
	return w
}

// settle waits until controllers have nothing left to do.
func (w world) settle() {
	w.Helper()
	require.NoError(w, w.Settle(context.Background()))
}

func TestObjects(t *testing.T) {
	w := rollout(t)
	p := openLive(w, "")
	p.click("#tab-objects")
	p.await(`byId("table").querySelector("td")`)
	p.click(`[data-resource="deployments.apps"]`)
	p.await(`byId("table").textContent.includes("shop")`)
	assert.Equal(t, []string{"Namespace", "Name", "Ready", "Up-to-date", "Available", "Age", "Written"}, p.texts("#table th"), "as kubectl prints them")
	assert.Contains(t, p.texts("#resources button"), "pods 2")

	p.click(`#table [data-object]`)
	p.await(`byId("object").querySelector("pre")`)
	text := p.texts("#object")[0]
	for _, want := range []string{"replicas: 2", "size: big", "patch by scaler", "metadata.labels", "manager", "sees r", "1 version behind", "WarningSlow", "it is slow", "managedFields: "} {
		assert.Contains(t, text, want)
	}
	assert.False(t, eval[bool](p, `document.querySelector("#object details").open`), "managed fields are folded")
	assert.Contains(t, strings.Join(p.texts("#object .tree li"), "\n"), "replicasets.apps default/shop-", "dependents")
	assert.Equal(t, 2, p.count(`#object .tree li[data-depth="2"]`), "the Pods")

	p.click("#object .version") // the first one
	p.await(`at.revision && byId("object").textContent.includes("version 1 of")`)
	text = p.texts("#object")[0]
	assert.Contains(t, text, "replicas: 1")
	assert.NotContains(t, text, "size: big")
	assert.NotContains(t, p.texts("#resources button"), "pods 2")
	assert.Equal(t, 1, p.shapes("moment"), "the chart shows the revision")
	assert.Regexp(t, `managersees nothing of it1 version behindits view is at r\d+ of r\d+`, text, "what the manager saw then")
	link, first := eval[string](p, `location.hash`), eval[int](p, `at.revision`)
	p.click("#newer")
	p.await(fmt.Sprintf(`at.revision > %d`, first))
	p.click("#older")
	p.await(fmt.Sprintf(`at.revision === %d`, first))
	p.click("#newest")
	p.await(`!at.revision && byId("object").textContent.includes("size: big")`)
	p.click("#object summary")
	assert.Contains(t, eval[string](p, `document.querySelector("#object details[open] pre").innerText`), "manager: scaler", "managed fields unfold")
	p.clickShape(fmt.Sprintf(`s.id === "r%d"`, first))
	p.await(fmt.Sprintf(`at.revision === %d && !byId("object").textContent.includes("size: big")`, first))
	p.click("#newest")
	p.await(`!at.revision`)
	box := eval[point](p, `(({ x, y, height }) => ({ X: x + 8, Y: y + height / 2 }))(byId("slider").getBoundingClientRect())`)
	p.drag(box, 10)
	p.await(`at.revision > 0 && byId("object").textContent.includes("It does not exist at")`)

	p = openLive(w, link)
	p.await(`byId("object").textContent.includes("version 1 of")`)
	assert.Contains(t, p.texts("#object")[0], "replicas: 1", "a link keeps the view")

	p.pick("slider", "1000000")
	p.await(`byId("object").textContent.includes("size: big")`)
	p.click(`#object .tree [data-object]`)
	p.await(`byId("object").querySelector("h2").textContent.startsWith("replicasets.apps")`)
	assert.Contains(t, p.texts("#object .tree li")[0], "deployments.apps default/shop", "its owner")
	p.click(`[data-resource="pods"]`)
	p.await(`byId("table").textContent.includes("0/1")`)
	p.pick("table-name", "no such name")
	p.await(`byId("table").textContent.includes("with that name")`)
}

// TestSecretsAreHidden checks that the page shows placeholders unless its URL asks for secrets.
func TestSecretsAreHidden(t *testing.T) {
	w := rollout(t)
	for query, shown := range map[string]bool{"": false, "?showSecrets=true": true} {
		p := openLive(w, query+`#pane=objects&object=["secrets","default","key"]`)
		p.await(`byId("object").querySelector("pre")`)
		text := eval[string](p, `document.body.textContent`)
		assert.Equal(t, shown, strings.Contains(text, "Y29ycmVjdCBob3JzZQ=="), query)
		assert.Equal(t, !shown, strings.Contains(text, "scrubbed-"), query)
	}
}

// submit sets fields of an action, does it, and returns what it says.
func (p *tab) submit(action string, fields map[string]string) string {
	p.t.Helper()
	form := `[data-action="` + action + `"]`
	for name, value := range fields {
		eval[bool](p, `(() => { const e = document.querySelector('`+form+`').elements.`+name+`; if (e.type === "checkbox") e.checked = true; else e.value = `+"`"+value+"`"+`; e.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`)
	}
	p.click(form + " button")
	p.await(`!["", "…"].includes(document.querySelector('` + form + ` .result').textContent)`)
	return p.texts(form + " .result")[0]
}

func TestActions(t *testing.T) {
	w := rollout(t)
	p := openLive(w, "#pane=actions")
	p.await(`byId("known-resources").options.length && document.querySelector('[data-action=restart] select').options.length`)
	require.NoError(t, w.SetLag("*", fakeapi.Lag{}))

	assert.Equal(t, "done", p.submit("freeze", map[string]string{"resource": "pods"}))
	assert.Equal(t, []string{`curl ` + w.URL + `/debug/fakeapi/lag --json '{"resource":"pods","frozen":true}'`}, p.texts("[data-action=freeze] .curl"))
	assert.Equal(t, []string{`srv.SetLag("pods", fakeapi.Lag{Frozen: true})`}, p.texts("[data-action=freeze] .go"))
	w.as("kubectl/v1", "DELETE", "/api/v1/namespaces/default/secrets/key", "")
	lagging := func(resource string) bool {
		seen, err := w.CachedRevision(resource)
		require.NoError(t, err)
		return seen < w.Revision()
	}
	assert.True(t, lagging("pods"))
	assert.Equal(t, "done", p.submit("thaw", map[string]string{"resource": "pods"}))
	assert.False(t, lagging("pods"))
	assert.Equal(t, "done", p.submit("lag", map[string]string{"resource": "pods", "by": "1m"}))
	assert.Equal(t, []string{`srv.SetLag("pods", fakeapi.Lag{By: time.Minute})`}, p.texts("[data-action=lag] .go"))

	assert.Equal(t, "done", p.submit("lag", map[string]string{"resource": "pods", "by": "1m1.5s"}))
	assert.Equal(t, []string{`srv.SetLag("pods", fakeapi.Lag{By: time.Minute + 1500*time.Millisecond})`}, p.texts("[data-action=lag] .go"))

	said := p.submit("fault", map[string]string{"verb": "update", "resource": "deployments.apps", "code": "409", "times": "1"})
	assert.Equal(t, "done: update of deployments.apps: 409, once", said)
	assert.Equal(t, []string{`srv.Inject(faults.Fault{Verb: "update", Resource: "deployments.apps", Code: 409, Times: 1})`}, p.texts("[data-action=fault] .go"))
	assert.Len(t, w.Injections(), 1)
	got := w.Injections()[0].Faults()[0]
	assert.Equal(t, []any{"update", "deployments.apps", 409, 1}, []any{got.Verb, got.Resource, got.Code, got.Times})
	assert.Equal(t, "done", p.submit("heal", nil))
	assert.Empty(t, w.Injections())

	before := w.Clock().Now()
	assert.Contains(t, p.submit("clock", map[string]string{"advance": "90s"}), "done: it is 2030-01-02T03:05:35Z")
	assert.Equal(t, 90.0, w.Clock().Now().Sub(before).Seconds())
	assert.Contains(t, p.submit("clock", map[string]string{"advance": "soon"}), `"soon" is not a positive duration`)
	assert.Equal(t, 1, p.count("[data-action=clock] .result.never"))
	p.forgive("400 (Bad Request)")

	assert.Equal(t, "done: 1 connection", p.submit("disconnect", map[string]string{"userAgent": "manager/*"}))
	assert.Equal(t, "done", p.submit("restart", map[string]string{"controller": "deployment-controller"}))
	assert.Contains(t, p.submit("settle", nil), "done: settled at r")
	assert.Contains(t, p.submit("compact", map[string]string{"watches": "on"}), "done: history begins at r")

	assert.Equal(t, "done: the page of fork 1", p.submit("fork", nil))
	fork := eval[string](p, `document.querySelector("[data-action=fork] .result a").href`)
	f := openTab(t, fork, strings.TrimSuffix(fork, "debug/fakeapi/"))
	f.await(`instance`)
	assert.Equal(t, "live", f.texts("#state")[0])
}

// TestPlay checks that the page plays a scenario, from a text and from a file.
func TestPlay(t *testing.T) {
	w := serve(t)
	p := openLive(w, "#pane=actions")
	assert.Equal(t, []string{"jq -Rs '{scenarios: .}' scenario.yaml | curl " + w.URL + "/debug/fakeapi/play --json @-\nfakeapi play scenario.yaml --server " + w.URL}, p.texts("[data-action=play] .curl"))
	assert.Equal(t, []string{`scenarios.Play(t, srv, "scenario.yaml")`}, p.texts("[data-action=play] .go"))
	const scenario = `name: create one
steps:
- do: POST /api/v1/namespaces/default/configmaps
  body: {metadata: {name: played}}
  only: [metadata.name]
  want: {status: 201, body: {metadata.name: played}}
- pause: 1ms
`
	said := p.submit("play", map[string]string{"scenarios": scenario})
	require.Equal(t, "done: passed create one, 2 of 2 steps", said)
	_, err := w.Get("configmaps", "default", "played")
	assert.NoError(t, err)
	p.await(`model.lines.some((e) => e.text.includes("create configmaps default/played"))`)

	file := filepath.Join(t.TempDir(), "again.yaml")
	require.NoError(t, os.WriteFile(file, []byte(scenario), 0o600))
	var doc struct{ Root struct{ NodeID int } }
	p.call("DOM.getDocument", nil, &doc)
	var found struct{ NodeID int }
	p.call("DOM.querySelector", object{"nodeId": doc.Root.NodeID, "selector": "[data-action=play] [type=file]"}, &found)
	p.call("DOM.setFileInputFiles", object{"files": []string{file}, "nodeId": found.NodeID}, nil)
	p.await(`document.querySelector("[data-action=play] textarea").value.includes("create one")`)
	said = p.submit("play", nil)
	assert.Contains(t, said, "differs create one, ")
	assert.Contains(t, said, "409")

	said = p.submit("play", map[string]string{"scenarios": "name: files\nfiles: [/etc/passwd]\nsteps:\n- pause: 1ms\n"})
	assert.Contains(t, said, "the server reads no files for it")
	p.forgive("400 (Bad Request)")
	assert.Contains(t, p.submit("play", map[string]string{"scenarios": "steps: 3"}), "steps")
	p.forgive("400 (Bad Request)")
}

func TestDownloads(t *testing.T) {
	w := rollout(t)
	dir := t.TempDir()
	p := openLive(w, "#pane=actions")
	p.call("Page.setDownloadBehavior", object{"behavior": "allow", "downloadPath": dir}, nil)
	for name, want := range map[string]string{"story.html": "<!doctype html>", "fakeapi.state": "", "fake.kubeconfig": "kind: Config"} {
		p.click(`[data-download="` + name + `"]`)
		p.await(`byId("download-line").textContent`)
		var b []byte
		for len(b) == 0 { // until the browser has written it
			runtime.Gosched()
			b, _ = os.ReadFile(filepath.Join(dir, name))
		}
		assert.Contains(t, string(b), want)
	}
	p.pick("client", "kubectl")
	assert.Contains(t, p.submit("scenario", map[string]string{"which": "all"}), "done: 3 steps")
	assert.Equal(t, []string{"curl '" + w.URL + "/debug/fakeapi/scenario?client=kubectl' | jq -r .scenario > requests.yaml\nfakeapi play requests.yaml"}, p.texts("[data-action=scenario] .curl"))
	name := filepath.Join(dir, "requests.yaml")
	for eval[bool](p, `true`) { // until the browser has written it
		if b, _ := os.ReadFile(name); len(b) > 0 {
			break
		}
	}
	played := fakeapi.Start(t, fakeapi.WithInMemory())
	scenarios.Play(t, played, name)
	_, err := played.Get("deployments.apps", "default", "shop")
	assert.NoError(t, err)

	f, err := os.Open(filepath.Join(dir, "fakeapi.state"))
	require.NoError(t, err)
	defer f.Close()
	again := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithState(f))
	_, err = again.Get("deployments.apps", "default", "shop")
	assert.NoError(t, err)
}

// grant binds a role with rules to a user.
func (w world) grant(user string, rules ...any) {
	w.Helper()
	const group = "rbac.authorization.k8s.io"
	metadata := map[string]any{"name": user + "-role"}
	for _, o := range []fakeapi.Object{
		{"apiVersion": group + "/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules},
		{"apiVersion": group + "/v1", "kind": "ClusterRoleBinding", "metadata": metadata,
			"roleRef": map[string]any{"apiGroup": group, "kind": "ClusterRole", "name": user + "-role"}, "subjects": []any{map[string]any{"apiGroup": group, "kind": "User", "name": user}}},
	} {
		_, err := w.Store(o)
		require.NoError(w, err)
	}
}

func TestFindings(t *testing.T) {
	w := rollout(t)
	for range 12 {
		w.as("poller/v1", "GET", deployments+"/shop", "")
		w.as("poller/v1", "DELETE", "/api/v1/namespaces/default/secrets/none", "")
	}
	w.as("cleaner/v1", "GET", deployments+"/shop", "")
	w.as("cleaner/v1", "PUT", deployments+"/shop", `{"metadata":{"name":"shop","resourceVersion":"1"}}`)
	for i := range 12 {
		w.as([]string{"red/v1", "blue/v1"}[i%2], "PATCH", deployments+"/shop", fmt.Sprintf(`{"metadata":{"labels":{"owner":"%d"}}}`, i%2))
	}
	p := openLive(w, "#pane=findings")
	for _, rule := range []string{"polling-get", "loop", "stale-write"} {
		p.await(`byId("findings").querySelector("[data-rule=` + rule + `]")`)
	}
	text := p.texts("#findings")[0]
	assert.Contains(t, text, "404poller12×delete secrets")
	assert.Contains(t, text, "409cleaner1×update deployments.apps: Operation cannot be fulfilled")
	assert.Contains(t, text, "behindmanager1")
	p.click("[data-count]")
	p.await(`byId("findings").textContent.includes("since the server counts")`)
	w.as("poller/v1", "GET", deployments+"/shop", "")
	p.await(`(panes.findings.read(), byId("findings").querySelector("[data-roles]"))`)
	w.grant("admin", map[string]any{"apiGroups": []any{"apps"}, "resources": []any{"deployments"}, "verbs": []any{"get", "delete"}},
		map[string]any{"nonResourceURLs": []any{"/metrics"}, "verbs": []any{"get"}})
	p.click(`[data-roles*="poller/v1"]`)
	p.await(`!byId("roles").hidden`)
	assert.Contains(t, p.texts("#roles pre")[0], "- deployments\n")
	assert.Equal(t, []string{"delete deployments.apps ClusterRole admin-role", "get /metrics ClusterRole admin-role"}, p.texts("#roles [data-list=unused] li"))
	assert.Empty(t, p.texts("#roles [data-list=missing] li"))
	p.click(`#findings [data-go]`)
	assert.Equal(t, "events", eval[string](p, `pane`))
	assert.NotEmpty(t, p.chosen())
}

// The page of a file has the findings with their fixes, and leads to the moment of each.
func TestFindingsOfFile(t *testing.T) {
	w := rollout(t)
	for range 12 {
		w.as("poller/v1", "GET", deployments+"/shop", "")
	}
	for range 3 {
		w.as("poller/v1", "PATCH", deployments+"/shop", `{}`)
	}
	p := open(t, page(t, w.Server))
	p.click("#tab-findings")
	p.await(`byId("findings").querySelector("[data-rule=idle-write]")`)
	assert.Equal(t, []string{"polling-get", "idle-write", "watch-without-bookmarks"}, p.texts("#findings [data-rule] .badge"), "the worst first")
	assert.Contains(t, p.texts("#findings [data-rule=idle-write]")[0], "compare with the object before writing")
	assert.NotContains(t, p.texts("#findings")[0], "Permissions")
	p.click(`#findings [data-rule=idle-write] [data-go]`)
	assert.Equal(t, "events", eval[string](p, `pane`))
	assert.Contains(t, eval[string](p, `model.events.get(chart.chosen).text`), "nothing changed")
}

// TestLines checks that the lines which each action shows do what they say: the commands succeed, and the Go lines
// compile.
func TestLines(t *testing.T) {
	w := rollout(t)
	p := openLive(w, "#pane=actions")
	p.await(`document.querySelector('[data-action=restart] select').options.length`)
	require.NoError(t, w.SetLag("*", fakeapi.Lag{}))
	const read = `["curl", "go"].map((kind) => document.querySelector(%q + " ." + kind).textContent)`
	lines := map[string][]string{}
	for _, name := range eval[[]string](p, `actions.map((a) => a.name)`) {
		lines[name] = eval[[]string](p, fmt.Sprintf(read, "[data-action="+name+"]"))
	}
	p.call("Page.setDownloadBehavior", object{"behavior": "deny"}, nil)
	for _, name := range []string{"story.html", "fakeapi.state", "fake.kubeconfig"} {
		p.click(`[data-download="` + name + `"]`)
		lines[name] = eval[[]string](p, fmt.Sprintf(read, "[aria-label=Downloads]"))
	}
	require.Greater(t, len(lines), 12)

	source := "package lines\n\nimport (\n\t\"context\"\n\t\"io\"\n\t\"testing\"\n\t\"time\"\n\n" +
		"\t\"github.com/kubefake/kubefake/fakeapi\"\n\t\"github.com/kubefake/kubefake/fakeapi/faults\"\n\t\"github.com/kubefake/kubefake/scenarios\"\n)\n\n" +
		"func do(t *testing.T, ctx context.Context, srv *fakeapi.Server, file io.Writer, _ time.Duration, _ faults.Fault) {\n"
	for name, l := range lines {
		require.NotEmpty(t, l[1], name)
		source += "\t{ " + l[1]
		if strings.HasPrefix(l[1], "fork, err :=") {
			source += "; _, _ = fork, err"
		}
		source += " } // " + name + "\n"
		var commands []string
		for command := range strings.SplitSeq(l[0], "\n") {
			if !strings.HasPrefix(command, "fakeapi ") { // cmd/fakeapi tests it
				commands = append(commands, command)
			}
		}
		cmd := exec.Command("bash", "-c", "set -euo pipefail\ncurl() { command curl --silent --show-error --fail-with-body --max-time 20 \"$@\"; }\n"+strings.Join(commands, "\n"))
		cmd.Dir = t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "scenario.yaml"), []byte("name: read\nsteps:\n- do: GET /api/v1/namespaces/default\n"), 0o600))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s: %s", name, l[0], out)
	}
	source += "}\n"
	dir := t.TempDir()
	file := filepath.Join(dir, "lines.go")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	here, err := os.Getwd()
	require.NoError(t, err)
	overlay, err := json.Marshal(object{"Replace": object{filepath.Join(here, "lines", "lines.go"): file}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "./lines").CombinedOutput()
	require.NoError(t, err, "%s\n%s", out, source)
}

// TestContentIsText checks that the panes show what clients send as text.
func TestContentIsText(t *testing.T) {
	const evil = `<img src=x onerror=boom()>`
	w := serve(t)
	for range 12 {
		w.as(evil, "GET", "/api/v1/namespaces/default/configmaps/"+url.PathEscape(evil), "")
	}
	w.as(evil, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"evil","annotations":{"note":"`+evil+`"}},"data":{"html":"</script>`+evil+`"}}`)
	w.as(evil, "DELETE", "/api/v1/namespaces/default/configmaps/"+url.PathEscape(evil), "")
	p := openLive(w, `#pane=objects&object=["configmaps","default","evil"]`)
	p.await(`byId("object").querySelector("pre")`)
	assert.Contains(t, p.texts("#object .yaml")[0], "</script>"+evil)
	p.click("#tab-findings")
	p.await(`byId("findings").querySelector("[data-rule=polling-get]")`)
	assert.Contains(t, p.texts("#findings")[0], evil)
	p.click("#tab-events")
	p.clickLine(p.find("create configmaps default/evil"))
	assert.Contains(t, p.texts("#details")[0], evil)
	p.mouse("mouseMoved", p.middle("#canvas"), nil)
	assert.Zero(t, p.count("img"))
}
