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

// authorizeClaim checks that the author of a write to a claim or its status may use
// admin access, change the allocation and change the status of devices.
//
// See https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/.
func authorizeClaim(w *resource.Write) validation.List {
	errs := checkAdminAccess(w)
	if w.Old.IsNil() {
		return errs
	}
	now, was := object.Map(w.Object, "status"), w.Old.At("status")
	path := validation.NewPath("status")
	if !validation.Equal(now["allocation"], was.At("allocation")) || !validation.Equal(now["reservedFor"], was.At("reservedFor")) {
		if err := w.Authorize(w.Verb, "binding", "", ""); err != nil {
			errs = append(errs, validation.Forbidden(path.Child("allocation"), fmt.Sprintf(
				"changing status.allocation or status.reservedFor requires resource=%q, verb=%q permission: %s", "resourceclaims/binding", w.Verb, err)))
		}
	}
	if now["allocation"] == nil {
		return errs // the status of devices is dropped
	}
	verbs := []string{"arbitrary-node:" + w.Verb}
	if node := boundNode(w.Author); node != "" && node == allocatedNode(now) {
		verbs = slices.Insert(verbs, 0, "associated-node:"+w.Verb)
	}
	for _, driver := range changedDrivers(now, was) {
		if err := authorizeDriver(w, verbs, driver); err != nil {
			errs = append(errs, validation.Forbidden(path.Child("devices"), fmt.Sprintf(
				"changing status.devices requires resource=%q, verb=%q permission: %s", "resourceclaims/driver", fmt.Sprint(verbs), err)))
		}
	}
	return errs
}

// authorizeDriver returns nil if the author may use one of the verbs on the devices of
// the driver, and the first error otherwise.
func authorizeDriver(w *resource.Write, verbs []string, driver string) (first error) {
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

// changedDrivers returns the sorted drivers whose device statuses differ.
func changedDrivers(now map[string]any, was object.View) []string {
	key := func(device object.View) string {
		return strings.Join([]string{device.String("driver"), device.String("pool"), device.String("device"), device.String("shareID")}, "/")
	}
	before := map[string]object.View{}
	for device := range was.At("devices").Objects() {
		before[key(device)] = device
	}
	drivers := map[string]bool{}
	for device := range object.ViewOf(now["devices"]).Objects() {
		k := key(device)
		if old, ok := before[k]; !ok || !validation.Equal(device, old) {
			drivers[device.String("driver")] = true
		}
		delete(before, k)
	}
	for _, gone := range before {
		drivers[gone.String("driver")] = true
	}
	return slices.Sorted(maps.Keys(drivers))
}

// boundNode returns the node that the author's service account token is bound to, or
// "".
func boundNode(author resource.Author) string {
	nodes := author.Extra[authn.ExtraNodeName]
	if _, _, ok := authn.SplitServiceAccount(author.Name); !ok || len(nodes) != 1 {
		return ""
	}
	return nodes[0]
}

// allocatedNode returns the node that a claim's devices are allocated on, or "" if
// they are not allocated on exactly one.
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

// adminAccessLabel is the label of namespaces in which claims may request admin
// access: access to devices that are in use.
const adminAccessLabel = "resource.kubernetes.io/admin-access"

// checkAdminAccess checks that new claims and templates with admin access, and statuses
// that first allocate it, are in a namespace with adminAccessLabel.
//
// See https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/#admin-access.
func checkAdminAccess(w *resource.Write) validation.List {
	path := adminAccessRequest(w.Object)
	if !w.Old.IsNil() {
		path = adminAccessResult(object.ViewOf(w.Object))
		if adminAccessResult(w.Old) != nil {
			return nil
		}
	}
	if path == nil {
		return nil
	}
	namespace := w.Get(resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Namespace"}, "", object.String(w.Object, "metadata", "namespace"))
	if namespace.String("metadata", "labels", adminAccessLabel) == "true" {
		return nil
	}
	return validation.List{validation.Forbidden(path, "admin access to devices requires the `"+adminAccessLabel+": true` label on the containing namespace")}
}

// adminAccessRequest returns the path of the first request for admin access, or nil.
func adminAccessRequest(obj map[string]any) *validation.Path {
	return firstAdminAccess(object.ViewOf(claimRequests(obj)), validation.NewPath("spec", "devices", "requests"), "exactly", "adminAccess")
}

func adminAccessResult(claim object.View) *validation.Path {
	results := claim.At("status", "allocation", "devices", "results")
	return firstAdminAccess(results, validation.NewPath("status", "allocation", "devices", "results"), "adminAccess")
}

func firstAdminAccess(list object.View, path *validation.Path, member ...string) *validation.Path {
	for i, e := range list.Items() {
		if e.Bool(member...) {
			return path.Index(i).Child("adminAccess")
		}
	}
	return nil
}
