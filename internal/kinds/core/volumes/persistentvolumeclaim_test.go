package volumes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultPersistentVolumeClaims(t *testing.T) {
	kindtest.TestDefaults(t, "persistentvolumeclaims", []kindtest.Row{{"default volumeMode", `{}`, "spec.volumeMode", `"Filesystem"`}, {"volumeMode Block", `{"spec":{"volumeMode":"Block"}}`, "spec.volumeMode", `"Block"`}})
}

func TestPreparePersistentVolumeClaims(t *testing.T) {
	const source, claim = `{"apiGroup":"a.b","kind":"K","name":"n"}`, `{"apiGroup":null,"kind":"PersistentVolumeClaim","name":"n"}`
	kindtest.TestCreates(t, "persistentvolumeclaims", []kindtest.Row{
		{"status", `{"status":{"phase":"Bound"}}`, "status", `{"phase":"Pending"}`},
		{"dataSource sets dataSourceRef", `{"spec":{"dataSource":` + claim + `}}`, "spec.dataSourceRef", claim},
		{"unsupported dataSource", `{"spec":{"dataSource":` + source + `}}`, "spec.dataSource", ``},
		{"dataSourceRef sets dataSource", `{"spec":{"dataSourceRef":` + source + `}}`, "spec.dataSource", source},
		{"dataSourceRef to another namespace", `{"spec":{"dataSourceRef":{"kind":"K","name":"n","namespace":"x"}}}`, "spec.dataSourceRef", ``},
	})
	kindtest.TestUpdates(t, "persistentvolumeclaims", []kindtest.Change{
		{"no finalizer on update", `{}`, `{}`, "metadata.finalizers", ``},
		{"status", `{}`, `{"status":{"phase":"Bound"}}`, "status", `{"phase":"Pending"}`},
	})
}

func TestValidatePersistentVolumeClaims(t *testing.T) {
	claim := func(size, rest string) string {
		return `{"metadata":{"name":"a","namespace":"n"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"` + size + `"}}` + rest + `}}`
	}
	kindtest.TestValidation(t, "persistentvolumeclaims", []kindtest.ValidationRow{
		{"valid", "", claim("1Gi", ""), ""},
		{"binding", claim("1Gi", ""), claim("1Gi", `,"volumeName":"v"`), ""},
		{"added storageClassName", claim("1Gi", ""), claim("1Gi", `,"storageClassName":"v"`), ""},
		{"invalid apiGroup of a data source", "", claim("1Gi", `,"dataSourceRef":{"apiGroup":"A b","kind":"K","name":"n"}`), kindtest.Errors(
			`spec.dataSource.apiGroup: Invalid value: "A b": `+kindtest.NotSubdomain, `spec.dataSourceRef.apiGroup: Invalid value: "A b": `+kindtest.NotSubdomain)},
		{"unchanged invalid apiGroup of a data source", claim("1Gi", `,"dataSourceRef":{"apiGroup":"A b","kind":"K","name":"n"}`), claim("1Gi", `,"dataSourceRef":{"apiGroup":"A b","kind":"K","name":"n"}`), ""},
		{"changed volumeMode", claim("1Gi", ""), claim("1Gi", `,"volumeMode":"Block"`), "[spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -11,7 +11,7 @@\n  },\n  \"VolumeName\": \"\",\n  \"StorageClassName\": null,\n- \"VolumeMode\": \"Filesystem\",\n+ \"VolumeMode\": \"Block\",\n  \"DataSource\": null,\n  \"DataSourceRef\": null,\n  \"VolumeAttributesClassName\": null\n, volumeMode: Invalid value: \"Block\": field is immutable]"},
	})
	typ := kindtest.TypeOf(t, "persistentvolumeclaims")
	bound := func(body string) map[string]any {
		obj := kindtest.Create(t, typ, body)
		obj["status"] = map[string]any{"phase": "Bound", "capacity": map[string]any{"storage": "1Gi"}, "currentVolumeAttributesClassName": "c"}
		return obj
	}
	assert.Empty(t, typ.Validate(bound(claim("2Gi", "")), object.ViewOf(bound(claim("1Gi", "")))))
	assert.Equal(t, "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity", typ.Validate(bound(claim("1Gi", "")), object.ViewOf(bound(claim("2Gi", "")))).Message())
	assert.Equal(t, "spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when status.currentVolumeAttributesClassName is not nil",
		typ.Validate(bound(claim("1Gi", "")), object.ViewOf(bound(claim("1Gi", `,"volumeAttributesClassName":"c"`)))).Message())
	kindtest.TestStatusValidation(t, "persistentvolumeclaims", []kindtest.ValidationRow{
		{"invalid status", claim("1Gi", ""), `{"status":{"capacity":{"storage":"-1"},"allocatedResourceStatuses":{"storage":"Odd"},"allocatedResources":{"cpu":"1"}}}`,
			`[status.capacity[storage]: Invalid value: -1: must be a valid resource quantity, status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending", status.allocatedResources: Unsupported value: "cpu": supported values: "storage"]`},
	})
	assert.Equal(t, []string{`spec.resources.requests[storage]: fractional byte value "500m" is invalid, must be an integer`}, typ.WarningsOnWrite(kindtest.Decode(t, typ, claim("500m", "")), object.View{}))
}
