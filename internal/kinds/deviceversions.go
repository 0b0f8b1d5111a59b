package kinds

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// exactMembers are what a request for devices of one class is made of. Version
// v1beta1 has them in the request itself, later ones in its member exactly.
var exactMembers = []string{"deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity"}

// claimRequests are the requests of a claim, or of the claim in a template.
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
		for _, name := range exactMembers {
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

func claimToV1beta1(obj map[string]any) map[string]any {
	for request := range object.Each(claimRequests(obj)) {
		exactly := object.Map(request, "exactly")
		for _, name := range exactMembers {
			object.Keep(request, exactly, name)
		}
		delete(request, "exactly")
	}
	return obj
}

// sliceFromV1beta1 raises what describes a device, which stands a level lower in
// version v1beta1.
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

func sliceToV1beta1(obj map[string]any) map[string]any {
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

// unknownSliceField words the refusal of a field label, which names the version.
func unknownSliceField(t *resource.Type) func(label string) string {
	return func(label string) string {
		return fmt.Sprintf("field label not supported for %s, Kind=%s: %s", t.GroupVersion, t.Kind, label)
	}
}

// adminNamespaces is the label of the namespaces in which claims may ask for
// access to devices that are in use.
const adminNamespaces = "resource.kubernetes.io/admin-access"

// adminAccess checks that a new claim or template asks for administrative access
// to devices in a namespace for that, and that a status gives it first in such a
// one.
//
// See https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/#admin-access.
func adminAccess(w *resource.Write) validation.List {
	path := adminAccessRequest(w.Object)
	if w.Old != nil {
		path = adminAccessResult(w.Object)
		if adminAccessResult(w.Old) != nil {
			return nil
		}
	}
	if path == nil {
		return nil
	}
	namespace := w.Get(resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Namespace"}, "", object.String(w.Object, "metadata", "namespace"))
	if object.String(namespace, "metadata", "labels", adminNamespaces) == "true" {
		return nil
	}
	return validation.List{validation.Forbidden(path, "admin access to devices requires the `"+adminNamespaces+": true` label on the containing namespace")}
}

// adminAccessRequest is the path of the first request for administrative access,
// nil if there is none.
func adminAccessRequest(obj map[string]any) *validation.Path {
	requests, _ := claimRequests(obj).([]any)
	return firstAdminAccess(requests, validation.NewPath("spec", "devices", "requests"), "exactly", "adminAccess")
}

func adminAccessResult(claim map[string]any) *validation.Path {
	results := object.List(claim, "status", "allocation", "devices", "results")
	return firstAdminAccess(results, validation.NewPath("status", "allocation", "devices", "results"), "adminAccess")
}

func firstAdminAccess(list []any, path *validation.Path, member ...string) *validation.Path {
	for i, e := range list {
		if item, ok := e.(map[string]any); ok && object.Bool(item, member...) {
			return path.Index(i).Child("adminAccess")
		}
	}
	return nil
}
