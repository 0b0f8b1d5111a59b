package node

import (
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateRuntimeClass(obj map[string]any, old object.View) validation.List {
	if old.IsNil() {
		return validation.Collect(obj, nil, checkHandler, checkRuntimeClassFields)
	}
	changed := !validation.Equal(obj["handler"], old.At("handler"))
	return validation.Collect(obj, nil, func(p validation.View) {
		meta := p.Field("metadata")
		p.AddList(validation.ObjectMeta(meta.Obj, false, validation.SubdomainName, meta.Path))
	}, func(p validation.View) {
		if p.String("handler") == "" {
			p.AddList(validation.Collect(obj, nil, checkHandler).Until(behavior.DeclarativeErrors))
		} else {
			p.CheckChanged(changed, checkHandler)
		}
		checkRuntimeClassFields(p)
		p.ImmutableDeclared("handler", "s", old)
		if p.String("handler") == "" {
			p.AddList(validation.Collect(obj, nil, checkHandler).Since(behavior.DeclarativeErrors))
		}
	})
}

func checkHandler(p validation.View) {
	if p.String("handler") == "" {
		p.Add(validation.Required(p.At("handler"), "").Since(behavior.DeclarativeSpecs).Declarative())
		p.AddList(validation.Each(p.At("handler"), "", validation.DNS1123Label("")).Until(behavior.DeclarativeSpecs))
	} else {
		for _, e := range validation.Each(p.At("handler"), p.String("handler"), validation.DNS1123Label(p.String("handler"))) {
			if inCharacters := e.Detail; inCharacters == "must be no more than 63 characters" {
				e.Detail = "must be no more than 63 bytes"
				e = e.Before(behavior.DeclarativeErrors, validation.Detail(inCharacters))
			}
			p.Add(e.Declarative())
		}
	}
}

func checkRuntimeClassFields(p validation.View) {
	p.IfPresent("overhead", func(overhead validation.View) {
		limits := map[string]any{"limits": object.Map(overhead.Obj, "podFixed")}
		resources.CheckRequirements(validation.View{Obj: limits, Path: overhead.Path, Errs: overhead.Errs}, resources.ValidateContainerResourceName, nil)
	})
	p.IfPresent("scheduling", func(scheduling validation.View) {
		scheduling.Labels("nodeSelector")
		list := scheduling.At("tolerations").String()
		for _, e := range validation.Collect(scheduling.Obj, scheduling.Path, func(p validation.View) { nodes.CheckClassTolerations(p, "tolerations") }) {
			scheduling.Add(e.Before(behavior.TolerationPaths, validation.Field(list+strings.TrimPrefix(e.Field, scheduling.Path.String()))))
		}
		seen := validation.Seen{}
		for _, t := range scheduling.Each("tolerations") {
			id := strings.Join([]string{t.String("key"), t.String("operator"), t.String("value"), t.String("effect")}, "\x00")
			if seen[id] {
				t.Add(validation.Duplicate(t.Path, validation.AsGoType("core.Toleration", t.Obj)))
			}
			seen[id] = true
		}
	})
}

func warnRuntimeClass(obj map[string]any, _ object.View) []string {
	var warnings []string
	selector := object.Map(obj, "scheduling", "nodeSelector")
	for _, key := range validation.SortedKeys(selector) {
		if message := nodes.DeprecatedLabel(key); message != "" {
			warnings = append(warnings, "scheduling.nodeSelector: "+message)
		}
	}
	return warnings
}
