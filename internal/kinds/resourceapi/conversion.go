package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// exactRequestFields are the fields of an ExactDeviceRequest. Version v1beta1 has them
// in the DeviceRequest itself, later versions in its field exactly.
var exactRequestFields = []string{"deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity"}

// claimRequests returns the device requests of a claim or of a claim template.
func claimRequests(obj map[string]any) any {
	spec := object.Map(obj, "spec")
	if obj["kind"] == "ResourceClaimTemplate" {
		spec = object.Map(spec, "spec")
	}
	return object.Value(spec, "devices", "requests")
}

func claimFromV1beta1(obj map[string]any) map[string]any {
	for request := range object.Each(claimRequests(obj)) {
		exactly := map[string]any{}
		for _, name := range exactRequestFields {
			if v, ok := request[name]; ok && v != "" {
				exactly[name] = v
			}
			delete(request, name)
		}
		if len(exactly) > 0 {
			request["exactly"] = exactly
		}
	}
	return obj
}

func claimToV1beta1(_ int, obj map[string]any) map[string]any {
	for request := range object.Each(claimRequests(obj)) {
		exactly := object.Map(request, "exactly")
		for _, name := range exactRequestFields {
			object.Keep(request, object.ViewOf(exactly), name)
		}
		delete(request, "exactly")
	}
	return obj
}

// sliceFromV1beta1 moves the fields of each device out of its field basic, which only
// v1beta1 has.
func sliceFromV1beta1(obj map[string]any) map[string]any {
	for device := range object.Each(object.Value(obj, "spec", "devices")) {
		basic := object.Map(device, "basic")
		delete(device, "basic")
		for name, v := range basic {
			device[name] = v
		}
	}
	return obj
}

func sliceToV1beta1(_ int, obj map[string]any) map[string]any {
	for device := range object.Each(object.Value(obj, "spec", "devices")) {
		basic := map[string]any{}
		for name, v := range device {
			if name != "name" {
				basic[name] = v
				delete(device, name)
			}
		}
		device["basic"] = basic
	}
	return obj
}

// Conversions returns the conversions of the versions that are not stored.
func Conversions() map[kind.VersionedResource]kind.Conversion {
	v1 := resource.GroupVersion{Group: "resource.k8s.io", Version: "v1"}
	v1alpha3 := resource.GroupVersion{Group: "resource.k8s.io", Version: "v1alpha3"}
	v1beta1 := resource.GroupVersion{Group: "resource.k8s.io", Version: "v1beta1"}
	v1beta2 := resource.GroupVersion{Group: "resource.k8s.io", Version: "v1beta2"}
	return map[kind.VersionedResource]kind.Conversion{
		{GroupVersion: v1beta1, Name: "deviceclasses"}:          {},
		{GroupVersion: v1beta1, Name: "resourceclaims"}:         {ToStored: claimFromV1beta1, FromStored: claimToV1beta1},
		{GroupVersion: v1beta1, Name: "resourceclaimtemplates"}: {ToStored: claimFromV1beta1, FromStored: claimToV1beta1},
		{GroupVersion: v1beta1, Name: "resourceslices"}:         {ToStored: sliceFromV1beta1, FromStored: sliceToV1beta1},
		{GroupVersion: v1beta2, Name: "deviceclasses"}:          {},
		{GroupVersion: v1alpha3, Name: "devicetaintrules"}:      {},
		{GroupVersion: v1beta2, Name: "devicetaintrules"}:       {},
		{GroupVersion: v1, Name: "devicetaintrules"}:            {},
		{GroupVersion: v1beta2, Name: "resourceclaims"}:         {},
		{GroupVersion: v1beta2, Name: "resourceclaimtemplates"}: {},
		{GroupVersion: v1beta2, Name: "resourceslices"}:         {},
	}
}
