package resourceapi_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// inV1beta1 returns version v1beta1 of a type of the group resource.k8s.io.
func inV1beta1(t testing.TB, stored *resource.Type) *resource.Type {
	t.Helper()
	i := slices.IndexFunc(stored.Versions, func(v *resource.Type) bool { return v.Version == "v1beta1" })
	require.GreaterOrEqual(t, i, 0)
	return stored.Versions[i]
}

func TestDeviceVersions(t *testing.T) {
	for _, r := range []struct{ name, resource, stored, path, want string }{
		{"one class", "resourceclaims", `{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","count":2}}]}}}`,
			"spec.devices.requests.0", `{"name":"r","deviceClassName":"c","allocationMode":"ExactCount","count":2}`},
		{"choice", "resourceclaims", `{"spec":{"devices":{"requests":[{"name":"r","firstAvailable":[{"name":"a","deviceClassName":"c","allocationMode":"All"}]}]}}}`,
			"spec.devices.requests.0", `{"name":"r","deviceClassName":"","firstAvailable":[{"name":"a","deviceClassName":"c","allocationMode":"All"}]}`},
		{"template", "resourceclaimtemplates", `{"spec":{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","adminAccess":true}}]}}}}`,
			"spec.spec.devices.requests.0", `{"name":"r","deviceClassName":"c","allocationMode":"ExactCount","count":1,"adminAccess":true}`},
		{"device", "resourceslices", `{"spec":{"devices":[{"name":"d","nodeName":"n","taints":[{"key":"k","effect":"NoSchedule"}]}]}}`,
			"spec.devices.0", `{"name":"d","basic":{"nodeName":"n","taints":[{"key":"k","effect":"NoSchedule"}]}}`},
		{"device with only a name", "resourceslices", `{"spec":{"devices":[{"name":"d"}]}}`, "spec.devices.0", `{"name":"d","basic":{}}`},
		{"class", "deviceclasses", `{"spec":{"selectors":[{"cel":{"expression":"true"}}]}}`, "spec.selectors.0.cel.expression", `"true"`},
	} {
		t.Run(r.name, func(t *testing.T) {
			stored := kindtest.TypeOf(t, r.resource+".resource.k8s.io")
			obj := kindtest.Decode(t, stored, r.stored)
			other := kindtest.Convert(t, inV1beta1(t, stored), obj)
			kindtest.CheckRow(t, kindtest.Row{r.name, "", r.path, r.want}, other)
			assert.Equal(t, obj, kindtest.Convert(t, stored, other), "round trip")
		})
	}
}

// SetFrom changes the caller's metadata, not a copy.
func TestSetFromKeepsMetadataMap(t *testing.T) {
	stored := kindtest.TypeOf(t, "resourceslices.resource.k8s.io")
	typ := inV1beta1(t, stored)
	obj := kindtest.Decode(t, typ, `{"metadata":{"name":"a","uid":"u"}}`)
	meta := object.Meta(obj)
	assert.NoError(t, typ.SetFrom(obj, kindtest.Decode(t, stored, `{"metadata":{"name":"b"},"spec":{"nodeName":"n"}}`)))
	assert.True(t, object.Same(meta, obj["metadata"]))
	assert.Equal(t, map[string]any{"name": "b"}, meta)
	assert.Equal(t, "n", object.String(obj, "spec", "nodeName"))
}

func TestSliceFieldLabelError(t *testing.T) {
	stored := kindtest.TypeOf(t, "resourceslices.resource.k8s.io")
	assert.Equal(t, "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: a", stored.FieldLabelError("a"))
	assert.Equal(t, "field label not supported for resource.k8s.io/v1beta1, Kind=ResourceSlice: a", inV1beta1(t, stored).FieldLabelError("a"))
}

func TestAdminAccess(t *testing.T) {
	cluster := kindtest.Reader(t, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"plain"}}`,
		`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"admin","labels":{"resource.kubernetes.io/admin-access":"true"}}}`)
	const (
		claim    = `"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"c"}},{"name":"b","exactly":{"deviceClassName":"c","adminAccess":true}}]}}`
		template = `"spec":{` + claim + `}`
		granted  = `"status":{"allocation":{"devices":{"results":[{"request":"b","driver":"d","pool":"p","device":"x","adminAccess":true}]}}}`
		detail   = ": Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace"
	)
	for _, r := range []struct{ name, resource, namespace, body, old, want string }{
		{"claim", "resourceclaims", "plain", claim, "", "spec.devices.requests[1].adminAccess" + detail},
		{"claim in the namespace for it", "resourceclaims", "admin", claim, "", ""},
		{"claim without", "resourceclaims", "plain", `"spec":{}`, "", ""},
		{"template", "resourceclaimtemplates", "plain", template, "", "spec.devices.requests[1].adminAccess" + detail},
		{"granted", "resourceclaims", "plain", granted, `"spec":{}`, "status.allocation.devices.results[0].adminAccess" + detail},
		{"granted before", "resourceclaims", "plain", granted, granted, ""},
		{"granted in the namespace for it", "resourceclaims", "admin", granted, `"spec":{}`, ""},
		{"updated", "resourceclaims", "plain", claim, claim, ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			stored := kindtest.TypeOf(t, r.resource+".resource.k8s.io")
			meta := `{"metadata":{"namespace":"` + r.namespace + `"},`
			w := &resource.Write{Object: kindtest.Decode(t, stored, meta+r.body+`}`), Reader: cluster, Authorize: authorizeAll}
			if r.old != "" {
				w.Old = object.ViewOf(kindtest.Decode(t, stored, meta+r.old+`}`))
			}
			assert.Equal(t, r.want, stored.ValidateInNamespace(w).Message())
			typ := inV1beta1(t, stored)
			other := &resource.Write{Object: kindtest.Convert(t, typ, w.Object), Reader: cluster, Authorize: authorizeAll}
			if !w.Old.IsNil() {
				other.Old = object.ViewOf(kindtest.Convert(t, typ, w.Old.CopyObject()))
			}
			assert.Equal(t, r.want, typ.ValidateInNamespace(other).Message(), "in another version")
		})
	}
}
