package controllers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

func startStatefulSet(t *testing.T, replicas int, spec string, options ...fakeapi.Option) workloads {
	t.Helper()
	c := startWorkloads(t, "statefulset-controller", options...)
	c.Create("statefulsets", fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":{"replicas":%d,"serviceName":"db","selector":{"matchLabels":{"app":"db"}},
		"template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"c","image":"pg:1"}]}}%s}}`, replicas, spec))
	return c
}

// imagesOfPods returns the Pods that are not being deleted: "db-0=pg:1".
func imagesOfPods(c workloads) []string {
	out := []string{}
	for _, pod := range c.Living() {
		out = append(out, pod.Name()+"="+object.String(object.List(pod, "spec", "containers")[0].(map[string]any), "image"))
	}
	return out
}

func TestStatefulSetOrdered(t *testing.T) {
	t.Parallel()
	c := startStatefulSet(t, 2, "")
	assert.Equal(t, []string{"db-0"}, namesOf(c.Pods()))
	pod := c.Get("pods", "db-0")
	assert.Equal(t, "db-0", object.String(pod, "spec", "hostname"))
	assert.Equal(t, "db", object.String(pod, "spec", "subdomain"))
	assert.Equal(t, "db-0", object.String(pod, "metadata", "labels", "statefulset.kubernetes.io/pod-name"))
	assert.Equal(t, "0", object.String(pod, "metadata", "labels", "apps.kubernetes.io/pod-index"))
	revision := object.String(c.Get("statefulsets", "db"), "status", "updateRevision")
	assert.Equal(t, revision, object.String(pod, "metadata", "labels", "controller-revision-hash"))
	c.Run()
	assert.Equal(t, []string{"db-0", "db-1"}, namesOf(c.Pods()), "the second one when the first is ready")
	c.Run()
	assert.Equal(t, "availableReplicas=2 collisionCount=0 currentReplicas=2 currentRevision="+revision+
		" observedGeneration=1 readyReplicas=2 replicas=2 updateRevision="+revision+" updatedReplicas=2", c.Status("statefulsets", "db"))
	assert.Equal(t, []string{
		"Normal SuccessfulCreate: Create Pod db-0 in StatefulSet db successful", "Normal SuccessfulCreate: Create Pod db-1 in StatefulSet db successful",
	}, c.Events("StatefulSet", "db"))

	c.Patch("statefulsets", "db", `{"spec":{"replicas":0}}`)
	assert.Equal(t, []string{"db-0"}, namesOf(c.Living()), "the last one first")
	c.Reap()
	assert.Empty(t, c.Living())
	c.Reap()
	assert.Empty(t, c.Pods())
}

func TestStatefulSetParallel(t *testing.T) {
	t.Parallel()
	c := startStatefulSet(t, 3, `,"podManagementPolicy":"Parallel","ordinals":{"start":5}`)
	assert.Equal(t, []string{"db-5", "db-6", "db-7"}, namesOf(c.Pods()))
	c.Patch("statefulsets", "db", `{"spec":{"replicas":1}}`)
	assert.Equal(t, []string{"db-5"}, namesOf(c.Living()))
}

func TestStatefulSetRollingUpdate(t *testing.T) {
	t.Parallel()
	c := startStatefulSet(t, 3, "")
	c.RunAll()
	before := object.String(c.Get("statefulsets", "db"), "status", "currentRevision")
	c.Patch("statefulsets", "db", withImage("pg:2"))
	assert.Equal(t, []string{"db-0=pg:1", "db-1=pg:1"}, imagesOfPods(c), "one Pod at a time, the last one first")
	c.Reap()
	assert.Equal(t, []string{"db-0=pg:1", "db-1=pg:1", "db-2=pg:2"}, imagesOfPods(c))
	assert.Equal(t, before, object.String(c.Get("statefulsets", "db"), "status", "currentRevision"))
	c.RunAll()
	assert.Equal(t, []string{"db-0=pg:2", "db-1=pg:2", "db-2=pg:2"}, imagesOfPods(c))
	status := object.Map(c.Get("statefulsets", "db"), "status")
	assert.NotEqual(t, before, status["currentRevision"])
	assert.Equal(t, status["updateRevision"], status["currentRevision"])
	assert.Len(t, c.List("controllerrevisions"), 2)
}

func TestStatefulSetUpdateStrategies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, strategy, want string }{
		{"partition", `{"type":"RollingUpdate","rollingUpdate":{"partition":1}}`, "[db-0=pg:1 db-1=pg:2]"},
		{"on delete", `{"type":"OnDelete"}`, "[db-0=pg:1 db-1=pg:1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := startStatefulSet(t, 2, `,"updateStrategy":`+tt.strategy)
			c.RunAll()
			c.Patch("statefulsets", "db", withImage("pg:2"))
			c.RunAll()
			assert.Equal(t, tt.want, fmt.Sprint(imagesOfPods(c)))
			c.Kill("db-0")
			want := "db-0=pg:1"
			if tt.name == "on delete" {
				want = "db-0=pg:2"
			}
			assert.Contains(t, imagesOfPods(c), want, "a Pod below the partition keeps its revision")
		})
	}
}

// TestStatefulSetOnDeleteRevision: from 1.37 on, the current revision follows once all Pods have it.
func TestStatefulSetOnDeleteRevision(t *testing.T) {
	t.Parallel()
	for release, follows := range map[string]bool{"1.36": false, "1.37": true} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			c := startStatefulSet(t, 1, `,"updateStrategy":{"type":"OnDelete"}`, fakeapi.WithRelease(release))
			c.RunAll()
			c.PatchStatus("statefulsets", "db", `{"status":{"conditions":[{"type":"Mine","status":"True"}]}}`)
			c.Patch("statefulsets", "db", withImage("pg:2"))
			c.Kill("db-0")
			c.RunAll()
			set := c.Get("statefulsets", "db")
			status := object.Map(set, "status")
			assert.Equal(t, follows, status["currentRevision"] == status["updateRevision"])
			assert.Equal(t, follows, len(c.Conditions("statefulsets", "db")) == 1, "the controller keeps conditions")
		})
	}
}

// TestStatefulSetMaxUnavailable begins a rolling update while db-0 and db-1 are not ready. At most two
// Pods may be unavailable.
func TestStatefulSetMaxUnavailable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, policy string
		options      []fakeapi.Option
		want         string
	}{
		{"1.36", "Parallel", []fakeapi.Option{fakeapi.WithRelease("1.36")}, "[db-0 db-1 db-2]"},
		{"1.36 with the gate", "Parallel", []fakeapi.Option{fakeapi.WithRelease("1.36"), withGate("MaxUnavailableStatefulSet", true)}, "[db-0 db-1 db-2 db-3]"},
		{"parallel", "Parallel", nil, "[db-2 db-3]"},
		{"ordered", "OrderedReady", nil, "[db-0 db-1 db-2 db-3]"},
		{"without the gate", "Parallel", []fakeapi.Option{withGate("MaxUnavailableStatefulSet", false)}, "[db-0 db-1 db-2]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := startStatefulSet(t, 4, `,"podManagementPolicy":"`+tt.policy+`","updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"50%"}}`, tt.options...)
			c.RunAll()
			for _, pod := range []string{"db-0", "db-1"} {
				c.PatchStatus("pods", pod, `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`)
			}
			c.Settle()
			c.Patch("statefulsets", "db", withImage("pg:2"))
			assert.Equal(t, tt.want, fmt.Sprint(namesOf(c.Living())))
			c.Run("db-0", "db-1")
			c.RunAll()
			assert.Equal(t, "[db-0=pg:2 db-1=pg:2 db-2=pg:2 db-3=pg:2]", fmt.Sprint(imagesOfPods(c)))
		})
	}
}

// TestStatefulSetRecreate: no Pod of the new revision is created before all of the old one are gone.
func TestStatefulSetRecreate(t *testing.T) {
	t.Parallel()
	c := startStatefulSet(t, 2, `,"updateStrategy":{"type":"Recreate"}`, withGate("StatefulSetRecreateStrategy", true))
	c.RunAll()
	assert.Empty(t, c.Conditions("statefulsets", "db"))
	c.Patch("statefulsets", "db", withImage("pg:2"))
	assert.Empty(t, c.Living())
	assert.Len(t, c.Pods(), 2)
	assert.Equal(t, []string{"Progressing=True RecreateInProgress: Deleting old revision pods"}, c.Conditions("statefulsets", "db"))
	c.Kill("db-1")
	assert.Equal(t, "[db-0]", fmt.Sprint(namesOf(c.Pods())))
	c.Kill("db-0")
	assert.Equal(t, "[db-0=pg:2]", fmt.Sprint(imagesOfPods(c)))
	assert.Equal(t, []string{"Progressing=True RecreateInProgress: Waiting for new-revision pods to be created"}, c.Conditions("statefulsets", "db"))
	c.RunAll()
	assert.Equal(t, "[db-0=pg:2 db-1=pg:2]", fmt.Sprint(imagesOfPods(c)))
	assert.Equal(t, []string{"Progressing=False RecreateCompleted: All pods recreated successfully"}, c.Conditions("statefulsets", "db"))
	status := object.Map(c.Get("statefulsets", "db"), "status")
	assert.Equal(t, status["updateRevision"], status["currentRevision"])
}

func TestStatefulSetRollback(t *testing.T) {
	t.Parallel()
	c := startStatefulSet(t, 1, `,"revisionHistoryLimit":1`)
	c.RunAll()
	first := object.String(c.Get("statefulsets", "db"), "status", "currentRevision")
	c.Patch("statefulsets", "db", withImage("pg:2"))
	c.RunAll()
	c.Patch("statefulsets", "db", withImage("pg:1"))
	c.RunAll()
	assert.Equal(t, first, object.String(c.Get("statefulsets", "db"), "status", "currentRevision"), "an equal template has its revision again")
	revision, err := c.Server.Get("controllerrevisions", "shop", first)
	require.NoError(t, err)
	assert.EqualValues(t, 3, revision["revision"])
	c.Patch("statefulsets", "db", withImage("pg:3"))
	c.RunAll()
	assert.Len(t, c.List("controllerrevisions"), 2, "the newest and one more")
}

func TestStatefulSetClaims(t *testing.T) {
	t.Parallel()
	c := startStatefulSet(t, 2, `,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Delete"},
		"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]`)
	c.RunAll()
	for _, name := range []string{"data-db-0", "data-db-1"} {
		claim := c.Get("persistentvolumeclaims", name)
		assert.Equal(t, "db", object.String(claim, "metadata", "labels", "app"))
		assert.Equal(t, "StatefulSet", object.String(object.List(claim, "metadata", "ownerReferences")[0].(map[string]any), "kind"))
	}
	volume := object.List(c.Get("pods", "db-1"), "spec", "volumes")[0].(map[string]any)
	assert.Equal(t, "data-db-1", object.String(volume, "persistentVolumeClaim", "claimName"))
	assert.Contains(t, c.Events("StatefulSet", "db"), "Normal SuccessfulCreate: Create Claim data-db-0 Pod db-0 in StatefulSet db success")
	c.Patch("statefulsets", "db", `{"spec":{"replicas":1}}`)
	owner := object.List(c.Get("persistentvolumeclaims", "data-db-1"), "metadata", "ownerReferences")[0].(map[string]any)
	assert.Equal(t, "Pod", owner["kind"], "the claim of a Pod that is scaled down goes with it")
	assert.Equal(t, "db-1", owner["name"])
	c.Patch("statefulsets", "db", `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"}}}`)
	assert.Empty(t, object.List(c.Get("persistentvolumeclaims", "data-db-0"), "metadata", "ownerReferences"))
}

func TestStatefulSetFailedPod(t *testing.T) {
	t.Parallel()
	c := startStatefulSet(t, 1, "")
	c.Run()
	before := object.String(c.Get("pods", "db-0"), "metadata", "uid")
	c.End("Failed", 1, "db-0")
	assert.NotEqual(t, before, object.String(c.Get("pods", "db-0"), "metadata", "uid"), "a Pod that has ended is replaced")
}

func TestStatefulSetMinReadySeconds(t *testing.T) {
	t.Parallel()
	c := startStatefulSet(t, 2, `,"minReadySeconds":10`)
	c.Run()
	assert.Len(t, c.Pods(), 1)
	assert.Contains(t, c.Status("statefulsets", "db"), "availableReplicas=0")
	c.Wait(10 * time.Second)
	assert.Len(t, c.Pods(), 2)
	assert.Contains(t, c.Status("statefulsets", "db"), "availableReplicas=1")
}
