package kinds

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func defaultResourceClaim(obj map[string]any) {
	defaultDeviceRequests(object.Map(obj, "spec"))
	for result := range object.Each(object.Value(obj, "status", "allocation", "devices", "results")) {
		defaultDeviceTolerations(result)
	}
}

func defaultResourceClaimTemplate(obj map[string]any) {
	defaultDeviceRequests(object.Map(obj, "spec", "spec"))
}

// defaultDeviceRequests completes the requests of a claim's specification. In
// v1beta1 a request for one class is the request itself.
func defaultDeviceRequests(spec map[string]any) {
	for request := range object.Each(object.Value(spec, "devices", "requests")) {
		if exactly := object.Map(request, "exactly"); exactly != nil {
			defaultDeviceRequest(exactly)
		}
		for choice := range object.Each(request["firstAvailable"]) {
			defaultDeviceRequest(choice)
		}
		if object.String(request, "deviceClassName") != "" {
			defaultDeviceRequest(request)
		}
	}
}

func defaultDeviceRequest(request map[string]any) {
	fillZero(request, "allocationMode", "ExactCount")
	if request["allocationMode"] == "ExactCount" {
		fillZero(request, "count", int64(1))
	}
	defaultDeviceTolerations(request)
}

func defaultDeviceTolerations(request map[string]any) {
	for toleration := range object.Each(request["tolerations"]) {
		fillZero(toleration, "operator", "Equal")
	}
}

// prepareResourceSlice drops what disabled feature gates hold back.
func prepareResourceSlice(obj, _ map[string]any) {
	for device := range devices(obj) {
		delete(device, "nodeAllocatableResourceMappings")
		for _, v := range object.Map(device, "attributes") {
			attribute, _ := v.(map[string]any)
			for _, list := range []string{"bools", "ints", "strings", "versions"} {
				delete(attribute, list)
			}
		}
	}
}

// devices are the devices of a slice. In v1beta1 what describes one stands a
// level lower.
func devices(slice map[string]any) func(yield func(map[string]any) bool) {
	return func(yield func(map[string]any) bool) {
		for device := range object.Each(object.Value(slice, "spec", "devices")) {
			if basic := object.Map(device, "basic"); basic != nil {
				device = basic
			}
			if !yield(device) {
				return
			}
		}
	}
}

// stampResourceSlice dates the taints of devices.
func stampResourceSlice(obj, _ map[string]any, by resource.Author) {
	for device := range devices(obj) {
		for taint := range object.Each(device["taints"]) {
			fill(taint, "timeAdded", by.Now)
		}
	}
}

// stampTaintRule dates a rule's taint, and anew when its effect changes.
func stampTaintRule(obj, old map[string]any, by resource.Author) {
	taint, before := object.Map(obj, "spec", "taint"), object.Map(old, "spec", "taint")
	switch {
	case taint == nil:
	case taint["timeAdded"] == nil,
		before != nil && !same(taint, before, "effect") && same(taint, before, "timeAdded"):
		taint["timeAdded"] = by.Now
	}
}
