package networking

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateIPAddress(obj, old map[string]any) validation.List {
	errs := validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), checkIPAddressSpec)
	if old != nil {
		for _, e := range validation.ImmutableField(parentOf(obj), parentOf(old), validation.NewPath("spec").Child("parentRef")) {
			quoted := e.BadValue
			e.BadValue = nil
			errs = append(errs, e.Before(behavior.DeclarativeErrors, validation.Value(quoted)).Declarative())
		}
	}
	return errs
}

func checkIPAddressSpec(p validation.View) {
	parent, ok := p.Lookup("parentRef")
	if !ok {
		p.RequireDeclared("parentRef")
		return
	}
	parent.FormatIfSet("group", validation.DNS1123Subdomain)
	for _, name := range []string{"resource", "name"} {
		if parent.RequireDeclared(name) {
			parent.Format(name, validation.PathSegment)
		}
	}
	parent.FormatIfSet("namespace", validation.PathSegment)
}

// parentOf returns spec.parentRef of an IPAddress as error messages print it.
func parentOf(address map[string]any) unversioned.Value {
	return validation.AsGoType("*networking.ParentReference", object.Value(address, "spec", "parentRef"))
}
