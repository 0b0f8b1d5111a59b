package namespace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/controllertest"
	"github.com/kubefake/kubefake/internal/journal"
)

const (
	shop = "/api/v1/namespaces/shop"

	widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`
)

func object(apiVersion, kind, name, finalizers string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"namespace":"shop","name":%q,"finalizers":[%s]}}`, apiVersion, kind, name, finalizers)
}

func pod(name, node, finalizers string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":%q,"finalizers":[%s]},
"spec":{"nodeName":%q,"terminationGracePeriodSeconds":30,"containers":[{"name":"c","image":"i"}]}}`, name, finalizers, node)
}

// conditions returns the conditions of the namespace shop with the status True, and
// checks that all others are there.
func conditions(t *testing.T, srv *fakeapi.Server) []string {
	t.Helper()
	ns, err := srv.Get("namespaces", "", "shop")
	require.NoError(t, err)
	list, _ := controllertest.Field(ns, "status", "conditions").([]any)
	require.Len(t, list, 5)
	var out []string
	for _, c := range list {
		if c := c.(map[string]any); c["status"] == "True" {
			out = append(out, fmt.Sprintf("%s %s: %s", c["type"], c["reason"], c["message"]))
		}
	}
	return out
}

func start(t testing.TB, options ...fakeapi.Option) *fakeapi.Server {
	return controllertest.Start(t, "namespace-controller", append(options, fakeapi.WithNamespaces("shop", "other"))...)
}

// The rows are what `kubectl delete namespace shop` finds.
func TestDeleteNamespace(t *testing.T) {
	tests := []struct {
		name    string
		objects []string
		within  time.Duration
		remain  []string // the conditions that are True; none if the namespace is gone
	}{
		{"empty", nil, 0, nil},
		{"content", []string{object("v1", "ConfigMap", "a", ""), object("v1", "Secret", "b", ""), object("apps/v1", "ControllerRevision", "c", "")}, 0, nil},
		{"custom resources", []string{widgets, object("example.com/v1", "Widget", "w", "")}, 0, nil},
		{"Pods without a node", []string{pod("p", "", "")}, 0, nil},
		{
			"finalizers", []string{
				widgets, object("example.com/v1", "Widget", "w", `"example.com/a"`), object("v1", "ConfigMap", "a", `"example.com/a","example.com/b"`),
			}, 0, []string{
				"NamespaceContentRemaining SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances, widgets.example.com has 1 resource instances",
				"NamespaceFinalizersRemaining SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/a in 2 resource instances, example.com/b in 1 resource instances",
			},
		},
		{"Pods in their grace period", []string{pod("p", "node", ""), object("v1", "ConfigMap", "a", "")}, 0, []string{}},
		{
			"Pods after their grace period", []string{pod("p", "node", "")}, time.Minute, []string{
				"NamespaceDeletionContentFailure ContentDeletionFailed: Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: shop for gvr: /v1, Resource=pods",
			},
		},
		{
			"an API that is not available", []string{
				`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1beta1.metrics.k8s.io"},"spec":{
"group":"metrics.k8s.io","version":"v1beta1","groupPriorityMinimum":100,"versionPriority":100,"service":{"name":"metrics-server","namespace":"kube-system"}}}`,
			}, 0, []string{
				"NamespaceDeletionDiscoveryFailure DiscoveryFailed: Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1",
			},
		},
		{
			"a deletion that is denied", []string{
				`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"keep"},"spec":{
"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["configmaps"]}]},
"validations":[{"expression":"false","message":"no"}]}}`,
				`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"keep"},
"spec":{"policyName":"keep","validationActions":["Deny"]}}`,
				object("v1", "ConfigMap", "a", ""),
			}, 0, []string{
				`NamespaceDeletionContentFailure ContentDeletionFailed: Failed to delete all resource types, 1 remaining: configmaps "Unknown" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep' denied request: no`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := start(t)
			controllertest.Put(t, srv, tt.objects...)
			controllertest.Put(t, srv, strings.ReplaceAll(object("v1", "ConfigMap", "kept", ""), "shop", "other"))
			controllertest.Settle(t, srv)
			controllertest.Delete(t, srv, shop, "")
			controllertest.SettleWithin(t, srv, tt.within)

			_, err := srv.Get("namespaces", "", "shop")
			if tt.remain != nil {
				require.NoError(t, err)
				assert.ElementsMatch(t, tt.remain, conditions(t, srv))
			} else {
				require.ErrorIs(t, err, fakeapi.ErrNotFound)
				left, err := srv.List("configmaps", "shop")
				require.NoError(t, err)
				assert.Empty(t, left)
			}
			_, err = srv.Get("configmaps", "other", "kept")
			assert.NoError(t, err, "the objects of other namespaces stay")
		})
	}
}

// A namespace that waits for a finalizer is gone as soon as the finalizer is removed,
// and its conditions tell what it waits for until then.
func TestFinalizerHoldsNamespace(t *testing.T) {
	srv := start(t)
	controllertest.Put(t, srv, object("v1", "ConfigMap", "a", `"example.com/hold"`), pod("p", "node", `"example.com/hold"`))
	controllertest.Delete(t, srv, shop, "")
	controllertest.Settle(t, srv)
	configMap, err := srv.Get("configmaps", "shop", "a")
	require.NoError(t, err)
	assert.Nil(t, controllertest.Field(configMap, "metadata", "deletionTimestamp"), "Pods go first")

	require.NoError(t, srv.Remove("pods", "shop", "p"))
	controllertest.Settle(t, srv)
	assert.Contains(t, strings.Join(conditions(t, srv), "\n"), "example.com/hold in 1 resource instances")
	ns, err := srv.Get("namespaces", "", "shop")
	require.NoError(t, err)
	assert.Equal(t, "2026-01-01T00:00:00Z", controllertest.Field(ns, "status", "conditions", "NamespaceContentRemaining", "lastTransitionTime"))

	controllertest.Do(t, srv, "PATCH", shop+"/configmaps/a", `{"metadata":{"finalizers":null}}`)
	controllertest.Settle(t, srv)
	_, err = srv.Get("namespaces", "", "shop")
	require.ErrorIs(t, err, fakeapi.ErrNotFound)
}

// Finalizers of the namespace that are not the controller's keep the namespace.
func TestOtherFinalizers(t *testing.T) {
	srv := start(t)
	controllertest.Do(t, srv, "PUT", shop+"/finalize", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"},"spec":{"finalizers":["kubernetes","example.com/z"]}}`)
	controllertest.Delete(t, srv, shop, "")
	controllertest.Settle(t, srv)
	ns, err := srv.Get("namespaces", "", "shop")
	require.NoError(t, err)
	assert.Equal(t, []any{"example.com/z"}, controllertest.Field(ns, "spec", "finalizers"))
	assert.Empty(t, conditions(t, srv))
}

// Two runs make the same writes in the same order.
func TestDeterministic(t *testing.T) {
	var runs [2][]journal.Write
	for i := range runs {
		srv := start(t)
		controllertest.Put(t, srv, object("v1", "ConfigMap", "a", `"example.com/a"`), object("v1", "Secret", "b", ""), object("v1", "Service", "c", ""))
		controllertest.Delete(t, srv, shop, "")
		controllertest.SettleWithin(t, srv, time.Hour)
		runs[i] = srv.Writes(0)
	}
	assert.Equal(t, runs[0], runs[1])
}

// BenchmarkDelete deletes a namespace of 1,000 objects.
func BenchmarkDelete(b *testing.B) {
	origin := start(b)
	controllertest.Put(b, origin, widgets)
	for i := range 250 {
		name := fmt.Sprint("o", i)
		controllertest.Put(b, origin, object("v1", "ConfigMap", name, ""), object("v1", "Secret", name, ""), pod(name, "", ""), object("example.com/v1", "Widget", name, ""))
	}
	controllertest.Settle(b, origin)
	b.ReportAllocs()
	for range b.N {
		b.StopTimer()
		srv, err := origin.NewFork()
		require.NoError(b, err)
		controllertest.Settle(b, srv)
		b.StartTimer()
		controllertest.Delete(b, srv, shop, "")
		controllertest.Settle(b, srv)
		b.StopTimer()
		_, err = srv.Get("namespaces", "", "shop")
		require.ErrorIs(b, err, fakeapi.ErrNotFound)
		srv.Close()
		b.StartTimer()
	}
}
