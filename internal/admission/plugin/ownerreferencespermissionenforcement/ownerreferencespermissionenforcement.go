// Package ownerreferencespermissionenforcement is the
// OwnerReferencesPermissionEnforcement admission plugin. It checks who may change the
// owners of an object.
package ownerreferencespermissionenforcement

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Validator].
type Plugin struct{}

var _ admission.Validator = Plugin{}

// Name returns "OwnerReferencesPermissionEnforcement".
func (Plugin) Name() string { return "OwnerReferencesPermissionEnforcement" }

// Resources returns nil: all resources.
func (Plugin) Resources() []status.GroupResource { return nil }

// Validate refuses a change of the owners of an object that the user may not delete. A
// new reference that blocks the deletion of the owner needs the permission to update
// the owner's finalizers.
func (Plugin) Validate(a *admission.Attributes) error {
	if a.Type.Group == "" && a.Type.Name == "pods" && a.Subresource == "status" {
		return nil
	}
	owners, before := references(object.ViewOf(a.Object)), references(a.Old)
	if owners.Len() == before.Len() && (owners.Len() == 0 || owners.Equal(before)) {
		return nil
	}
	if a.Operation != admission.Create {
		at := authz.Attributes{
			Verb: "delete", IsResource: true,
			Group: a.Type.Group, Version: a.Type.Version, Resource: a.Type.Name, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name,
		}
		if d := a.Access.Authorize(at); !d.Allowed {
			return fmt.Errorf("cannot set an ownerRef on a resource you can't delete: %v, <nil>", d.Reason)
		}
	}
	blocking := newBlocking(owners, before)
	if len(blocking) == 0 {
		return nil
	}
	anything := authz.Attributes{Verb: "update", IsResource: true, Group: "*", Version: authz.AnyVersion, Resource: "*", Subresource: "finalizers", Name: "*"}
	if a.Access.Authorize(anything).Allowed {
		return nil
	}
	for _, owner := range blocking {
		if err := checkBlocking(a, owner); err != nil {
			return err
		}
	}
	return nil
}

func references(obj object.View) object.View { return obj.At("metadata", "ownerReferences") }

// newBlocking returns the owners whose deletion the object blocks, and did not block
// before.
func newBlocking(owners, before object.View) (out []object.View) {
	blocked := map[string]bool{}
	for owner := range before.Objects() {
		if owner.Bool("blockOwnerDeletion") {
			blocked[owner.String("uid")] = true
		}
	}
	for owner := range owners.Objects() {
		if owner.Bool("blockOwnerDeletion") && !blocked[owner.String("uid")] {
			out = append(out, owner)
		}
	}
	return out
}

// checkBlocking fails if the user may not update the finalizers of an owner.
func checkBlocking(a *admission.Attributes, owner object.View) error {
	version, kind := owner.String("apiVersion"), owner.String("kind")
	gv, err := resource.ParseGroupVersion(version)
	m := mappingOf(a.Access.Types(), resource.Kind{GroupVersion: gv, Kind: kind})
	if err != nil || m == nil {
		return fmt.Errorf("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion %s Kind %s: no matches for kind %q in version %q", version, kind, kind, version)
	}
	at := authz.Attributes{
		Verb: "update", IsResource: true,
		Group: gv.Group, Version: gv.Version, Resource: m.resource, Subresource: "finalizers", Name: owner.String("name"),
	}
	if m.namespaced {
		at.Namespace = a.Namespace
	}
	if d := a.Access.Authorize(at); !d.Allowed {
		return fmt.Errorf("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: %v, <nil>", d.Reason)
	}
	return nil
}

// A mapping is the resource of a kind.
type mapping struct {
	resource   string
	namespaced bool
}

// mappingOf returns the resource of a kind, or nil. Like the mapper of kube-apiserver, it has
// kinds in lower case too, and guesses a resource for the lists of a kind and for List.
func mappingOf(types *resource.Types, kind resource.Kind) *mapping {
	if t := types.ForKind(kind); t != nil {
		return &mapping{t.Name, t.Namespaced}
	}
	if kind.Kind == "List" && types.ServesVersion(kind.GroupVersion) {
		return &mapping{"lists", false}
	}
	if item, ok := strings.CutSuffix(kind.Kind, "List"); ok {
		if t := types.ForKind(resource.Kind{GroupVersion: kind.GroupVersion, Kind: item}); t != nil {
			return &mapping{strings.ToLower(kind.Kind) + "s", t.Namespaced}
		}
	}
	for t := range types.All() {
		if t.GroupVersion == kind.GroupVersion && strings.ToLower(t.Kind) == kind.Kind {
			return &mapping{t.Name, t.Namespaced}
		}
	}
	return nil
}
