package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateQuota(obj map[string]any, old object.View) validation.List {
	if old.IsNil() {
		return validation.Collect(obj, nil, func(p validation.View) {
			checkQuotaSpec(p.Field("spec"))
			checkQuotaStatus(p.Field("status"))
		})
	}
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), checkQuotaSpec, func(p validation.View) {
		now, was := p.Strings("scopes"), old.Strings("spec", "scopes")
		slices.Sort(now)
		slices.Sort(was)
		if !slices.Equal(slices.Compact(now), slices.Compact(was)) {
			p.Add(validation.Invalid(p.At("scopes"), validation.AsGoType("[]s", p.Obj["scopes"]), "field is immutable"))
		}
	})
}

func validateQuotaStatus(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), checkQuotaStatus)
}

func checkQuotaStatus(p validation.View) {
	checkQuotaList(p, "hard")
	checkQuotaList(p, "used")
}

// checkQuotaList checks the resource names and quantities of a list.
func checkQuotaList(p validation.View, list string) {
	for resource, quantity := range p.Quantities(list) {
		path := p.At(list).Key(resource)
		p.AddList(validateQuotaResourceName(resource, path))
		p.AddList(resources.ValidateQuantity(resource, quantity, path))
	}
}

func validateQuotaResourceName(name string, path *validation.Path) validation.List {
	messages := resources.ValidateName(name)
	if !strings.Contains(name, "/") && !isQuotaResource(name) {
		messages = append(messages, "must be a standard resource for quota")
	}
	return validation.Each(path, validation.NamedString(name), messages)
}

// isQuotaResource reports whether a quota can limit the resource, a name without a
// prefix.
func isQuotaResource(name string) bool {
	return name != "storage" && resources.IsStandard(name) || resources.IsQuotaHugePages(name)
}

func checkQuotaSpec(p validation.View) {
	checkQuotaList(p, "hard")
	checkQuotaScopes(p)
	p.IfPresent("scopeSelector", func(selector validation.View) { checkQuotaScopeSelector(p, selector) })
}

// scopeResources maps a scope to the resources that a quota with that scope can
// limit.
var scopeResources = map[string][]string{
	"Terminating":               podQuotaResources,
	"NotTerminating":            podQuotaResources,
	"NotBestEffort":             podQuotaResources,
	"PriorityClass":             podQuotaResources,
	"CrossNamespacePodAffinity": podQuotaResources,
	"BestEffort":                {"pods"},
	attributesScope:             {"persistentvolumeclaims", "requests.storage"},
}

var podQuotaResources = []string{"pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}

// attributesScope is the scope of volume attributes, which v1.32 does not have.
const attributesScope = "VolumeAttributesClass"

const (
	unsupportedScope    = "unsupported scope"
	unsupportedResource = "unsupported scope applied to resource"
)

// checkQuotaScope checks that a scope exists and supports the resources in spec.hard. name
// and resource are the errors if it does not.
func checkQuotaScope(p validation.View, scope string, name, resource *validation.Error) {
	countable, known := scopeResources[scope]
	switch {
	case !known:
		p.Add(name)
		return
	case scope == attributesScope:
		p.Add(name.Until(behavior.VolumeAttributesClassScope))
		resource = resource.Since(behavior.VolumeAttributesClassScope)
	}
	for r := range p.Entries("hard") {
		if isQuotaResource(r) && !slices.Contains(countable, r) {
			p.Add(resource)
		}
	}
}

func checkQuotaScopes(p validation.View) {
	scopes := p.Strings("scopes")
	invalid := func(detail string) *validation.Error {
		return validation.Invalid(p.At("scopes"), validation.AsGoType("[]s", p.Obj["scopes"]), detail)
	}
	for _, scope := range scopes {
		checkQuotaScope(p, scope, invalid(unsupportedScope), invalid(unsupportedResource))
	}
	for range countScopeConflicts(scopes) {
		p.Add(invalid("conflicting scopes"))
	}
}

// countScopeConflicts returns the number of pairs of scopes that exclude each other.
func countScopeConflicts(scopes []string) (n int) {
	for _, scope := range []string{"BestEffort", "Terminating"} {
		if slices.Contains(scopes, scope) && slices.Contains(scopes, "Not"+scope) {
			n++
		}
	}
	return n
}

// checkQuotaScopeSelector reports errors at matchExpressions without an index, as
// kube-apiserver does.
func checkQuotaScopeSelector(p, selector validation.View) {
	path := selector.At("matchExpressions")
	var scopes []string
	for _, e := range selector.Each("matchExpressions") {
		e.Path = path
		scope, operator := e.String("scopeName"), e.String("operator")
		scopes = append(scopes, scope)
		_, known := scopeResources[scope]
		checkQuotaScope(p, scope, validation.Invalid(path.Child("scopeName"), validation.NamedString(scope), unsupportedScope),
			validation.Invalid(path, validation.AsGoType("core.ScopeSelector", selector.Obj), unsupportedResource))
		if known && operator != "Exists" && scope != "PriorityClass" && scope != attributesScope {
			e.InvalidNamed("operator", "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity")
		}
		switch operator {
		case "In", "NotIn":
			if e.Len("values") == 0 {
				e.Required("values", "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
			}
		case "Exists", "DoesNotExist":
			if e.Len("values") > 0 {
				e.Add(validation.Invalid(e.At("values"), validation.AsGoType("[]s", e.Obj["values"]), "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
			}
		default:
			e.InvalidNamed("operator", "not a valid selector operator")
		}
	}
	for range countScopeConflicts(scopes) {
		p.Add(validation.Invalid(path, validation.AsGoType("[]core.ResourceQuotaScope=s", p.Obj["scopes"]), "conflicting scopes"))
	}
}

// warnQuota warns about requests that are larger than the limits of the same
// resource.
func warnQuota(obj map[string]any, old object.View) []string {
	if !old.IsNil() {
		return nil
	}
	hard := object.Map(obj, "spec", "hard")
	var warnings []string
	for _, resource := range []string{"cpu", "memory", "storage", "ephemeral-storage"} {
		requests, limits := "requests."+resource, "limits."+resource
		if (resource == "cpu" || resource == "memory") && !object.Has(hard, requests) {
			requests = resource
		}
		request, limit := object.String(hard, requests), object.String(hard, limits)
		if request != "" && limit != "" && quantity.Compare(request, limit) > 0 {
			warnings = append(warnings, fmt.Sprintf("ResourceQuota %s (%s) should be less than %s (%s)", requests, request, limits, limit))
		}
	}
	return warnings
}
