package resourceapi

import (
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func (d deviceRules) validateClass(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec validation.View) {
		checkItems(spec, "selectors", maxDeviceSelectors, d.checkSelector)
		checkItems(spec, "config", maxDeviceConfigs, checkOpaqueConfig)
		if spec.Has("extendedResourceName") {
			checkExtendedResource(spec, "extendedResourceName")
		}
	})
}

// checkExtendedResource checks the name of an extended resource. Before v1.37 all errors
// were one.
func checkExtendedResource(p validation.View, field string) {
	name := p.String(field)
	if !resources.IsExtended(name) {
		p.Add(validation.Invalid(p.At(field), p.Obj[field], "must be a valid extended resource name").Until(behavior.DeclarativeErrors))
	}
	var details []string
	if !strings.Contains(name, "/") {
		details = append(details, "a name must be a domain-prefixed path, such as 'example.com/my-prop'")
	} else if strings.Contains(name, "kubernetes.io/") {
		details = append(details, `must not have "kubernetes.io/" domain`)
	}
	if strings.HasPrefix(name, "requests.") {
		details = append(details, `must not have "requests." prefix`)
	}
	details = append(details, validation.QualifiedName("requests."+name)...)
	p.AddList(validation.Each(p.At(field), p.Obj[field], details).Since(behavior.DeclarativeErrors).Declarative())
}
