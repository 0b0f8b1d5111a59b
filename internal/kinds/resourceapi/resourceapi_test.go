package resourceapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func TestDefaultDevices(t *testing.T) {
	const one = `{"name":"r","exactly":{"deviceClassName":"c","tolerations":[{"key":"k"}]}}`
	const whole = `{"name":"r","exactly":{"deviceClassName":"c","allocationMode":"ExactCount","count":1,"tolerations":[{"key":"k","operator":"Equal"}]}}`
	kindtest.TestDefaults(t, "resourceclaims.resource.k8s.io", []kindtest.Row{
		{"one", `{"spec":{"devices":{"requests":[` + one + `]}}}`, "spec.devices.requests.0", whole},
		{"choice", `{"spec":{"devices":{"requests":[{"name":"r","firstAvailable":[{"name":"a","deviceClassName":"c","allocationMode":"All"}]}]}}}`, "spec.devices.requests.0.firstAvailable.0", `{"name":"a","deviceClassName":"c","allocationMode":"All"}`},
		{"allocated", `{"status":{"allocation":{"devices":{"results":[{"tolerations":[{"key":"k"}]}]}}}}`, "status.allocation.devices.results.0.tolerations.0.operator", `"Equal"`},
	})
	kindtest.TestDefaults(t, "resourceclaimtemplates.resource.k8s.io", []kindtest.Row{
		{"one", `{"spec":{"spec":{"devices":{"requests":[` + one + `]}}}}`, "spec.spec.devices.requests.0", whole},
	})
}

// An update of an immutable template validates the template, too.
func TestChangedClaimTemplate(t *testing.T) {
	const base = `{"metadata":{"name":"a"},"spec":{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}}}`
	typ := kindtest.TypeOf(t, "resourceclaimtemplates.resource.k8s.io")
	errs := typ.Validate(kindtest.Decode(t, typ, kindtest.MergePatch(t, base, `{"spec":{"metadata":{"finalizers":["a.b/c"]}}}`)), object.ViewOf(kindtest.Decode(t, typ, base)))
	assert.Equal(t, []string{"spec.metadata.finalizers", "spec"}, []string{errs[0].Field, errs[1].Field})
	assert.Empty(t, typ.Validate(kindtest.Decode(t, typ, base), object.ViewOf(kindtest.Decode(t, typ, base))))
}

func TestTaintTimes(t *testing.T) {
	const now, then = "2024-01-02T03:04:06Z", "2024-01-02T03:04:05Z"
	by := resource.Author{Now: now}
	slices := kindtest.TypeOf(t, "resourceslices.resource.k8s.io")
	obj := kindtest.Create(t, slices, `{"spec":{"devices":[{"name":"d","taints":[{"key":"a"},{"key":"b","timeAdded":"`+then+`"}],"attributes":{"x":{"bools":[true]}}}]}}`)
	slices.PrepareWithAuthor(obj, object.View{}, by)
	assert.Equal(t, now, kindtest.At(obj, "spec.devices.0.taints.0.timeAdded"))
	assert.Equal(t, then, kindtest.At(obj, "spec.devices.0.taints.1.timeAdded"))
	assert.Nil(t, kindtest.At(obj, "spec.devices.0.attributes.x.bools"), "field of a disabled feature gate")

	taint := func(effect, time any) map[string]any {
		return map[string]any{"spec": map[string]any{"taint": map[string]any{"effect": effect, "timeAdded": time}}}
	}
	for _, row := range []struct {
		name     string
		obj, old map[string]any
		want     string
	}{
		{"new", taint("A", nil), nil, now},
		{"new and dated", taint("A", then), nil, then},
		{"same effect", taint("A", then), taint("A", then), then},
		{"another effect", taint("B", then), taint("A", then), now},
		{"another effect and date", taint("B", "2024-01-01T00:00:00Z"), taint("A", then), "2024-01-01T00:00:00Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			kindtest.TypeOf(t, "devicetaintrules.resource.k8s.io").PrepareWithAuthor(row.obj, object.ViewOf(row.old), by)
			assert.Equal(t, row.want, kindtest.At(row.obj, "spec.taint.timeAdded"))
		})
	}
}
