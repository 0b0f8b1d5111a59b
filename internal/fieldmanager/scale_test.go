package fieldmanager

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

// TestScale transfers the number of replicas of a Deployment from the manager
// that applied it to the managers that scale it.
func TestScale(t *testing.T) {
	scale := NewScaleHandler("apps/v1", map[string]string{"apps/v1": "spec.replicas", "apps/v0": ""})
	kind := builtin(t, "autoscaling", "v1", "Scale")
	deployment := list(t, `
- {manager: owner, operation: Apply, apiVersion: apps/v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:paused": {}, "f:replicas": {}}}}
- {manager: other, operation: Update, apiVersion: apps/v1, time: "2026-01-01T00:00:01Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:minReadySeconds": {}}}}
- {manager: early, operation: Update, apiVersion: apps/v0, time: "2026-01-01T00:00:01Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}
- {manager: lost, operation: Update, apiVersion: apps/v7, time: "2026-01-01T00:00:01Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}
`)
	entries, err := scale.ToSubresource(deployment)
	require.NoError(t, err)
	assert.Equal(t, list(t, `
- {manager: owner, operation: Apply, apiVersion: autoscaling/v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}
`), entries)

	live := kind.canonical(t, parse(t, `{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: d, uid: u}, spec: {replicas: 1}}`))
	metadata(live)["managedFields"] = entries
	applied := parse(t, `{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: d}, spec: {replicas: 4}}`)
	o := Options{Manager: "scaler", Subresource: "scale", Now: start}
	_, err = kind.Apply(object.ViewOf(live), applied, o)
	require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "owner": .spec.replicas`)
	o.Force = true
	live, err = kind.Apply(object.ViewOf(live), applied, o)
	require.NoError(t, err)
	written, _ := managedFields(live)
	deployment, err = scale.ToParent(deployment, written)
	require.NoError(t, err)
	assert.Equal(t, list(t, `
- {manager: scaler, subresource: scale, operation: Apply, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}
- {manager: owner, operation: Apply, apiVersion: apps/v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:paused": {}}}}
- {manager: early, operation: Update, apiVersion: apps/v0, time: "2026-01-01T00:00:01Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}
- {manager: other, operation: Update, apiVersion: apps/v1, time: "2026-01-01T00:00:01Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:minReadySeconds": {}}}}
`), deployment)

	// The next manager takes everything that the first one had.
	entries, err = scale.ToSubresource(deployment)
	require.NoError(t, err)
	metadata(live)["managedFields"] = entries
	scaled := WithoutManagedFields(live)
	scaled["spec"] = map[string]any{"replicas": int64(5)}
	written, _ = managedFields(kind.Update(object.ViewOf(live), scaled, Options{Manager: "hpa", Subresource: "scale", Now: start}))
	deployment, err = scale.ToParent(deployment, written)
	require.NoError(t, err)
	assert.Equal(t, list(t, `
- {manager: owner, operation: Apply, apiVersion: apps/v1, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:paused": {}}}}
- {manager: hpa, subresource: scale, operation: Update, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}
- {manager: early, operation: Update, apiVersion: apps/v0, time: "2026-01-01T00:00:01Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}
- {manager: other, operation: Update, apiVersion: apps/v1, time: "2026-01-01T00:00:01Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:minReadySeconds": {}}}}
`), deployment)
}

func TestScaleErrors(t *testing.T) {
	scale := NewScaleHandler("apps/v1", map[string]string{"apps/v1": "spec.replicas"})
	broken := []any{map[string]any{"operation": "Read"}}
	_, err := scale.ToSubresource(broken)
	assert.Error(t, err)
	_, err = scale.ToParent(broken, nil)
	assert.Error(t, err)
	_, err = scale.ToParent(nil, broken)
	assert.Error(t, err)
}

func list(t *testing.T, text string) []any {
	t.Helper()
	return parse(t, "list:\n"+text)["list"].([]any)
}
