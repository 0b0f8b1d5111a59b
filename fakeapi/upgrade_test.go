//go:build go1.24

package fakeapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestUpgradeServesTheRelease(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.32"))
	_, before := respond(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"},"data":{"k":"v"}}`)
	require.NoError(t, srv.Upgrade("v1.36"))
	assert.Equal(t, "v1.36.3", srv.Release())
	_, version := respond(t, srv, "GET", "/version", "")
	assert.Contains(t, version, `"v1.36.3"`)
	code, _ := respond(t, srv, "GET", "/apis/resource.k8s.io/v1/resourceclaims", "")
	assert.Equal(t, 200, code)
	code, after := respond(t, srv, "GET", apitest.ConfigMapsPath+"/a", "")
	assert.Equal(t, 200, code)
	assert.Equal(t, before, after)
}

// An upgrade is whole also if an object of the user prevents the update of a role.
func TestUpgradeWithInvalidRole(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.36"))
	_, err := srv.Store(`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "system:basic-user", annotations: {rbac.authorization.kubernetes.io/autoupdate: "true"}},
		rules: [{apiGroups: [""], resources: [pods], verbs: []}]}`)
	require.NoError(t, err)
	require.NoError(t, srv.Upgrade("v1.35"))
	assert.True(t, strings.HasPrefix(srv.Release(), "v1.35."), srv.Release())
	assert.Contains(t, srv.Story(), "the server's own objects are not brought in line: clusterroles system:basic-user: ")
}

const pods = "/api/v1/namespaces/default/pods"

// respond sends a request and returns the body of the answer as text.
func respond(t *testing.T, srv *fakeapi.Server, method, path, body string) (code int, text string) {
	t.Helper()
	req, err := http.NewRequest(method, srv.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	if method == "PATCH" {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(all)
}

func TestUpgradeReadsByTheRulesOfTheRelease(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.36"))
	code, _ := respond(t, srv, "POST", pods, `{"metadata":{"name":"a"},"spec":{"hostnameOverride":"x","containers":[{"name":"c","image":"i"}]}}`)
	require.Equal(t, 201, code)
	spec := func() (version string, spec map[string]any) {
		_, body := respond(t, srv, "GET", pods+"/a", "")
		_, list := respond(t, srv, "GET", pods, "")
		var pod struct {
			Metadata struct{ ResourceVersion string }
			Spec     map[string]any
		}
		var pods struct {
			Items []struct{ Spec map[string]any }
		}
		require.NoError(t, json.Unmarshal([]byte(body), &pod))
		require.NoError(t, json.Unmarshal([]byte(list), &pods))
		assert.Equal(t, pod.Spec, pods.Items[0].Spec, "of a list")
		return pod.Metadata.ResourceVersion, pod.Spec
	}
	written, _ := spec()

	require.NoError(t, srv.Upgrade("v1.33"))
	version, got := spec()
	assert.Equal(t, written, version, "a read writes nothing")
	assert.NotContains(t, got, "hostnameOverride", "v1.33 does not have the field")

	require.NoError(t, srv.Upgrade("v1.36"))
	_, got = spec()
	assert.Equal(t, "x", got["hostnameOverride"], "it has stayed in the store")

	require.NoError(t, srv.Upgrade("v1.33"))
	_, body := respond(t, srv, "GET", pods+"/a", "")
	code, _ = respond(t, srv, "PUT", pods+"/a", body)
	require.Equal(t, 200, code)
	version, _ = spec()
	assert.NotEqual(t, written, version, "a write without a change stores the object as v1.33 has it")
	require.NoError(t, srv.Upgrade("v1.36"))
	_, got = spec()
	assert.NotContains(t, got, "hostnameOverride")
}

func TestUpgradeEndsWatches(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.35"))
	respond(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`)
	old := strconv.FormatInt(srv.Revision(), 10)
	respond(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"b"}}`)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", srv.URL+apitest.ConfigMapsPath+"?watch=1&resourceVersion="+old, nil)
	require.NoError(t, err)
	resp, err := srv.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()

	require.NoError(t, srv.Upgrade("v1.36"))
	events, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(events), `"type":"ADDED"`), "%s", events)

	_, body := respond(t, srv, "GET", apitest.ConfigMapsPath+"?watch=1&timeoutSeconds=1&resourceVersion="+old, "")
	assert.Contains(t, body, `"code":410`, "the watch caches are new")
	_, body = respond(t, srv, "GET", apitest.ConfigMapsPath+"?resourceVersionMatch=Exact&resourceVersion="+old, "")
	assert.NotContains(t, body, `"name":"b"`, "the history remains")
	assert.Contains(t, body, `"name":"a"`)
}

func TestUpgradeBringsOwnObjectsInLine(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.32"))
	const services = "/api/v1/namespaces/default/services"
	respond(t, srv, "POST", services, `{"metadata":{"name":"a"},"spec":{"ports":[{"port":80}],"clusterIP":"10.0.0.9"}}`)
	const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles/"
	role := func(name string) string {
		_, body := respond(t, srv, "GET", roles+name, "")
		return body
	}
	code, _ := respond(t, srv, "PATCH", roles+"system:kube-scheduler", `{"rules":[{"verbs":["get"],"apiGroups":["example.com"],"resources":["things"]}]}`)
	require.Equal(t, 200, code)
	code, _ = respond(t, srv, "PATCH", roles+"system:node", `{"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}},"rules":[]}`)
	require.Equal(t, 200, code)

	require.NoError(t, srv.Upgrade("v1.36"))
	fresh := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.36"))
	for _, path := range []string{
		"/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "/apis/apiregistration.k8s.io/v1/apiservices",
		"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", "/apis/networking.k8s.io/v1/servicecidrs",
	} {
		assert.ElementsMatch(t, names(t, fresh, path), names(t, srv, path), path)
	}
	assert.Contains(t, role("system:kube-scheduler"), `"things"`, "rules of others stay")
	assert.Contains(t, role("system:kube-scheduler"), `"pods/binding"`, "missing rules come back")
	assert.Contains(t, role("system:node"), `"rules":null`, "a role that somebody has taken over stays")
	assert.Contains(t, names(t, srv, "/apis/networking.k8s.io/v1/ipaddresses"), "10.0.0.9")

	require.NoError(t, srv.Upgrade("v1.34"))
	assert.Subset(t, names(t, srv, "/apis/rbac.authorization.k8s.io/v1/clusterroles"), names(t, fresh, "/apis/rbac.authorization.k8s.io/v1/clusterroles"), "roles of the newer release stay")
	assert.ElementsMatch(t, names(t, fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.34")), "/apis/apiregistration.k8s.io/v1/apiservices"), names(t, srv, "/apis/apiregistration.k8s.io/v1/apiservices"))
}

func TestUpgradeKeepsDefinitions(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.32"))
	_, err := srv.Store(apitest.Widgets("v1", `"size":{"type":"integer"}`))
	require.NoError(t, err)
	code, _ := respond(t, srv, "POST", "/apis/example.com/v1/namespaces/default/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3}}`)
	require.Equal(t, 201, code)
	require.NoError(t, srv.Upgrade("v1.36"))
	code, body := respond(t, srv, "GET", "/apis/example.com/v1/namespaces/default/widgets/a", "")
	assert.Equal(t, 200, code)
	assert.Contains(t, body, `"size":3`)
	code, _ = respond(t, srv, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com", "")
	assert.Equal(t, 200, code)
	code, _ = respond(t, srv, "GET", "/apis/example.com/v1/namespaces/default/widgets/a", "")
	assert.Equal(t, 404, code)
}

func TestRollingUpgrade(t *testing.T) {
	first := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.33"))
	second := apitest.Replica(t, first)
	require.NoError(t, second.Upgrade("v1.36"))
	assert.Equal(t, "v1.33.13", first.Release())
	assert.Equal(t, "v1.36.3", second.Release())
	code, body := respond(t, second, "POST", pods, `{"metadata":{"name":"a"},"spec":{"hostnameOverride":"x","containers":[{"name":"c","image":"i"}]}}`)
	require.Equal(t, 201, code)
	assert.Contains(t, body, `"hostnameOverride":"x"`)
	_, body = respond(t, first, "GET", pods+"/a", "")
	assert.NotContains(t, body, `"hostnameOverride":"x"`)
	_, body = respond(t, first, "GET", pods+"?watch=1&timeoutSeconds=1&resourceVersion=0", "")
	assert.Contains(t, body, `"name":"a"`)
	assert.NotContains(t, body, `"hostnameOverride":"x"`, "in a watch")
	_, body = respond(t, second, "GET", pods+"/a", "")
	assert.Contains(t, body, `"hostnameOverride":"x"`)

	_, err := first.Store(apitest.Widgets("v1", `"size":{"type":"integer"}`))
	require.NoError(t, err)
	for _, srv := range []*fakeapi.Server{first, second} {
		code, _ := respond(t, srv, "GET", "/apis/example.com/v1/widgets", "")
		assert.Equal(t, 200, code, "both serve a definition")
	}
	require.NoError(t, first.Upgrade("v1.36"))
	_, body = respond(t, first, "GET", pods+"/a", "")
	assert.Contains(t, body, `"hostnameOverride":"x"`)
}

func TestUpgradeRefused(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options []fakeapi.Option
		to      string
		want    string
	}{
		{"unknown release", nil, "v1.2", `fakeapi: upgrade: unknown release "v1.2"`},
		{
			"locked gate", []fakeapi.Option{fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"PodObservedGenerationTracking": false}})}, "v1.36",
			"fakeapi: upgrade: cannot set feature gate PodObservedGenerationTracking to false, feature is locked to true",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, append(tt.options, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.34"))...)
			err := srv.Upgrade(tt.to)
			assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
			assert.ErrorContains(t, err, tt.want)
			assert.Equal(t, "v1.34.4", srv.Release(), "nothing has changed")
		})
	}
}

func TestForkOfUpgraded(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.33"))
	require.NoError(t, srv.Upgrade("v1.36"))
	fork := srv.Fork(t)
	assert.Equal(t, "v1.36.3", fork.Release())
	code, _ := respond(t, fork, "POST", pods, `{"metadata":{"name":"a"},"spec":{"hostnameOverride":"x","containers":[{"name":"c","image":"i"}]}}`)
	assert.Equal(t, 201, code)
}

// names returns the names of the objects at a path.
func names(t *testing.T, srv *fakeapi.Server, path string) (names []string) {
	code, body := respond(t, srv, "GET", path, "")
	require.Equal(t, 200, code, path)
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	for _, item := range list.Items {
		names = append(names, item.Metadata.Name)
	}
	return names
}

func TestUpgradeByControl(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.33"))
	second := apitest.Replica(t, srv)
	for _, tt := range []struct {
		name, path, body string
		code             int
		want             string
	}{
		{"replica", "?replica=2", `{"release":"v1.35"}`, 200, `{"release":"v1.35.4"}` + "\n"},
		{"first server", "", `{"release":"1.34"}`, 200, `{"release":"v1.34.4"}` + "\n"},
		{"unknown release", "", `{"release":"v1.2"}`, 400, `unknown release`},
		{"no release", "", `{}`, 400, `release: it is not named`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, body := respond(t, srv, "POST", "/debug/fakeapi/upgrade"+tt.path, tt.body)
			assert.Equal(t, tt.code, code)
			assert.Contains(t, body, tt.want)
		})
	}
	assert.Equal(t, "v1.34.4", srv.Release())
	assert.Equal(t, "v1.35.4", second.Release())
}
