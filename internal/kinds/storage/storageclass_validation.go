package storage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

const (
	maxParameters     = 512
	maxParametersSize = 256 << 10
	maxVolumeMessage  = 1024
	maxNodeID         = 256
)

func validateStorageClass(obj map[string]any, old object.View) validation.List {
	if old.IsNil() {
		return validation.Collect(obj, nil, checkStorageClass)
	}
	return validation.Collect(obj, nil, checkStorageClass, func(p validation.View) {
		if _, empty := p.Obj["parameters"].(object.EmptyMap); empty && old.IsNil("parameters") {
			p.Add(validation.Forbidden(p.At("parameters"), "updates to parameters are forbidden.").Until(behavior.DeclarativeSpecs)) // not equal to none
		}
		for _, f := range []struct{ name, typ string }{{"parameters", "{}s"}, {"provisioner", "s"}, {"reclaimPolicy", "*s"}} {
			if !validation.Equal(p.Obj[f.name], old.At(f.name)) {
				p.Add(validation.Invalid(p.At(f.name), nil, "field is immutable").Before(behavior.DeclarativeSpecs, validation.Instead(validation.Forbidden(p.At(f.name), "updates to "+f.name+" are forbidden."))).
					Before(behavior.DeclarativeErrors, validation.Value(validation.AsGoType(f.typ, p.Obj[f.name]))).Declarative())
			}
		}
		p.ImmutableDeclared("volumeBindingMode", "*s", old)
	})
}

func checkStorageClass(p validation.View) {
	if p.RequireDeclared("provisioner") {
		checkDriver(p, "provisioner")
	}
	checkParameters(p)
	if p.String("reclaimPolicy") != "" {
		p.OneOf("reclaimPolicy", "Delete", "Retain")
	}
	if !p.Has("volumeBindingMode") {
		p.Required("volumeBindingMode", "")
	} else {
		p.OneOf("volumeBindingMode", "Immediate", "WaitForFirstConsumer")
	}
	// terms starts with a nil map for each term, so that an empty term causes an
	// additional duplicate error for each term, as in kube-apiserver.
	terms := make([]map[string][]string, p.Len("allowedTopologies"))
	for _, term := range p.Each("allowedTopologies") {
		values := checkTopologyTerm(term)
		for _, other := range terms {
			if maps.EqualFunc(values, other, slices.Equal) {
				term.Duplicate("matchLabelExpressions", "")
			}
		}
		terms = append(terms, values)
	}
}

// checkDriver checks the name of a provisioner or a driver, which is not empty.
func checkDriver(p validation.View, name string) {
	lower := strings.ToLower(p.String(name))
	p.AddList(validation.Each(p.At(name), lower, validation.QualifiedName(lower)))
}

// checkParameters checks the parameters of a driver.
func checkParameters(p validation.View) {
	if p.Len("parameters") > maxParameters {
		p.Add(validation.TooLong(p.At("parameters"), maxParameters))
		return
	}
	size := 0
	for key, v := range p.Entries("parameters") {
		if key == "" {
			p.Add(validation.Invalid(p.At("parameters"), key, "field can not be empty."))
		}
		value, _ := v.(string)
		size += len(key) + len(value)
	}
	if size > maxParametersSize {
		p.Add(validation.TooLong(p.At("parameters"), maxParametersSize))
	}
}

func warnStorageClass(obj map[string]any, _ object.View) []string {
	var warnings []string
	for _, term := range (validation.View{Obj: obj}).Each("allowedTopologies") {
		for _, e := range term.Each("matchLabelExpressions") {
			if message := nodes.DeprecatedLabel(e.String("key")); message != "" {
				warnings = append(warnings, fmt.Sprintf("%s: %s", e.At("key"), message))
			}
		}
	}
	return warnings
}

// checkTopologyTerm checks a term of allowedTopologies, and returns its values, sorted,
// by key.
func checkTopologyTerm(p validation.View) map[string][]string {
	out := map[string][]string{}
	for _, e := range p.Each("matchLabelExpressions") {
		e.Require("values")
		values, seen := e.Strings("values"), validation.Seen{}
		for i, value := range values {
			if seen[value] {
				e.Add(validation.Duplicate(e.At("values").Index(i), value))
			}
			seen[value] = true
		}
		key := e.String("key")
		e.AddList(validation.LabelKey(key, e.At("key")))
		if _, twice := out[key]; twice {
			e.Duplicate("key", key)
		}
		slices.Sort(values)
		out[key] = slices.Compact(values)
	}
	return out
}
