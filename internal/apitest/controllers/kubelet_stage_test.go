package controllers_test

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

// stages lets Pods start after 2 s, and end after the time in an annotation. One with a
// label fails half of the time.
const stages = `# Pods of a slow cluster.
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: begin}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: NotIn, values: ["True"]}
    - {key: .status.phase, operator: In, values: [Pending]}
  delay: {durationMilliseconds: 2000}
  next:
    event: {type: Normal, reason: Began, message: It runs.}
    finalizers: {add: [{value: example.com/cleanup}]}
    statusTemplate: |
      {{ $now := Now }}
      phase: Running
      startTime: {{ $now | Quote }}
      conditions:
      - {type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }}}
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        imageID: ""
        ready: true
        restartCount: 0
        state: {running: {startedAt: {{ $now | Quote }}}}
      {{ end }}
      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
      podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) | Quote }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: end}
spec:
  resourceRef: {kind: Pod}
  selector:
    matchAnnotations: {ends: "yes"}
    matchExpressions:
    - jq: {key: .status.phase, operator: In, values: [Running]}
  delay:
    durationMilliseconds: 1000000
    durationFrom: {expressionFrom: '.metadata.annotations["after"]'}
  weight: 1
  steps:
  - patch: {subresource: status, root: status, type: merge, template: '{phase: Succeeded}'}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: stop}
spec:
  resourceRef: {kind: Pod}
  selector:
    matchExpressions: [{key: .metadata.deletionTimestamp, operator: Exists}]
  delay: {durationMilliseconds: 1000}
  next: {delete: true, finalizers: {empty: true}}
`

func TestKubeletStages(t *testing.T) {
	t.Parallel()
	c := startKubelet(t, fakeapi.WithStages(fstest.MapFS{"s.yaml": {Data: []byte(stages)}}, "*.yaml"))
	c.Create(podsPath, `{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {ends: "yes", after: 30s}}, spec: {containers: [{name: c, image: i}]}}`)
	c.Wait(1999 * time.Millisecond)
	assert.Equal(t, "Pending", phase(c.Pod("p")))
	c.Wait(time.Millisecond)
	p := c.Pod("p")
	assert.Equal(t, "Running", phase(p))
	assert.Equal(t, "True", condition(p, "Ready"))
	assert.Equal(t, []string{"example.com/cleanup"}, object.Strings(p, "metadata", "finalizers"))
	assert.NotEmpty(t, object.String(p, "status", "podIP"))
	assert.Contains(t, c.Events("p"), "Began: It runs.")
	c.Wait(29 * time.Second)
	assert.Equal(t, "Running", phase(c.Pod("p")))
	c.Wait(time.Second)
	assert.Equal(t, "Succeeded", phase(c.Pod("p")))

	c.Delete(podsPath + "/p")
	c.Settle()
	assert.NotNil(t, c.Pod("p"))
	c.Wait(time.Second)
	assert.Nil(t, c.Pod("p"))

	require.NoError(t, c.Kubelet().Pods("app=p").CrashLoop())
	c.Create(podsPath, pod("p", ""))
	c.Settle()
	assert.Equal(t, "CrashLoopBackOff", object.String(container(c.Pod("p"), "containerStatuses", 0), "state", "waiting", "reason"), "a test has precedence")
}

// Of several Stages that match, weights decide, the same with the same seed.
func TestKubeletWeights(t *testing.T) {
	t.Parallel()
	stage := func(name, weight string) string {
		return `
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: ` + name + `}
spec:
  resourceRef: {kind: Pod}
  selector: {matchExpressions: [{key: .status.phase, operator: In, values: [Pending]}]}
  weight: ` + weight + `
  next: {statusTemplate: '{phase: ` + name + `}'}`
	}
	run := func() map[string]int {
		c := startKubelet(t, fakeapi.WithStages(fstest.MapFS{"s.yaml": {Data: []byte(stage("Running", "3") + stage("Failed", "1") + stage("Unknown", "0"))}}, "s.yaml"))
		for _, name := range []string{"a", "b", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"} {
			c.Create(podsPath, pod(name, ""))
		}
		c.Settle()
		counts := map[string]int{}
		pods := c.List("pods", "")
		for _, p := range pods {
			counts[phase(p)]++
		}
		return counts
	}
	first := run()
	assert.Zero(t, first["Pending"]+first["Unknown"])
	assert.Greater(t, first["Running"], first["Failed"])
	assert.NotZero(t, first["Failed"])
	assert.Equal(t, first, run())
}

func TestKubeletNodeStages(t *testing.T) {
	t.Parallel()
	const sick = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: sick}
spec:
  resourceRef: {kind: Node}
  selector: {matchExpressions: [{key: '.status.conditions.[] | select(.type == "Ready") | .status', operator: NotIn, values: ["False"]}]}
  delay: {durationMilliseconds: 60000}
  next:
    statusTemplate: |
      conditions: [{type: Ready, status: "False", reason: Sick, message: {{ NodeName | Quote }}}]
`
	c := startKubelet(t, fakeapi.WithStages(fstest.MapFS{"s.yaml": {Data: []byte(sick)}}, "s.yaml"))
	c.Wait(59 * time.Second)
	assert.Contains(t, condition(c.Get("nodes", "", "node-1"), "Ready"), "True")
	c.Wait(time.Second)
	assert.Equal(t, "False Sick node-1", condition(c.Get("nodes", "", "node-1"), "Ready"))
}
