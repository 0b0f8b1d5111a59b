package resourceapi

import (
	"github.com/kubefake/kubefake/internal/object"
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

// defaultDeviceRequests sets the defaults of the device requests in a claim's spec.
// v1beta1 has no field exactly: its fields are in the request itself.
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
		defaultDeviceTolerations(request)
	}
}

func defaultDeviceRequest(request map[string]any) {
	object.SetDefaultIfZero(request, "allocationMode", "ExactCount")
	if request["allocationMode"] == "ExactCount" {
		object.SetDefaultIfZero(request, "count", int64(1))
	}
	defaultDeviceTolerations(request)
}

func defaultDeviceTolerations(request map[string]any) {
	for toleration := range object.Each(request["tolerations"]) {
		object.SetDefaultIfZero(toleration, "operator", "Equal")
	}
}
