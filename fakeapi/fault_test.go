//go:build go1.25

package fakeapi_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestConflictOnce(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	conflict := apitest.Inject(t, srv, faults.ConflictOnce("configmaps"))
	update := func() (int, fakeapi.Object) {
		return apitest.Do(t, srv, "PUT", apitest.ConfigMapsPath+"/a", `{"metadata":{"name":"a"},"data":{"value":"2"}}`)
	}
	code, answer := update()
	assert.Equal(t, http.StatusConflict, code)
	assert.Equal(t, `Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again`, answer["message"])
	code, _ = update()
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, 1, conflict.Hits())

	requests := srv.Requests()
	assert.Equal(t, answer["message"], requests[0].Message, "the request log has the message")
	conflict.Remove()
	assert.Equal(t, 1, conflict.Hits())
}

func TestFaultOfUnknownResource(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, row := range []struct{ name, resource, meant string }{
		{"singular", "deployment", "deployments"},
		{"singular with a group", "deployment.apps", "deployments.apps"},
		{"kind", "ConfigMap", "configmaps"},
		{"short name", "cm", "configmaps"},
		{"upper case", "Pods", "pods"},
		{"subresource", "pod/status", "pods/status"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := srv.Inject(faults.ConflictOnce(row.resource))
			require.ErrorIs(t, err, faults.ErrInvalid)
			message := `resource: no resource "` + row.resource + `"; did you mean "` + row.meant + `"?`
			assert.ErrorContains(t, err, message)
			_, err = fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithFaults(faults.ConflictOnce(row.resource)))
			require.ErrorIs(t, err, faults.ErrInvalid)
			code, answer := apitest.Do(t, srv, "POST", "/debug/fakeapi/faults", `{"resource":"`+row.resource+`","code":409}`)
			assert.Equal(t, http.StatusBadRequest, code)
			assert.Contains(t, answer["message"], message)
		})
	}
	for _, resource := range []string{"pods", "tokenreviews", "pods/status", "events.", "*", "dep*"} {
		assert.NotContains(t, apitest.Inject(t, srv, faults.ConflictOnce(resource)).String(), "no resource")
	}
	_, err := srv.Get("deployment.apps", "default", "a")
	assert.EqualError(t, err, "not found: resource deployment.apps; did you mean deployments.apps?")
}

// A fault may be injected before the resource is defined. Until then it has a warning.
func TestFaultBeforeDefinition(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	early := apitest.Inject(t, srv, faults.ConflictOnce("widgets"))
	singular := apitest.Inject(t, srv, faults.ConflictOnce("widget"))
	assert.Equal(t, "update,patch of widgets: 409, once: hit 0 of 0 (no resource \"widgets\")\n", early.String())
	code, answer := apitest.Do(t, srv, "GET", "/debug/fakeapi/faults", "")
	require.Equal(t, http.StatusOK, code)
	assert.Equal(t, `no resource "widgets"`, answer["faults"].([]any)[0].(map[string]any)["warning"])

	_, err := srv.Store(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.x.io}, spec: {group: x.io, scope: Namespaced,
names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}, versions: [{name: v1, served: true, storage: true,
schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`)
	require.NoError(t, err)
	assert.Equal(t, "update,patch of widgets: 409, once: hit 0 of 0\n", early.String())
	assert.Contains(t, singular.String(), `(no resource "widget"; did you mean "widgets"?)`)
	_, err = srv.Inject(faults.ConflictOnce("widget"))
	require.ErrorIs(t, err, faults.ErrInvalid)
	assert.Len(t, srv.Fork(t).Injections(), 2, "a fork has the faults of its origin")
	code, _ = apitest.Do(t, srv, "PATCH", "/apis/x.io/v1/namespaces/default/widgets/a", `{}`)
	assert.Equal(t, http.StatusConflict, code)
}

// The write is stored, though the client does not get a response.
func TestLoseResponse(t *testing.T) {
	for name, option := range map[string]fakeapi.Option{"in memory": fakeapi.WithInMemory(), "TCP": fakeapi.WithAddress("127.0.0.1:0")} {
		t.Run(name, func(t *testing.T) {
			srv := fakeapi.Start(t, option)
			lost := apitest.Inject(t, srv, faults.LoseResponse("create", "configmaps"))
			create := func() (*http.Response, error) {
				return srv.Client().Post(srv.URL+apitest.ConfigMapsPath, "application/json", strings.NewReader(`{"metadata":{"name":"a"}}`))
			}
			_, err := create()
			assert.ErrorIs(t, err, syscall.ECONNRESET)
			assert.Equal(t, 1, lost.Hits())
			resp, err := create()
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, http.StatusConflict, resp.StatusCode, "the object exists")
			assert.Len(t, srv.Writes(srv.Revision()), 1)
			assert.Eventually(t, func() bool { // the request is logged after the client sees the reset
				return slices.ContainsFunc(srv.Requests(), func(r journal.Request) bool { return r.Code == 0 })
			}, 10*time.Second, time.Millisecond, "the request log has the request without a response")
		})
	}
}

func TestWatchFaults(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1")))
	w := watch(t, srv, "fieldSelector=metadata.name%3Da")
	w.expect("ADDED")
	apitest.Inject(t, srv, faults.ExpireOpenWatches("configmaps"))
	gone := w.expect("ERROR")
	assert.Equal(t, "The resourceVersion for the provided watch is too old.", gone["message"])
	_, more := w.next()
	assert.False(t, more)

	next := apitest.Inject(t, srv, faults.ExpireNextWatch("configmaps"))
	assert.Equal(t, float64(http.StatusGone), watch(t, srv, "").expect("ERROR")["code"])
	assert.Equal(t, 1, next.Hits())

	w = watch(t, srv, "fieldSelector=metadata.name%3Da")
	w.expect("ADDED")
	apitest.Inject(t, srv, faults.DropWatches("configmaps"))
	_, err := io.ReadAll(w.body)
	assert.ErrorIs(t, err, syscall.ECONNRESET)

	w = watch(t, srv, "fieldSelector=metadata.name%3Da")
	w.expect("ADDED")
	paused := apitest.Inject(t, srv, faults.PauseWatches("configmaps"))
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"))
	paused.Remove()
	assert.Equal(t, map[string]any{"key": "2"}, w.expect("MODIFIED")["data"])
}

func TestExpireContinue(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.ConfigMap("a", "1"), apitest.ConfigMap("b", "1"), apitest.ConfigMap("c", "1")))
	apitest.Inject(t, srv, faults.ExpireContinue("configmaps"))
	token := func(o fakeapi.Object) string {
		token, _ := o["metadata"].(map[string]any)["continue"].(string)
		return token
	}
	page := apitest.ConfigMapsPath + "?limit=1"
	code, first := apitest.Do(t, srv, "GET", page, "")
	require.Equal(t, http.StatusOK, code)
	code, expired := apitest.Do(t, srv, "GET", page+"&continue="+token(first), "")
	assert.Equal(t, http.StatusGone, code)
	assert.Equal(t, "Expired", expired["reason"])
	apitest.Put(t, srv, apitest.ConfigMap("b", "2"))
	code, rest := apitest.Do(t, srv, "GET", apitest.ConfigMapsPath+"?continue="+token(expired), "")
	require.Equal(t, http.StatusOK, code)
	items, _ := rest["items"].([]any)
	require.Len(t, items, 2, "the list continues at its position")
	assert.Equal(t, map[string]any{"key": "2"}, items[0].(map[string]any)["data"], "with the present state")
}

// Delays use the server's clock.
func TestSlowWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		slow := apitest.Inject(t, srv, faults.SlowWatches("configmaps", time.Minute), faults.Fault{Verb: "get", Resource: "configmaps", Delay: time.Second})
		w := watch(t, srv, "fieldSelector=metadata.name%3Da&resourceVersion=0")
		start := time.Now()
		apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
		apitest.Do(t, srv, "GET", apitest.ConfigMapsPath+"/a", "")
		assert.Equal(t, time.Second, time.Since(start))
		w.expect("ADDED")
		assert.Equal(t, time.Minute, time.Since(start))
		assert.Equal(t, 2, slow.Hits())
		w.body.Close()
	})
}

// A slow or failing webhook is handled by its failurePolicy. Nothing listens at its
// URL: the faults take effect before the network.
func TestWebhookFaults(t *testing.T) {
	const hook = "https://hook.example/validate"
	for _, row := range []struct {
		name, policy string
		fault        faults.Fault
		code         int
		message      string // a part of it
		took         time.Duration
	}{
		{"slow", "Fail", faults.SlowWebhook("*/validate", time.Minute), 500, "context deadline exceeded", 7 * time.Second},
		{"slow, ignored", "Ignore", faults.SlowWebhook("*/validate", time.Minute), 201, "", 7 * time.Second},
		{"reset", "Fail", faults.FailWebhook(hook), 500, "connection reset by peer", 0},
		{"reset, ignored", "Ignore", faults.FailWebhook(hook), 201, "", 0},
		{"code", "Fail", faults.Fault{Webhook: hook, Code: 503}, 500, "the server is currently unable to handle the request", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: hook.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: `+row.policy+`
  timeoutSeconds: 7
  clientConfig: {url: "`+hook+`"}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
`))
				fault := apitest.Inject(t, srv, row.fault)
				start := time.Now()
				code, answer := apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`)
				assert.Equal(t, row.code, code)
				if row.message != "" {
					assert.Contains(t, answer["message"], row.message)
				}
				assert.Equal(t, row.took, time.Since(start))
				assert.Equal(t, 1, fault.Hits())
			})
		})
	}
}

func TestResetRemovesFaults(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	apitest.Inject(t, srv, faults.Fault{Resource: "*", Code: 500})
	require.NoError(t, srv.Reset())
	code, _ := apitest.Do(t, srv, "GET", apitest.ConfigMapsPath, "")
	assert.Equal(t, http.StatusOK, code)
}

func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		w := watch(t, srv, "")
		outage := apitest.Inject(t, srv, faults.Outage(time.Minute)...)
		_, err := io.ReadAll(w.body)
		assert.ErrorIs(t, err, syscall.ECONNRESET)
		for _, path := range []string{"/healthz", "/apis", apitest.ConfigMapsPath} {
			_, err := srv.Client().Get(srv.URL + path)
			assert.ErrorIs(t, err, syscall.ECONNRESET, path)
		}
		code, _ := apitest.Do(t, srv, "GET", "/debug/fakeapi/faults", "")
		assert.Equal(t, http.StatusOK, code, "faults do not hit the control endpoint")
		assert.Equal(t, 4, outage.Hits())
		time.Sleep(time.Minute)
		code, _ = apitest.Do(t, srv, "GET", apitest.ConfigMapsPath, "")
		assert.Equal(t, http.StatusOK, code)
	})
}

// A fork has the faults of its parent, with counts of its own.
func TestFaultsOfFork(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	parents := apitest.Inject(t, srv, faults.TooManyRequests("configmaps", 2, time.Second))
	apitest.Do(t, srv, "GET", apitest.ConfigMapsPath, "")
	fork := srv.Fork(t)
	for _, want := range []int{429, 429, 200} {
		code, _ := apitest.Do(t, fork, "GET", apitest.ConfigMapsPath, "")
		assert.Equal(t, want, code)
	}
	assert.Equal(t, 1, parents.Hits())
	require.Len(t, fork.Injections(), 1)
	assert.Equal(t, 2, fork.Injections()[0].Hits())
	assert.Equal(t, "configmaps: 429, 2 times: hit 2 of 2\n", fork.Injections()[0].String())
}

// The faults of a fork, not those of its parent, hit its conversion webhooks.
func TestConversionFaultsOfFork(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: &any {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v2, served: true, storage: false, schema: *any}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://hook.example/convert"}}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: default}}
`))
	parents := apitest.Inject(t, srv, faults.Fault{Webhook: "*", Code: 418})
	fork := srv.Fork(t)
	fork.Injections()[0].Remove()
	own := apitest.Inject(t, fork, faults.Fault{Webhook: "*/convert", Code: 503})
	code, answer := apitest.Do(t, fork, "GET", "/apis/example.com/v2/namespaces/default/widgets/w", "")
	assert.Equal(t, http.StatusInternalServerError, code)
	assert.Contains(t, answer["message"], "the server is currently unable to handle the request")
	assert.Equal(t, 1, own.Hits())
	assert.Zero(t, parents.Hits())
	code, _ = apitest.Do(t, fork, "GET", "/apis/example.com/v1/namespaces/default/widgets/w", "")
	assert.Equal(t, http.StatusOK, code)
}

func TestFaultFiles(t *testing.T) {
	files := fstest.MapFS{
		"a.yaml": {Data: []byte("- {id: late, resource: configmaps, verb: get, code: 504}\n- {resource: secrets, reset: true}")},
		"b.json": {Data: []byte(`{"code":503,"resource":"pods"}`)},
		"bad.y":  {Data: []byte(`{"code":503,"resources":"pods"}`)},
	}
	list, err := faults.ParseFiles(files, "*.yaml", "*.json", "a.*")
	require.NoError(t, err)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithFaults(list...), fakeapi.WithFaults(faults.Fault{ID: "own", Code: 500, Path: "/readyz"}))
	code, _ := apitest.Do(t, srv, "GET", apitest.ConfigMapsPath+"/a", "")
	assert.Equal(t, http.StatusGatewayTimeout, code)
	var ids []string
	for _, f := range srv.Injections() {
		ids = append(ids, f.Faults()[0].ID)
	}
	assert.Equal(t, []string{"late", "1", "2", "own"}, ids)

	_, err = faults.ParseFiles(files, "*.y")
	assert.EqualError(t, err, `bad.y: invalid fault: unknown field "resources"; did you mean resource?`)
	_, err = fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithFaults(list...), fakeapi.WithFaults(list...))
	assert.EqualError(t, err, `fakeapi: invalid fault (get of configmaps: 504): id: another fault has the ID "late"`)
	assert.ErrorIs(t, err, faults.ErrInvalid)

	_, err = faults.Parse([]byte("{code: 200}"))
	assert.EqualError(t, err, "invalid fault 1 (anything: 200): code: 200 is not between 400 and 599")
	assert.ErrorIs(t, err, faults.ErrInvalid)
	_, err = srv.Inject(faults.Fault{Verb: "put", Reset: true})
	assert.EqualError(t, err, `fakeapi: invalid fault (put of anything: reset): verb: "put" is not one of get, list, watch, create, update, patch, delete, deletecollection`)
	assert.ErrorIs(t, err, faults.ErrInvalid)
}

func TestControlFaults(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithSeed(3))
	const path = "/debug/fakeapi/faults"
	code, answer := apitest.Do(t, srv, "POST", path, `[{"id":"late","delay":"1ms","resource":"configmaps"},{"code":409,"verb":"create","times":1}]`)
	require.Equal(t, http.StatusOK, code, answer)
	code, _ = apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`)
	assert.Equal(t, http.StatusConflict, code)
	late := map[string]any{
		"fault":   map[string]any{"id": "late", "delay": "1ms", "resource": "configmaps", "seed": float64(3)},
		"summary": "configmaps: delay of 1ms", "matched": float64(1), "hits": float64(1),
	}
	conflict := map[string]any{
		"fault":   map[string]any{"id": "1", "code": float64(409), "verb": "create", "times": float64(1), "seed": float64(3)},
		"summary": "create of anything: 409, once", "matched": float64(1), "hits": float64(1),
	}
	_, answer = apitest.Do(t, srv, "GET", path, "")
	assert.Equal(t, []any{late, conflict}, answer["faults"])

	for _, row := range []struct {
		name, method, path, body string
		code                     int
		message                  string
	}{
		{"invalid fault", "POST", path, `{"code":200}`, 400, "invalid fault 1 (anything: 200): code: 200 is not between 400 and 599"},
		{"duplicate ID", "POST", path, `{"id":"late","code":500}`, 400, `invalid fault (anything: 500): id: another fault has the ID "late"`},
		{"unknown ID", "DELETE", path + "?id=late&id=early", "", 404, `there is no fault "early"`},
		{"method", "PUT", path, "", 405, "the control endpoint has no PUT /debug/fakeapi/faults; use POST or GET or DELETE"},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, row.method, row.path, row.body)
			assert.Equal(t, row.code, code)
			assert.Equal(t, row.message, answer["message"])
		})
	}

	_, answer = apitest.Do(t, srv, "DELETE", path+"?id=late", "")
	assert.Equal(t, []any{late}, answer["faults"])
	_, answer = apitest.Do(t, srv, "DELETE", path, "")
	assert.Equal(t, []any{conflict}, answer["faults"])
	_, answer = apitest.Do(t, srv, "GET", path, "")
	assert.Equal(t, []any{}, answer["faults"])
}

// The same seed has the same effects on the same requests.
func TestChaos(t *testing.T) {
	outcomes := func(seed uint64) (codes []int) {
		synctest.Test(t, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			chaos := apitest.Inject(t, srv, faults.Chaos(seed)...)
			for range 300 {
				resp, err := srv.Client().Get(srv.URL + apitest.ConfigMapsPath)
				code := 0
				if err == nil {
					code = resp.StatusCode
					if _, err := io.ReadAll(resp.Body); err != nil {
						code = -code
					}
					resp.Body.Close()
				}
				codes = append(codes, code)
			}
			assert.Greater(t, chaos.Hits(), 10)
			assert.Contains(t, chaos.String(), "anything: reset, 2%: hit")
		})
		return codes
	}
	codes := outcomes(7)
	for _, want := range []int{200, -200, 0, 429, 500, 503} {
		assert.Contains(t, codes, want)
	}
	assert.Equal(t, codes, outcomes(7))
	assert.NotEqual(t, codes, outcomes(8))
}
