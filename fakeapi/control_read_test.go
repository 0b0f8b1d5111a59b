//go:build go1.24

package fakeapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// family returns an object of a kind that is owned by another object.
func family(kind, apiVersion, name string, owner fakeapi.Object) fakeapi.Object {
	o := fakeapi.Object{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "namespace": "default"}}
	if owner != nil {
		meta := owner["metadata"].(map[string]any)
		o["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"], "uid": meta["uid"]}}
	}
	return o
}

// count returns how many objects of a resource an answer counts.
func count(answer map[string]any, resource string) float64 {
	for _, r := range answer["resources"].([]any) {
		if r := r.(map[string]any); r["resource"] == resource {
			return r["count"].(float64)
		}
	}
	return 0
}

// The objects of a resource at a revision are a table as kubectl prints it.
func TestControlReadObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	first, err := srv.Store(apitest.ConfigMap("a", "1"))
	require.NoError(t, err)
	then := srv.Revision()
	for i := range 600 {
		_, err := srv.Store(apitest.ConfigMap(fmt.Sprintf("b-%03d", i), "1"))
		require.NoError(t, err)
	}
	read := func(query string) map[string]any {
		code, answer := apitest.Do(t, srv, "GET", "/debug/fakeapi/objects?"+query, "")
		require.Equal(t, http.StatusOK, code, answer)
		return answer
	}
	now := read("resource=configmaps&name=b-&namespace=default")
	assert.EqualValues(t, 600, now["total"])
	assert.Len(t, now["rows"], 500)
	row := read("resource=configmaps&name=a&namespace=default")["rows"].([]any)[0].(map[string]any)
	assert.Equal(t, []any{"a", 1.0}, row["cells"].([]any)[:2], "the name and the number of keys")
	assert.EqualValues(t, then, row["revision"])
	before := read(fmt.Sprintf("resource=configmaps&namespace=default&revision=%d", then))
	assert.Len(t, before["rows"], 1)
	assert.Equal(t, 600.0, count(now, "configmaps")-count(before, "configmaps"))
	assert.Equal(t, "a", first["metadata"].(map[string]any)["name"])

	for query, want := range map[string]string{
		"resource=none": "resource none", "revision=1000000": "revision 1000000", "revision=x": "x",
	} {
		code, answer := apitest.Do(t, srv, "GET", "/debug/fakeapi/objects?"+query, "")
		assert.GreaterOrEqual(t, code, 400)
		assert.Contains(t, answer["message"], want)
	}
	require.NoError(t, srv.Compact(0))
	code, _ := apitest.Do(t, srv, "GET", fmt.Sprintf("/debug/fakeapi/objects?revision=%d", then), "")
	assert.Equal(t, http.StatusBadRequest, code, "it is compacted")
}

// An object comes with its versions and their writers, its owners, its dependents and its Events, and without
// secrets unless they are asked for.
func TestControlReadObject(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	deployment, err := srv.Store(family("Deployment", "apps/v1", "shop", nil))
	require.NoError(t, err)
	set, err := srv.Store(family("ReplicaSet", "apps/v1", "shop-1", deployment))
	require.NoError(t, err)
	pod, err := srv.Store(family("Pod", "v1", "shop-1-a", set))
	require.NoError(t, err)
	_, err = srv.Store(fakeapi.Object{"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"name": "e", "namespace": "default"}, "reason": "Slow",
		"involvedObject": map[string]any{"kind": "Pod", "namespace": "default", "name": "shop-1-a"}})
	require.NoError(t, err)
	_, err = srv.Store(fakeapi.Object{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "key", "namespace": "default"}, "stringData": map[string]any{"password": "correct horse"}})
	require.NoError(t, err)
	read := func(query string) map[string]any {
		code, answer := apitest.Do(t, srv, "GET", "/debug/fakeapi/object?namespace=default&"+query, "")
		require.Equal(t, http.StatusOK, code, answer)
		return answer
	}
	names := func(list any) (out []string) {
		for _, r := range list.([]any) {
			r := r.(map[string]any)
			out = append(out, fmt.Sprint(r["generations"], " ", r["resource"], " ", r["name"]))
		}
		return out
	}
	o := read("resource=deployments.apps&name=shop")
	assert.Equal(t, []string{"1 replicasets.apps shop-1", "2 pods shop-1-a"}, names(o["dependents"]))
	assert.Empty(t, o["owners"])
	assert.Equal(t, "store", o["versions"].([]any)[0].(map[string]any)["writer"].(map[string]any)["verb"])
	o = read("resource=pods&name=shop-1-a")
	assert.Equal(t, []string{"1 replicasets.apps shop-1", "2 deployments.apps shop"}, names(o["owners"]))
	assert.Equal(t, "Slow", o["events"].([]any)[0].(map[string]any)["reason"])
	assert.Equal(t, pod["metadata"].(map[string]any)["uid"], o["object"].(map[string]any)["metadata"].(map[string]any)["uid"])

	require.NoError(t, srv.Remove("deployments.apps", "default", "shop"))
	o = read("resource=deployments.apps&name=shop")
	assert.Nil(t, o["object"])
	assert.Len(t, o["versions"], 2)
	assert.Equal(t, true, read("resource=replicasets.apps&name=shop-1")["owners"].([]any)[0].(map[string]any)["missing"])

	secret := url.Values{"resource": {"secrets"}, "name": {"key"}}
	text := fmt.Sprint(read(secret.Encode()))
	assert.Contains(t, text, "scrubbed-")
	assert.NotContains(t, text, "horse")
	assert.True(t, strings.Contains(fmt.Sprint(read("showSecrets=true&"+secret.Encode())), "Y29ycmVjdCBob3JzZQ=="))
}
