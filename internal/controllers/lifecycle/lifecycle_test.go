package lifecycle_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

func stage(spec string) string {
	return `{apiVersion: kwok.x-k8s.io/v1alpha1, kind: Stage, metadata: {name: s}, spec: {resourceRef: {kind: Pod}, ` + spec + `}}`
}

// What is not supported is refused, with its name.
func TestRefused(t *testing.T) {
	for _, row := range []struct{ name, file, want string }{
		{"kind", `{apiVersion: kwok.x-k8s.io/v1alpha1, kind: Logs, metadata: {name: s}}`, "kind Logs of kwok.x-k8s.io/v1alpha1 is not supported"},
		{"resource", `{apiVersion: kwok.x-k8s.io/v1alpha1, kind: Stage, metadata: {name: s}, spec: {resourceRef: {apiGroup: apps/v1, kind: Deployment}}}`, "resourceRef apps/v1 Deployment is not supported, only v1 Pod and v1 Node"},
		{"unknown field", stage(`selectors: {}`), `unknown field "selectors"`},
		{"cel", stage(`selector: {matchExpressions: [{cel: {expression: "true"}}]}`), "cel is not supported, only jq and key"},
		{"cel of a duration", stage(`selector: {}, delay: {durationFrom: {cel: {expression: "1"}}}`), "durationFrom: cel is not supported"},
		{"operator", stage(`selector: {matchExpressions: [{key: .a, operator: Gt, values: ["1"]}]}`), `operator "Gt" is not supported`},
		{"no values", stage(`selector: {matchExpressions: [{key: .a, operator: In}]}`), "the operator In of .a needs values"},
		{"values", stage(`selector: {matchExpressions: [{key: .a, operator: Exists, values: [b]}]}`), "the operator Exists of .a takes no values"},
		{"jq", stage(`selector: {matchExpressions: [{key: '.a | length', operator: Exists}]}`), `expression ".a | length": "length" is not a path: supported are paths`},
		{"apply", stage(`selector: {}, steps: [{apply: {template: x}}]`), "steps: apply is not supported"},
		{"impersonation", stage(`selector: {}, next: {statusTemplate: x, statusPatchAs: {username: u}}`), "statusPatchAs is not supported"},
		{"patch type", stage(`selector: {}, next: {patches: [{type: apply, template: x}]}`), `patches of type "apply" are not supported`},
		{"function", stage(`selector: {}, next: {statusTemplate: "{{ randAlpha 5 }}"}`), `function "randAlpha" not defined`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := lifecycle.Parse([]byte(row.file))
			require.ErrorIs(t, err, lifecycle.ErrStage)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestSelector(t *testing.T) {
	var pod map[string]any
	require.NoError(t, json.Unmarshal([]byte(`{
  "metadata": {"labels": {"a.b/c": "d"}, "annotations": {"num": "1"}, "ownerReferences": [{"kind": "Job"}]},
  "spec": {"hostNetwork": true, "containers": [{"name": "x"}, {"name": "y"}]},
  "status": {"conditions": [{"type": "Ready", "status": "True", "n": 7}, {"type": "Other", "status": "False"}]}}`), &pod))
	pod = object.Integers(pod)
	object.Set(pod, int64(7), "spec", "priority")
	for _, row := range []struct {
		selector string
		want     bool
	}{
		{`{}`, true},
		{`{matchLabels: {a.b/c: d}}`, true},
		{`{matchLabels: {a.b/c: e}}`, false},
		{`{matchAnnotations: {num: "1"}}`, true},
		{`{matchExpressions: [{key: '.metadata.labels["a.b/c"]', operator: In, values: [d, e]}]}`, true},
		{`{matchExpressions: [{key: '.metadata.labels["x"]', operator: Exists}]}`, false},
		{`{matchExpressions: [{key: '.metadata.finalizers', operator: DoesNotExist}]}`, true},
		{`{matchExpressions: [{key: '.metadata.ownerReferences.[].kind', operator: In, values: [Job]}]}`, true},
		{`{matchExpressions: [{key: '.metadata.nothing[].kind', operator: NotIn, values: [Job]}]}`, true},
		{`{matchExpressions: [{key: '.spec.containers[1].name', operator: In, values: ["y"]}]}`, true},
		{`{matchExpressions: [{key: '.spec.containers[-1].name', operator: In, values: ["y"]}]}`, true},
		{`{matchExpressions: [{key: '.spec.containers[2].name', operator: Exists}]}`, false},
		{`{matchExpressions: [{key: '.spec.hostNetwork', operator: In, values: ["true"]}]}`, true},
		{`{matchExpressions: [{key: '.spec.priority', operator: In, values: ["7"]}]}`, true},
		{`{matchExpressions: [{key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: In, values: ["True"]}]}`, true},
		{`{matchExpressions: [{key: '.status.conditions[] | select(.type != "Ready") | .status', operator: In, values: ["True"]}]}`, false},
		{`{matchExpressions: [{key: '.status.conditions[] | select(.n) | .type', operator: In, values: [Ready]}]}`, true},
	} {
		t.Run(row.selector, func(t *testing.T) {
			stages, err := lifecycle.Parse([]byte(stage(`selector: ` + row.selector)))
			require.NoError(t, err)
			assert.Equal(t, row.want, stages[0].Matches(object.ViewOf(pod)))
		})
	}
	stages, err := lifecycle.Parse([]byte(stage(`weight: 1`)))
	require.NoError(t, err)
	assert.Empty(t, stages, "a Stage without a selector applies to nothing")
}

func TestDelay(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := object.ViewOf(map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{"delay": "7s"}, "deletionTimestamp": "2026-01-01T00:00:30Z",
	}})
	for _, row := range []struct {
		delay string
		want  time.Duration
	}{
		{`{}`, 0},
		{`{durationMilliseconds: 1500}`, 1500 * time.Millisecond},
		{`{durationMilliseconds: 1500, durationFrom: {expressionFrom: '.metadata.annotations["delay"]'}}`, 7 * time.Second},
		{`{durationMilliseconds: 1500, durationFrom: {jq: {expression: '.metadata.annotations["none"]'}}}`, 1500 * time.Millisecond},
		{`{durationFrom: {expressionFrom: .metadata.deletionTimestamp}}`, 30 * time.Second},
		{`{durationMilliseconds: 1000, jitterDurationMilliseconds: 3000}`, 2 * time.Second},
		{`{durationMilliseconds: 60000, jitterDurationFrom: {expressionFrom: .metadata.deletionTimestamp}}`, 30 * time.Second},
	} {
		t.Run(row.delay, func(t *testing.T) {
			stages, err := lifecycle.Parse([]byte(stage(`selector: {}, delay: ` + row.delay)))
			require.NoError(t, err)
			assert.Equal(t, row.want, stages[0].Delay(pod, now, func(n uint64) uint64 { return n / 2 }))
		})
	}
}

// The newest behavior of a Pod has precedence, and replaces one of the same selection.
func TestBehaviors(t *testing.T) {
	labels, err := selector.ParseLabels("app=web")
	require.NoError(t, err)
	s := &lifecycle.Set{}
	s.Add(lifecycle.Behavior{Labels: labels, Action: lifecycle.Hang})
	s.Add(lifecycle.Behavior{Namespace: "a", Labels: labels, Action: lifecycle.FailImagePull})
	of := func(namespace string) (actions []lifecycle.Action) {
		for _, b := range s.Of(namespace, map[string]string{"app": "web"}) {
			actions = append(actions, b.Action)
		}
		return actions
	}
	assert.Equal(t, []lifecycle.Action{lifecycle.FailImagePull, lifecycle.Hang}, of("a"))
	assert.Equal(t, []lifecycle.Action{lifecycle.Hang}, of("b"))
	s.Add(lifecycle.Behavior{Labels: labels, Action: lifecycle.Run})
	assert.Equal(t, []lifecycle.Action{lifecycle.Run, lifecycle.FailImagePull}, of("a"))
	assert.Empty(t, s.Of("a", nil))
}
