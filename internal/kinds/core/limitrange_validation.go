package core

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateLimitRange(obj, _ map[string]any) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), checkLimits)
}

// checkLimits checks the limits of a namespace, one of each type.
func checkLimits(p validation.View) {
	types := validation.Seen{}
	for _, limit := range p.Each("limits") {
		typ := limit.String("type")
		limit.AddList(validation.Each(limit.At("type"), validation.NamedString(typ), limitType(typ)))
		if types[typ] {
			limit.Duplicate("type", validation.NamedString(typ))
		}
		types[typ] = true
		checkLimitItem(limit)
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

func checkLimitItem(p validation.View) {
	typ := p.String("type")
	bounds := limitBounds{View: p, keys: map[string]any{}}
	bounds.read("max")
	bounds.read("min")
	for _, list := range []string{"default", "defaultRequest"} {
		switch {
		case typ != "Pod":
			bounds.read(list)
		case p.Len(list) > 0:
			p.Forbidden(list, "may not be specified when `type` is 'Pod'")
		}
	}
	if typ == "PersistentVolumeClaim" && !object.Has(object.Map(p.Obj, "min"), "storage") && !object.Has(object.Map(p.Obj, "max"), "storage") {
		p.Required("limits", "either minimum or maximum storage value is required, but neither was provided")
	}
	bounds.read("maxLimitRequestRatio")
	for _, resource := range validation.SortedKeys(bounds.keys) {
		bounds.check(resource)
	}
}

// limitBounds are the quantities of one limit.
type limitBounds struct {
	validation.View
	keys map[string]any // the resources that it bounds
}

// read checks the names in a list of quantities.
func (b limitBounds) read(list string) {
	name := resourceNameAt
	if typ := b.String("type"); typ == "Pod" || typ == "Container" {
		name = resources.ValidateContainerResourceName
	}
	for resource := range b.Entries(list) {
		b.AddList(name(resource, b.At(list).Key(resource)))
		b.keys[resource] = true
	}
}

// resourceNameAt checks the name of any resource.
func resourceNameAt(name string, path *validation.Path) validation.List {
	return validation.Each(path, validation.NamedString(name), resources.ValidateName(name))
}

// quantity is how much a list has of a resource; "" if it does not say.
func (b limitBounds) quantity(list, resource string) string {
	if list == "default" || list == "defaultRequest" {
		if b.String("type") == "Pod" {
			return ""
		}
	}
	return object.String(b.Obj, list, resource)
}

// orders are the lists whose quantities must not be above those of others. The
// first three parts of a row say what is compared, and where an error is
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
		if low != "" && high != "" && quantity.Compare(low, high) > 0 {
			b.Add(validation.Invalid(b.At(o.at).Key(resource), b.quantity(o.told, resource), fmt.Sprintf(o.text, low, high)))
		}
	}
	b.checkRatio(resource)
	byDefault, request := b.quantity("default", resource), b.quantity("defaultRequest", resource)
	if !resources.IsOvercommitAllowed(resource) && byDefault != "" && request != "" && quantity.Compare(byDefault, request) != 0 {
		b.Add(validation.Invalid(b.At("defaultRequest").Key(resource), request,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", byDefault, request, resource)))
	}
}

func (b limitBounds) checkRatio(resource string) {
	ratio := b.quantity("maxLimitRequestRatio", resource)
	if ratio == "" {
		return
	}
	path := b.At("maxLimitRequestRatio").Key(resource)
	if quantity.Compare(ratio, "1") < 0 {
		b.Add(validation.Invalid(path, ratio, fmt.Sprintf("ratio %s is less than 1", ratio)))
	}
	low, high := b.quantity("min", resource), b.quantity("max", resource)
	if low == "" || high == "" {
		return
	}
	if possible := approximate(high) / approximate(low); approximate(ratio) > possible {
		b.Add(validation.Invalid(path, ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio, possible)))
	}
}

// approximate is a quantity as a floating-point number.
func approximate(q string) float64 {
	n, _ := quantity.Nanos(q)
	f, _ := new(big.Float).Quo(new(big.Float).SetInt(n), big.NewFloat(1e9)).Float64()
	return f
}
