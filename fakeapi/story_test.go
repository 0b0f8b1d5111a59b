//go:build go1.25

package fakeapi_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A story has writers, changes, sightings and notes, also of compacted revisions.
func TestStory(t *testing.T) {
	const configMaps = "/api/v1/namespaces/default/configmaps"
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)))
	fresh := srv.Revision()
	w := watch(t, srv, "fieldSelector=metadata.name%3Da")
	apitest.Do(t, srv, "POST", configMaps+"?fieldManager=editor", `{"metadata":{"name":"a"},"data":{"k":"1"}}`)
	w.expect("ADDED")
	apitest.Do(t, srv, "PATCH", configMaps+"/a", `{"data":{"k":"2","l":"new"}}`)
	w.expect("MODIFIED")
	apitest.Do(t, srv, "PATCH", configMaps+"/a", `{"data":{"k":"2"}}`)
	apitest.Do(t, srv, "PUT", configMaps+"/a", `{"metadata":{"name":"a","resourceVersion":"1"}}`)
	apitest.Do(t, srv, "GET", "/readyz", "")
	apitest.Do(t, srv, "POST", "/debug/fakeapi/clock", `{"advance":"90s"}`)
	srv.Compact(0)
	apitest.Put(t, srv, apitest.ConfigMap("b", "1"))
	apitest.Do(t, srv, "GET", configMaps+"?resourceVersion=1&resourceVersionMatch=Exact", "")

	want := []string{
		"+0.000s  r+1 editor create configmaps default/a; seen by Go-http-client",
		"+0.000s  r+2 Go-http-client patch configmaps default/a: data.k 1 → 2, data.l = new; seen by Go-http-client",
		"+0.000s        200 PATCH /api/v1/namespaces/default/configmaps/a (Go-http-client): nothing changed",
		`+0.000s        409 PUT /api/v1/namespaces/default/configmaps/a (Go-http-client): Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again`,
		"+0.000s        clock: 1m30s ahead",
		"+90.000s        compaction: history before r+2 was removed",
		"+90.000s  r+3 the test store configmaps default/b",
		"+90.000s        410 GET /api/v1/namespaces/default/configmaps?resourceVersion=1&resourceVersionMatch=Exact (Go-http-client): The resourceVersion for the provided list is too old.",
	}
	var got []string
	apitest.Eventually(func() bool { // a request is noted when its handler is done
		got = nil
		for line := range strings.Lines(srv.Story()) {
			got = append(got, strings.TrimSpace(revisions.ReplaceAllStringFunc(line, func(r string) string {
				n, err := strconv.Atoi(strings.TrimSpace(r[1:]))
				require.NoError(t, err)
				return fmt.Sprintf("r+%d", n-int(fresh)) + strings.Repeat(" ", min(1, strings.Count(r, " ")))
			})))
		}
		return len(got) == len(want)
	})
	assert.Equal(t, want, got)
}

// A story names controllers and subresources. It has neither reviews that were created, nor
// reads of controllers, nor the icon that a browser asks for, and sees no loop in a rollout.
func TestStoryOfRollout(t *testing.T) {
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), fakeapi.WithControllers("*"))
	settled := func() {
		t.Helper()
		require.NoError(t, srv.Settle(t.Context(), fakeapi.SettleOptions{Ahead: time.Minute}))
	}
	settled()
	apitest.Do(t, srv, "POST", deployments, `{"metadata":{"name":"shop"},"spec":{"replicas":9,"selector":{"matchLabels":{"app":"shop"}},
		"template":{"metadata":{"labels":{"app":"shop"}},"spec":{"containers":[{"name":"app","image":"app:v1"}]}}}}`)
	settled()
	apitest.Do(t, srv, "PATCH", deployments+"/shop", `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"app:v2"}]}}}}`)
	settled()
	apitest.Do(t, srv, "PATCH", deployments+"/shop/scale", `{"spec":{"replicas":1}}`)
	apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"one"},"spec":{"schedulerName":"mine","containers":[{"name":"c","image":"i"}]}}`)
	apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/pods/one/binding", `{"metadata":{"name":"one"},"target":{"kind":"Node","name":"node-1"}}`)
	apitest.Do(t, srv, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`)
	apitest.Do(t, srv, "GET", "/favicon.ico", "")
	apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/pods/one/eviction", `{"metadata":{"name":"one"}}`)
	settled()

	var page strings.Builder
	require.NoError(t, srv.WriteStory(&page))
	_, data, _ := strings.Cut(page.String(), `<script type="application/json" id="story">`)
	var story struct {
		Revisions []struct {
			Verb, Brief string
			Client      struct{ Name string }
		}
		Requests, Loops []any
	}
	require.NoError(t, json.NewDecoder(strings.NewReader(data)).Decode(&story))
	assert.Empty(t, story.Requests)
	assert.Empty(t, story.Loops)
	var lines []string
	for _, r := range story.Revisions {
		assert.NotEqual(t, "kube-controller-manager", r.Client.Name)
		lines = append(lines, r.Client.Name+" "+r.Verb+" "+r.Brief)
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		"deployment-controller create replicasets.apps default/shop-",
		"replicaset-controller update status replicasets.apps default/shop-",
		"kube-scheduler bind pods default/shop-",
		"kubelet on node-1 patch status pods default/shop-",
		": status.phase Pending → Running, status.conditions[type=Ready] = {status: True}, ",
		"Go-http-client scale deployments.apps default/shop: spec.replicas 9 → 1",
		"Go-http-client bind pods default/one: spec.nodeName = node-1",
		"Go-http-client evict pods default/one: ",
	} {
		assert.Contains(t, text, want)
	}
}

// A server-side apply is not called a patch, also if it fails.
func TestStoryOfApply(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, row := range []struct{ manager, value string }{{"one", "1"}, {"one", "2"}, {"two", "3"}} { // the last one conflicts
		apitest.DoWithHeaders(t, srv, "PATCH", configMaps+"/a?fieldManager="+row.manager, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"`+row.value+`"}}`,
			"Content-Type", "application/apply-patch+yaml")
	}
	var text strings.Builder
	apitest.Eventually(func() bool { // a request is noted when its handler is done
		text.Reset()
		require.NoError(t, srv.WriteStory(&text))
		return strings.Contains(text.String(), `"code":409`)
	})
	assert.Equal(t, 3, strings.Count(text.String(), `"verb":"apply"`))
	story := srv.Story()
	assert.Contains(t, story, "one apply configmaps default/a ADDED")
	assert.Contains(t, story, "one apply configmaps default/a: data.k 1 → 2")
}

var revisions = regexp.MustCompile(`\br\d+ *`)

// The story of a fork begins with the fork.
func TestStoryOfFork(t *testing.T) {
	parent := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.Put(t, parent, apitest.ConfigMap("a", "1"))
	fork := parent.Fork(t)
	apitest.Put(t, fork, apitest.ConfigMap("a", "2"))
	assert.Contains(t, fork.Story(), "the test store configmaps default/a: data.key 1 → 2")
	assert.NotContains(t, parent.Story(), "data.key")
	assert.Contains(t, parent.Story(), "the test store configmaps default/a")
	assert.Equal(t, 1, strings.Count(fork.Story(), "\n"))
}

// The control endpoint returns the story as JSON and as a page. The story does not
// have requests to the endpoint.
func TestStoryEndpoint(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
	get := func(accept string) (contentType, body string) {
		req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/debug/fakeapi/story", nil)
		require.NoError(t, err)
		req.Header.Set("Accept", accept)
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.Header.Get("Content-Type"), string(b)
	}
	kind, page := get("text/html,application/xhtml+xml,*/*;q=0.8")
	assert.Equal(t, "text/html; charset=utf-8", kind)
	assert.Contains(t, page, "<!doctype html>")
	kind, data := get("application/json")
	assert.Equal(t, "application/json", kind)
	assert.Contains(t, data, `"brief":"configmaps default/a"`)
	assert.Contains(t, data, `"requests":[]`)
}

// A watch that a fault delays sees a revision when the event is delivered.
func TestStoryOfSlowWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		w := watch(t, srv, fmt.Sprintf("resourceVersion=%d", srv.Revision()))
		apitest.Inject(t, srv, faults.SlowWatches("configmaps", 3*time.Second))
		apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
		time.Sleep(2 * time.Second)
		assert.Contains(t, srv.Story(), "not seen by Go-http-client's watch of configmaps")
		w.expect("ADDED")
		story := srv.Story()
		assert.Contains(t, story, "the test store configmaps default/a; seen by Go-http-client's watch of configmaps after 3s")
		assert.Contains(t, story, "fault: ")
	})
}

// A watch of a lagging cache sees the revisions that the cache has reached.
func TestStoryOfLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		w := watch(t, srv, fmt.Sprintf("resourceVersion=%d", srv.Revision()))
		require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}))
		apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
		apitest.Do(t, srv, "GET", "/api/v1/configmaps?resourceVersion=0", "")
		synctest.Wait()
		story := srv.Story()
		assert.Contains(t, story, "lag: frozen (configmaps)")
		assert.Contains(t, story, "not seen by Go-http-client's watch of configmaps")
		assert.Contains(t, story, "Go-http-client's list of configmaps read r")
		require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{}))
		w.expect("ADDED")
		assert.NotContains(t, srv.Story(), "not seen")
	})
}

// Restore is one revision with all changes.
func TestStoryOfRestore(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.Put(t, srv, apitest.ConfigMap("a", "1"), apitest.ConfigMap("b", "1"))
	require.NoError(t, srv.Reset())
	assert.Contains(t, srv.Story(), "the test restore configmaps default/a DELETED and 1 more")
}

// An artifactRecorder is a recorder with an artifact directory.
type artifactRecorder struct {
	recorder
	dir string
}

func (a *artifactRecorder) Name() string        { return "TestWithArtifacts/row" }
func (a *artifactRecorder) ArtifactDir() string { return a.dir }

func TestStoryArtifacts(t *testing.T) {
	artifacts := flag.Lookup("test.artifacts")
	defer artifacts.Value.Set(artifacts.Value.String())
	run := func(keep string, failed bool) *artifactRecorder {
		require.NoError(t, artifacts.Value.Set(keep))
		a := &artifactRecorder{dir: t.TempDir()}
		for range 2 {
			srv := fakeapi.Start(a, fakeapi.WithInMemory())
			apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
		}
		a.failed = failed
		a.end()
		return a
	}

	a := run("true", true)
	for _, name := range []string{"story.html", "story-2.html"} {
		page, err := os.ReadFile(filepath.Join(a.dir, name))
		require.NoError(t, err, "each server of a test writes a page")
		assert.Contains(t, string(page), "<title>TestWithArtifacts/row</title>")
		assert.Contains(t, a.log.String(), "the whole story is in "+filepath.Join(a.dir, name))
	}

	for _, a := range []*artifactRecorder{run("false", true), run("true", false)} {
		left, err := os.ReadDir(a.dir)
		require.NoError(t, err)
		assert.Empty(t, left)
		assert.Equal(t, a.failed, strings.Contains(a.log.String(), "go test -artifacts writes the whole story as a page"))
	}
	a = &artifactRecorder{dir: "/nowhere"}
	require.NoError(t, artifacts.Value.Set("true"))
	fakeapi.Start(a, fakeapi.WithInMemory())
	a.failed = true
	a.end()
	assert.Contains(t, a.log.String(), "fakeapi: open /nowhere/story.html: no such file or directory")
	assert.Contains(t, a.log.String(), "fakeapi: the last events")
}

// A story has placeholders in place of secrets, equal ones for equal values.
func TestStoryHidesSecrets(t *testing.T) {
	const namespace = "/api/v1/namespaces/default"
	const kubeconfig = "clusters: []\nusers:\n- user:\n    token: hunter2\n"
	for _, row := range []struct {
		name    string
		options []fakeapi.Option
		query   string
		shown   bool
	}{
		{name: "by default"},
		{name: "shown by an option", options: []fakeapi.Option{fakeapi.WithSecretsShown()}, shown: true},
		{name: "shown by a query", query: "?showSecrets=true", shown: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, append(row.options, fakeapi.WithInMemory())...)
			apitest.Do(t, srv, "POST", namespace+"/secrets", `{"metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"stringData\":{\"k\":\"hunter2\"}}"}},"stringData":{"k":"hunter2","same":"hunter2"}}`)
			apitest.Do(t, srv, "PATCH", namespace+"/secrets/a", `{"stringData":{"k":"hunter2-next"}}`)
			apitest.Do(t, srv, "POST", namespace+"/configmaps", configMapJSON(t, "b", map[string]any{"kubeconfig": kubeconfig, "url": "https://u:hunter2@host/"}))
			apitest.Do(t, srv, "GET", namespace+"/configmaps/none?token=hunter2", "")
			apitest.Do(t, srv, "POST", namespace+"/pods", `{"metadata":{"name":"https://u:hunter2@host/"}}`)
			read := func(path, accept string) string {
				req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/debug/fakeapi/"+path+row.query, nil)
				require.NoError(t, err)
				req.Header.Set("Accept", accept)
				resp, err := srv.Client().Do(req)
				require.NoError(t, err)
				defer resp.Body.Close()
				b, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				return string(b)
			}
			for name, text := range map[string]string{"text": read("story", "text/plain"), "JSON": read("story", "application/json"), "page": read("story", "text/html"), "requests": read("requests", "application/json")} {
				assert.Equal(t, row.shown, strings.Contains(text, "hunter2") || strings.Contains(text, "aHVudGVyM"), "%s: %s", name, text)
			}
			if row.query == "" {
				assert.Equal(t, row.shown, strings.Contains(srv.Story(), "aHVudGVyM"), srv.Story())
			}
			if !row.shown {
				assert.Contains(t, srv.Story(), "patch secrets default/a: data.k scrubbed-1 → scrubbed-3")
			}
		})
	}
}

// configMapJSON returns a ConfigMap.
func configMapJSON(t *testing.T, name string, data map[string]any) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": name}, "data": data})
	require.NoError(t, err)
	return string(b)
}

// The audit log has no token of the control endpoint.
func TestAuditHidesSecretsOfControl(t *testing.T) {
	var log strings.Builder
	srv := fakeapi.Start(t, fakeapi.WithAPIServer(apiserver.Config{AuditPolicy: "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]", AuditLog: &log}))
	resp, err := srv.Client().Post(srv.URL+"/debug/fakeapi/kubeconfig", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	defer resp.Body.Close()
	var answer struct{ Token string }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	srv.Close()
	assert.Contains(t, log.String(), `"requestURI":"/debug/fakeapi/kubeconfig"`)
	assert.NotContains(t, log.String(), answer.Token)
}
