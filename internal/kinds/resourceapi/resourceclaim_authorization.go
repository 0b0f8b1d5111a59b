package resourceapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// claimAuthority checks that who writes a claim or its status may do what that
// does: have access to devices in use, allocate devices, report on them.
//
// See https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/.
func claimAuthority(w *resource.Write) validation.List {
	errs := adminAccess(w)
	if w.Old == nil {
		return errs
	}
	now, was := object.Map(w.Object, "status"), object.Map(w.Old, "status")
	path := validation.NewPath("status")
	if !validation.Equal(now["allocation"], was["allocation"]) || !validation.Equal(now["reservedFor"], was["reservedFor"]) {
		if err := w.Authorize(w.Verb, "binding", "", ""); err != nil {
			errs = append(errs, validation.Forbidden(path.Child("allocation"), fmt.Sprintf(
				"changing status.allocation or status.reservedFor requires resource=%q, verb=%q permission: %s", "resourceclaims/binding", w.Verb, err)))
		}
	}
	if now["allocation"] == nil {
		return errs // what is said of devices is dropped
	}
	verbs := []string{"arbitrary-node:" + w.Verb}
	if node := boundNode(w.Author); node != "" && node == allocatedNode(now) {
		verbs = slices.Insert(verbs, 0, "associated-node:"+w.Verb)
	}
	for _, driver := range changedDrivers(now, was) {
		if err := mayReport(w, verbs, driver); err != nil {
			errs = append(errs, validation.Forbidden(path.Child("devices"), fmt.Sprintf(
				"changing status.devices requires resource=%q, verb=%q permission: %s", "resourceclaims/driver", fmt.Sprint(verbs), err)))
		}
	}
	return errs
}

// mayReport returns an error if the author may not report on a driver's devices: any of the
// verbs will do.
func mayReport(w *resource.Write, verbs []string, driver string) (first error) {
	for _, verb := range verbs {
		err := w.Authorize(verb, "driver", object.String(w.Object, "metadata", "namespace"), driver)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// changedDrivers are the drivers whose devices are reported on otherwise than
// before, sorted.
func changedDrivers(now, was map[string]any) []string {
	key := func(device map[string]any) string {
		return strings.Join([]string{object.String(device, "driver"), object.String(device, "pool"), object.String(device, "device"), object.String(device, "shareID")}, "/")
	}
	before := map[string]map[string]any{}
	for device := range object.Each(was["devices"]) {
		before[key(device)] = device
	}
	drivers := map[string]bool{}
	for device := range object.Each(now["devices"]) {
		k := key(device)
		if old, ok := before[k]; !ok || !validation.Equal(device, old) {
			drivers[object.String(device, "driver")] = true
		}
		delete(before, k)
	}
	for _, gone := range before {
		drivers[object.String(gone, "driver")] = true
	}
	return slices.Sorted(maps.Keys(drivers))
}

// boundNode is the node that the token of a service account is bound to, "" if
// that is not who.
func boundNode(author resource.Author) string {
	nodes := author.Extra[authn.ExtraNodeName]
	if _, _, ok := authn.SplitServiceAccount(author.Name); !ok || len(nodes) != 1 {
		return ""
	}
	return nodes[0]
}

// allocatedNode is the one node that a claim's devices are allocated on, "" if
// there is not one alone.
func allocatedNode(status map[string]any) string {
	terms := object.List(status, "allocation", "nodeSelector", "nodeSelectorTerms")
	if len(terms) != 1 {
		return ""
	}
	term, _ := terms[0].(map[string]any)
	fields := object.List(term, "matchFields")
	if len(object.List(term, "matchExpressions")) > 0 || len(fields) != 1 {
		return ""
	}
	field, _ := fields[0].(map[string]any)
	values := object.Strings(field, "values")
	if field["key"] != "metadata.name" || field["operator"] != "In" || len(values) != 1 {
		return ""
	}
	return values[0]
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
