package networking

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateIngressClass(obj map[string]any, old object.View) validation.List {
	var errs validation.List
	if !old.IsNil() {
		errs = validation.ImmutableField(object.String(obj, "spec", "controller"), old.String("spec", "controller"), validation.NewPath("spec").Child("controller"))
	}
	return append(errs, validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), checkIngressClassSpec)...)
}

const ingressControllerMaxLength = 250

func checkIngressClassSpec(p validation.View) {
	if len(p.String("controller")) > ingressControllerMaxLength {
		p.Add(validation.TooLong(p.At("controller"), ingressControllerMaxLength))
	}
	p.AddList(validation.DomainPrefixedPath(p.String("controller"), p.At("controller")))
	p.IfPresent("parameters", checkIngressParameters)
}

func checkIngressParameters(p validation.View) {
	for _, e := range validation.Collect(p.Obj, p.Path, checkTypedReference) {
		if e.Reason == validation.ReasonRequired {
			e.Declarative()
		}
		p.Add(e)
	}
	if !p.Has("scope") {
		p.Required("scope", "")
		return
	}
	switch p.String("scope") {
	case "Namespace":
		if !p.Has("namespace") {
			p.Required("namespace", "`parameters.scope` is set to 'Namespace'")
			return
		}
		p.Format("namespace", validation.DNS1123Label)
	case "Cluster":
		if p.Has("namespace") {
			p.Forbidden("namespace", "`parameters.scope` is set to 'Cluster'")
		}
	default:
		p.Add(validation.NotSupported(p.At("scope"), p.String("scope"), []string{"Cluster", "Namespace"}))
	}
}
