package controllers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
)

func shopObject(apiVersion, kind, name, finalizers string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"namespace":"shop","name":%q,"finalizers":[%s]}}`, apiVersion, kind, name, finalizers)
}

func shopPod(name, node, finalizers string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":%q,"finalizers":[%s]},
"spec":{"nodeName":%q,"terminationGracePeriodSeconds":30,"containers":[{"name":"c","image":"i"}]}}`, name, finalizers, node)
}

// namespaceConditions returns the conditions of the namespace shop with the status True, and
// checks that all others are there.
func namespaceConditions(c cluster) []string {
	c.t.Helper()
	list := object.Value(c.Get("namespaces", "", "shop"), "status", "conditions")
	require.Len(c.t, list, 5)
	var out []string
	for c := range object.Each(list) {
		if c["status"] == "True" {
			out = append(out, fmt.Sprintf("%s %s: %s", c["type"], c["reason"], c["message"]))
		}
	}
	return out
}

func startNamespace(t testing.TB) cluster {
	return startCluster(t, "namespace-controller", fakeapi.WithNamespaces("shop", "other"))
}

// The rows are what `kubectl delete namespace shop` finds.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		objects []string
		within  time.Duration
		remain  []string // the conditions that are True; none if the namespace is gone
	}{
		{"empty", nil, 0, nil},
		{"content", []string{shopObject("v1", "ConfigMap", "a", ""), shopObject("v1", "Secret", "b", ""), shopObject("apps/v1", "ControllerRevision", "c", "")}, 0, nil},
		{"custom resources", []string{widgets, shopObject("example.com/v1", "Widget", "w", "")}, 0, nil},
		{"Pods without a node", []string{shopPod("p", "", "")}, 0, nil},
		{
			"finalizers", []string{
				widgets, shopObject("example.com/v1", "Widget", "w", `"example.com/a"`), shopObject("v1", "ConfigMap", "a", `"example.com/a","example.com/b"`),
			}, 0, []string{
				"NamespaceContentRemaining SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances, widgets.example.com has 1 resource instances",
				"NamespaceFinalizersRemaining SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/a in 2 resource instances, example.com/b in 1 resource instances",
			},
		},
		{"Pods in their grace period", []string{shopPod("p", "node", ""), shopObject("v1", "ConfigMap", "a", "")}, 0, []string{}},
		{
			"Pods after their grace period", []string{shopPod("p", "node", "")}, time.Minute, []string{
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
				shopObject("v1", "ConfigMap", "a", ""),
			}, 0, []string{
				`NamespaceDeletionContentFailure ContentDeletionFailed: Failed to delete all resource types, 1 remaining: configmaps "Unknown" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep' denied request: no`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startNamespace(t)
			c.Put(tt.objects...)
			c.Put(strings.ReplaceAll(shopObject("v1", "ConfigMap", "kept", ""), "shop", "other"))
			c.Settle()
			c.Delete(shopPath)
			c.SettleWithin(tt.within)

			if tt.remain != nil {
				assert.ElementsMatch(t, tt.remain, namespaceConditions(c))
			} else {
				assert.Nil(t, c.Get("namespaces", "", "shop"))
				assert.Empty(t, c.List("configmaps", "shop"))
			}
			assert.NotNil(t, c.Get("configmaps", "other", "kept"), "the objects of other namespaces stay")
		})
	}
}

// A namespace that waits for a finalizer is gone as soon as the finalizer is removed,
// and its conditions tell what it waits for until then.
func TestNamespaceFinalizer(t *testing.T) {
	t.Parallel()
	c := startNamespace(t)
	c.Put(shopObject("v1", "ConfigMap", "a", `"example.com/hold"`), shopPod("p", "node", `"example.com/hold"`))
	c.Delete(shopPath)
	c.Settle()
	configMap := c.Get("configmaps", "shop", "a")
	require.NotNil(t, configMap)
	assert.Nil(t, object.Value(configMap, "metadata", "deletionTimestamp"), "Pods go first")

	require.NoError(t, c.Remove("pods", "shop", "p"))
	c.Settle()
	assert.Contains(t, strings.Join(namespaceConditions(c), "\n"), "example.com/hold in 1 resource instances")
	ns := c.Get("namespaces", "", "shop")
	assert.Equal(t, "2026-01-01T00:00:00Z", object.String(conditionOf(ns, "NamespaceContentRemaining"), "lastTransitionTime"))

	c.MergePatch(shopPath+"/configmaps/a", `{"metadata":{"finalizers":null}}`)
	c.Settle()
	assert.Nil(t, c.Get("namespaces", "", "shop"))
}

// Finalizers of the namespace that are not the controller's keep the namespace.
func TestNamespaceOtherFinalizers(t *testing.T) {
	t.Parallel()
	c := startNamespace(t)
	c.Do("PUT", shopPath+"/finalize", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"},"spec":{"finalizers":["kubernetes","example.com/z"]}}`)
	c.Delete(shopPath)
	c.Settle()
	ns := c.Get("namespaces", "", "shop")
	assert.Equal(t, []any{"example.com/z"}, object.Value(ns, "spec", "finalizers"))
	assert.Empty(t, namespaceConditions(c))
}

// Two runs make the same writes in the same order.
func TestNamespaceDeterministic(t *testing.T) {
	t.Parallel()
	var runs [2][]journal.Write
	for i := range runs {
		c := startNamespace(t)
		c.Put(shopObject("v1", "ConfigMap", "a", `"example.com/a"`), shopObject("v1", "Secret", "b", ""), shopObject("v1", "Service", "c", ""))
		c.Delete(shopPath)
		c.SettleWithin(time.Hour)
		runs[i] = c.Writes(0)
	}
	assert.Equal(t, runs[0], runs[1])
}

// BenchmarkNamespaceDeletion deletes a namespace of 1,000 objects.
func BenchmarkNamespaceDeletion(b *testing.B) {
	origin := startNamespace(b)
	origin.Put(widgets)
	for i := range 250 {
		name := fmt.Sprint("o", i)
		origin.Put(shopObject("v1", "ConfigMap", name, ""), shopObject("v1", "Secret", name, ""), shopPod(name, "", ""), shopObject("example.com/v1", "Widget", name, ""))
	}
	origin.Settle()
	b.ReportAllocs()
	for range b.N {
		b.StopTimer()
		c := origin.fork(b)
		c.Settle()
		b.StartTimer()
		c.Delete(shopPath)
		c.Settle()
		b.StopTimer()
		require.Nil(b, c.Get("namespaces", "", "shop"))
		c.Close()
		b.StartTimer()
	}
}
