package controllers_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

const disruption = "disruption-controller"

// owner returns the owner reference of a Pod.
func owner(apiVersion, kind, name string) string {
	return fmt.Sprintf(`[{apiVersion: %s, kind: %s, name: %s, uid: %s-uid, controller: true}]`, apiVersion, kind, name, name)
}

// putWebPods puts n Pods with the label app=web, the first ready of which are Ready.
func putWebPods(c cluster, n, ready int, owners string) {
	for i := range n {
		status := "False"
		if i < ready {
			status = "True"
		}
		c.Put(fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: web-%d, namespace: default, labels: {app: web}, ownerReferences: %s},
  spec: {nodeName: node-a, containers: [{name: c, image: i}]}, status: {phase: Running, conditions: [{type: Ready, status: "%s"}]}}`, i, owners, status))
	}
}

func workload(apiVersion, kind, name string, replicas int, meta string) string {
	return fmt.Sprintf(`{apiVersion: %s, kind: %s, metadata: {name: %s, namespace: default, uid: %s-uid%s},
  spec: {replicas: %d, serviceName: s, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}}`,
		apiVersion, kind, name, name, meta, replicas)
}

func budget(spec string) string {
	return `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: default}, spec: {selector: {matchLabels: {app: web}}, ` + spec + `}}`
}

// budgetStatus returns "ALLOWED allowed, HEALTHY/DESIRED of EXPECTED" of the budget.
func budgetStatus(c cluster) string {
	s := object.Map(c.Get("poddisruptionbudgets", "default", "web"), "status")
	return fmt.Sprintf("%v allowed, %v/%v of %v", s["disruptionsAllowed"], s["currentHealthy"], s["desiredHealthy"], s["expectedPods"])
}

func TestDisruptionStatus(t *testing.T) {
	t.Parallel()
	const crd = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: foos.x.io}, spec: {group: x.io, scope: Namespaced,
  names: {plural: foos, singular: foo, kind: Foo, listKind: FooList}, versions: [{name: v1, served: true, storage: true,
  subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}},
  schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`
	rs := workload("apps/v1", "ReplicaSet", "web", 4, "")
	for _, row := range []struct {
		name      string
		objects   []string
		owners    string
		spec      string
		want      string
		condition string
		event     string // its reason
	}{
		{"number", nil, "[]", "minAvailable: 2", "1 allowed, 3/2 of 4", "True SufficientPods", ""},
		{"too few", nil, "[]", "minAvailable: 4", "0 allowed, 3/4 of 4", "False InsufficientPods", ""},
		{"percentage", []string{rs}, owner("apps/v1", "ReplicaSet", "web"), "minAvailable: 50%", "1 allowed, 3/2 of 4", "True SufficientPods", ""},
		{"unavailable", []string{rs}, owner("apps/v1", "ReplicaSet", "web"), "maxUnavailable: 1", "0 allowed, 3/3 of 4", "False InsufficientPods", ""},
		{"more replicas than Pods", []string{workload("apps/v1", "StatefulSet", "web", 10, "")}, owner("apps/v1", "StatefulSet", "web"), "maxUnavailable: 8", "1 allowed, 3/2 of 10", "True SufficientPods", ""},
		{"Deployment", []string{
			workload("apps/v1", "Deployment", "dep", 5, ""), workload("apps/v1", "ReplicaSet", "web", 4, ", ownerReferences: "+owner("apps/v1", "Deployment", "dep")),
		}, owner("apps/v1", "ReplicaSet", "web"), "maxUnavailable: 3", "1 allowed, 3/2 of 5", "True SufficientPods", ""},
		{"custom resource", []string{crd, `{apiVersion: x.io/v1, kind: Foo, metadata: {name: web, namespace: default, uid: web-uid}, spec: {replicas: 3}}`},
			owner("x.io/v1", "Foo", "web"), "maxUnavailable: 1", "1 allowed, 3/2 of 3", "True SufficientPods", ""},
		{"unmanaged", nil, "[]", "maxUnavailable: 1", "0 allowed, 3/0 of 0", "False InsufficientPods", "UnmanagedPods"},
		{"absent controller", nil, owner("apps/v1", "ReplicaSet", "web"), "maxUnavailable: 1", "0 allowed, 0/0 of 0", `False SyncFailed found no controllers for pod "web-0"`, "CalculateExpectedPodCountFailed"},
		{"absent kind", nil, owner("x.io/v1", "Foo", "web"), "maxUnavailable: 1", "0 allowed, 0/0 of 0", `False SyncFailed no matches for kind "Foo" in version "x.io/v1"`, "CalculateExpectedPodCountFailed"},
		{"no scale", []string{`{apiVersion: batch/v1, kind: Job, metadata: {name: web, namespace: default, uid: web-uid}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}`},
			owner("batch/v1", "Job", "web"), "maxUnavailable: 1", "0 allowed, 0/0 of 0", "False SyncFailed jobs.batch does not implement the scale subresource", "CalculateExpectedPodCountFailed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startCluster(t, disruption)
			c.Put(row.objects...)
			putWebPods(c, 4, 3, row.owners)
			c.Create("/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget(row.spec))
			c.Settle()
			assert.Equal(t, row.want, budgetStatus(c))
			assert.Equal(t, row.condition, condition(c.Get("poddisruptionbudgets", "default", "web"), "DisruptionAllowed"))
			events := c.Events("web")
			if row.event == "" {
				assert.Empty(t, events)
			} else if assert.NotEmpty(t, events) {
				assert.Contains(t, events[0], row.event+": ")
			}
		})
	}
}

// A Pod whose eviction was permitted counts as disrupted until it is deleted, or for
// two minutes.
func TestDisruptionEviction(t *testing.T) {
	t.Parallel()
	c := startCluster(t, disruption)
	c.Put(budget("minAvailable: 2"))
	putWebPods(c, 3, 3, "[]")
	c.Settle()
	require.Equal(t, "1 allowed, 3/2 of 3", budgetStatus(c))
	evict := func(pod string) int {
		code, _ := c.Try(http.MethodPost, podsPath+"/"+pod+"/eviction",
			`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"`+pod+`"}}`)
		return code
	}
	assert.Equal(t, http.StatusCreated, evict("web-0"))
	c.Settle()
	assert.Equal(t, "0 allowed, 2/2 of 3", budgetStatus(c))
	assert.Equal(t, http.StatusTooManyRequests, evict("web-1"))
	putWebPods(c, 4, 4, "[]") // web-0 is another one
	c.Settle()
	assert.Equal(t, http.StatusCreated, evict("web-1"))

	c.MergePatch("/apis/policy/v1/namespaces/default/poddisruptionbudgets/web/status", `{"status":{"disruptedPods":{"web-2":"`+c.Clock().Now().UTC().Format(time.RFC3339)+`"}}}`)
	c.Settle()
	assert.Equal(t, "0 allowed, 2/2 of 4", budgetStatus(c), "web-0 and web-3 are left")
	c.Wait(3 * time.Minute)
	assert.Equal(t, "1 allowed, 3/2 of 4", budgetStatus(c))
	assert.Equal(t, []string{"NotDeleted: Pod was expected by PDB default/default to be deleted but it wasn't"}, c.Events("web-2"))
}

func TestDisruptionNoPods(t *testing.T) {
	t.Parallel()
	c := startCluster(t, disruption)
	c.Put(budget("minAvailable: 1"))
	c.Settle()
	assert.Equal(t, "0 allowed, 0/1 of 0", budgetStatus(c))
	assert.Contains(t, c.Events("web"), "NoPods: No matching pods found")
}

// Of two budgets one is taken, and an Event says so.
func TestDisruptionMultiple(t *testing.T) {
	t.Parallel()
	c := startCluster(t, disruption)
	c.Put(budget("minAvailable: 1"))
	c.Put(`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: all, namespace: default}, spec: {selector: {}, minAvailable: 1}}`)
	putWebPods(c, 1, 1, "[]")
	c.Settle()
	assert.Equal(t, []string{`MultiplePodDisruptionBudgets: Pod "default"/"web-0" matches multiple PodDisruptionBudgets.  Chose "all" arbitrarily.`}, c.Events("web-0"))
}

func TestDisruptionStaleCondition(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, reason, want string }{
		{"stale", "PreemptionByScheduler", "False"},
		{"of the kubelet", "TerminationByKubelet", "True TerminationByKubelet"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startCluster(t, disruption)
			c.Put(fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]},
  status: {phase: Running, conditions: [{type: DisruptionTarget, status: "True", reason: %s, lastTransitionTime: "%s"}]}}`, row.reason, c.Clock().Now().UTC().Format(time.RFC3339)))
			c.Wait(time.Minute)
			assert.Equal(t, "True "+row.reason, condition(c.Pod("p"), "DisruptionTarget"))
			c.Wait(time.Minute)
			assert.Equal(t, row.want, condition(c.Pod("p"), "DisruptionTarget"))
		})
	}
}
