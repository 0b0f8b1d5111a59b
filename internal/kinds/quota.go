package kinds

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateLimitRange(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), limits)
}

// limits checks the limits of a namespace, one of each type.
func limits(p part) {
	types := names{}
	for _, limit := range p.each("limits") {
		typ := limit.text("type")
		limit.add(validation.Each(limit.at("type"), validation.NamedString(typ), limitType(typ)))
		if types[typ] {
			limit.duplicate("type", validation.NamedString(typ))
		}
		types[typ] = true
		limitItem(limit)
	}
}

// limitType checks what a limit can be for.
func limitType(name string) []string {
	if messages := validation.QualifiedName(name); len(messages) > 0 {
		return messages
	}
	if strings.Contains(name, "/") || name == "Pod" || name == "Container" || name == "PersistentVolumeClaim" {
		return nil
	}
	return []string{"must be a standard limit type or fully qualified"}
}

func limitItem(p part) {
	typ := p.text("type")
	bounds := limitBounds{part: p, keys: map[string]any{}}
	bounds.read("max")
	bounds.read("min")
	for _, list := range []string{"default", "defaultRequest"} {
		switch {
		case typ != "Pod":
			bounds.read(list)
		case p.size(list) > 0:
			p.forbid(list, "may not be specified when `type` is 'Pod'")
		}
	}
	if typ == "PersistentVolumeClaim" && !has(object.Map(p.obj, "min"), "storage") && !has(object.Map(p.obj, "max"), "storage") {
		p.missing("limits", "either minimum or maximum storage value is required, but neither was provided")
	}
	bounds.read("maxLimitRequestRatio")
	for _, resource := range sortedKeys(bounds.keys) {
		bounds.check(resource)
	}
}

// limitBounds are the quantities of one limit.
type limitBounds struct {
	part
	keys map[string]any // the resources that it bounds
}

// read checks the names in a list of quantities.
func (b limitBounds) read(list string) {
	name := resourceNameAt
	if typ := b.text("type"); typ == "Pod" || typ == "Container" {
		name = containerResourceName
	}
	for resource := range b.entries(list) {
		b.add(name(resource, b.at(list).Key(resource)))
		b.keys[resource] = true
	}
}

// resourceNameAt checks the name of any resource.
func resourceNameAt(name string, path *validation.Path) validation.List {
	return validation.Each(path, validation.NamedString(name), resourceName(name))
}

// quantity is how much a list has of a resource; "" if it does not say.
func (b limitBounds) quantity(list, resource string) string {
	if list == "default" || list == "defaultRequest" {
		if b.text("type") == "Pod" {
			return ""
		}
	}
	return object.String(b.obj, list, resource)
}

// orders are the lists whose quantities must not be above those of others. The
// first three parts of a row say what is compared, and where a mistake is
// noted; told is the list that is quoted.
var orders = []struct{ low, high, at, told, text string }{
	{"min", "max", "min", "min", "min value %s is greater than max value %s"},
	{"min", "defaultRequest", "defaultRequest", "defaultRequest", "min value %s is greater than default request value %s"},
	{"defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value %s is greater than max value %s"},
	{"defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value %s is greater than default limit value %s"},
	{"min", "default", "default", "min", "min value %s is greater than default value %s"},
	{"default", "max", "default", "max", "default value %s is greater than max value %s"},
}

// check compares the quantities of a resource.
func (b limitBounds) check(resource string) {
	for _, o := range orders {
		low, high := b.quantity(o.low, resource), b.quantity(o.high, resource)
		if low != "" && high != "" && compare(low, high) > 0 {
			b.note(validation.Invalid(b.at(o.at).Key(resource), b.quantity(o.told, resource), fmt.Sprintf(o.text, low, high)))
		}
	}
	b.checkRatio(resource)
	byDefault, request := b.quantity("default", resource), b.quantity("defaultRequest", resource)
	if !isOvercommitted(resource) && byDefault != "" && request != "" && compare(byDefault, request) != 0 {
		b.note(validation.Invalid(b.at("defaultRequest").Key(resource), request,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", byDefault, request, resource)))
	}
}

func (b limitBounds) checkRatio(resource string) {
	ratio := b.quantity("maxLimitRequestRatio", resource)
	if ratio == "" {
		return
	}
	path := b.at("maxLimitRequestRatio").Key(resource)
	if compare(ratio, "1") < 0 {
		b.note(validation.Invalid(path, ratio, fmt.Sprintf("ratio %s is less than 1", ratio)))
	}
	low, high := b.quantity("min", resource), b.quantity("max", resource)
	if low == "" || high == "" {
		return
	}
	if possible := approximate(high) / approximate(low); approximate(ratio) > possible {
		b.note(validation.Invalid(path, ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio, possible)))
	}
}

// approximate is a quantity as a floating-point number.
func approximate(q string) float64 {
	n, _ := nanos(q)
	f, _ := new(big.Float).Quo(new(big.Float).SetInt(n), big.NewFloat(1e9)).Float64()
	return f
}

func validateQuota(obj, old map[string]any) validation.List {
	if old == nil {
		return mistakes(obj, nil, func(p part) {
			quotaSpec(p.within("spec"))
			quotaStatus(p.within("status"))
		})
	}
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), quotaSpec, func(p part) {
		now, was := p.texts("scopes"), object.Strings(old, "spec", "scopes")
		slices.Sort(now)
		slices.Sort(was)
		if !slices.Equal(slices.Compact(now), slices.Compact(was)) {
			p.note(validation.Invalid(p.at("scopes"), internal("[]s", p.obj["scopes"]), "field is immutable"))
		}
	})
}

func validateQuotaStatus(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "status"), validation.NewPath("status"), quotaStatus)
}

func quotaStatus(p part) {
	quotaList(p, "hard")
	quotaList(p, "used")
}

// quotaList checks how much of which resources a quota counts.
func quotaList(p part, list string) {
	for resource, quantity := range p.quantities(list) {
		path := p.at(list).Key(resource)
		p.add(quotaResourceName(resource, path))
		p.add(resourceQuantity(resource, quantity, path))
	}
}

func quotaResourceName(name string, path *validation.Path) validation.List {
	messages := resourceName(name)
	if !strings.Contains(name, "/") && !isQuotaResource(name) {
		messages = append(messages, "must be a standard resource for quota")
	}
	return validation.Each(path, validation.NamedString(name), messages)
}

// isQuotaResource tells the resources that quotas count by themselves.
func isQuotaResource(name string) bool {
	return name != "storage" && slices.Contains(standardResources, name) || isQuotaHugePages(name)
}

func quotaSpec(p part) {
	quotaList(p, "hard")
	quotaScopes(p)
	p.ifGiven("scopeSelector", func(selector part) { quotaScopeSelector(p, selector) })
}

// scopeResources are, by scope, the resources that a quota of that scope can
// count.
var scopeResources = map[string][]string{
	"Terminating":               podQuotaResources,
	"NotTerminating":            podQuotaResources,
	"NotBestEffort":             podQuotaResources,
	"PriorityClass":             podQuotaResources,
	"CrossNamespacePodAffinity": podQuotaResources,
	"BestEffort":                {"pods"},
	"VolumeAttributesClass":     {"persistentvolumeclaims", "requests.storage"},
}

var podQuotaResources = []string{"pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}

// misfits counts the resources of a quota that a scope has none of.
func misfits(p part, scope string) (n int) {
	countable, known := scopeResources[scope]
	for resource := range p.entries("hard") {
		if known && isQuotaResource(resource) && !slices.Contains(countable, resource) {
			n++
		}
	}
	return n
}

func quotaScopes(p part) {
	scopes := p.texts("scopes")
	invalid := func(detail string) {
		p.note(validation.Invalid(p.at("scopes"), internal("[]s", p.obj["scopes"]), detail))
	}
	for _, scope := range scopes {
		if _, known := scopeResources[scope]; !known {
			invalid("unsupported scope")
		}
		for range misfits(p, scope) {
			invalid("unsupported scope applied to resource")
		}
	}
	for range conflicts(scopes) {
		invalid("conflicting scopes")
	}
}

// conflicts counts the pairs of scopes that no object is in both of.
func conflicts(scopes []string) (n int) {
	for _, scope := range []string{"BestEffort", "Terminating"} {
		if slices.Contains(scopes, scope) && slices.Contains(scopes, "Not"+scope) {
			n++
		}
	}
	return n
}

// quotaScopeSelector notes mistakes without saying which expression they are
// in, as kube-apiserver does.
func quotaScopeSelector(p, selector part) {
	path := selector.at("matchExpressions")
	var scopes []string
	for _, e := range selector.each("matchExpressions") {
		e.path = path
		scope, operator := e.text("scopeName"), e.text("operator")
		scopes = append(scopes, scope)
		_, known := scopeResources[scope]
		if !known {
			e.invalidEnum("scopeName", "unsupported scope")
		}
		for range misfits(p, scope) {
			e.note(validation.Invalid(path, internal("core.ScopeSelector", selector.obj), "unsupported scope applied to resource"))
		}
		if known && operator != "Exists" && scope != "PriorityClass" && scope != "VolumeAttributesClass" {
			e.invalidEnum("operator", "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity")
		}
		switch operator {
		case "In", "NotIn":
			if e.size("values") == 0 {
				e.missing("values", "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
			}
		case "Exists", "DoesNotExist":
			if e.size("values") > 0 {
				e.invalid("values", "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")
			}
		default:
			e.invalidEnum("operator", "not a valid selector operator")
		}
	}
	for range conflicts(scopes) {
		p.note(validation.Invalid(path, internal("[]s", p.obj["scopes"]), "conflicting scopes"))
	}
}

// warnQuota tells of requests that a quota allows more of than of limits.
func warnQuota(obj, old map[string]any) []string {
	if old != nil {
		return nil
	}
	hard := object.Map(obj, "spec", "hard")
	var warnings []string
	for _, resource := range []string{"cpu", "memory", "storage", "ephemeral-storage"} {
		requests, limits := "requests."+resource, "limits."+resource
		if (resource == "cpu" || resource == "memory") && !has(hard, requests) {
			requests = resource
		}
		request, limit := object.String(hard, requests), object.String(hard, limits)
		if request != "" && limit != "" && compare(request, limit) > 0 {
			warnings = append(warnings, fmt.Sprintf("ResourceQuota %s (%s) should be less than %s (%s)", requests, request, limits, limit))
		}
	}
	return warnings
}
