package networking

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateIPAddress(obj map[string]any, old object.View) validation.List {
	changed := !old.IsNil() && !validation.Equal(object.Value(obj, "spec", "parentRef"), old.At("spec", "parentRef"))
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(p validation.View) {
		p.CheckChanged(changed && p.Has("parentRef"), checkIPAddressSpec)
	}, func(p validation.View) {
		if !old.IsNil() {
			p.ImmutableDeclared("parentRef", "*networking.ParentReference", old.At("spec"))
		}
	})
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
