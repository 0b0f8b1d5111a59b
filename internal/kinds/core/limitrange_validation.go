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

func validateLimitRange(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), checkLimits)
}

// checkLimits checks spec.limits. Each type may occur once.
func checkLimits(p validation.View) {
	types := validation.Seen{}
	for _, limit := range p.Each("limits") {
		typ := limit.String("type")
		limit.AddList(validation.Each(limit.At("type"), validation.NamedString(typ), validateLimitType(typ)))
		if types[typ] {
			limit.Duplicate("type", validation.NamedString(typ))
		}
		types[typ] = true
		checkLimitItem(limit)
	}
}

// validateLimitType returns the messages for a name that is not a limit type.
func validateLimitType(name string) []string {
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
	item := limitItem{View: p, names: map[string]any{}}
	item.checkNames("max")
	item.checkNames("min")
	for _, list := range []string{"default", "defaultRequest"} {
		switch {
		case typ != "Pod":
			item.checkNames(list)
		case p.Len(list) > 0:
			p.Forbidden(list, "may not be specified when `type` is 'Pod'")
		}
	}
	if typ == "PersistentVolumeClaim" && !object.Has(object.Map(p.Obj, "min"), "storage") && !object.Has(object.Map(p.Obj, "max"), "storage") {
		p.Required("limits", "either minimum or maximum storage value is required, but neither was provided")
	}
	item.checkNames("maxLimitRequestRatio")
	for _, resource := range validation.SortedKeys(item.names) {
		item.checkQuantities(resource)
	}
}

// A limitItem validates one item of spec.limits.
type limitItem struct {
	validation.View
	names map[string]any // the resources in any of its lists
}

// checkNames checks the resource names in a list and adds them to names.
func (b limitItem) checkNames(list string) {
	name := validateResourceName
	if typ := b.String("type"); typ == "Pod" || typ == "Container" {
		name = resources.ValidateContainerResourceName
	}
	for resource := range b.Entries(list) {
		b.AddList(name(resource, b.At(list).Key(resource)))
		b.names[resource] = true
	}
}

func validateResourceName(name string, path *validation.Path) validation.List {
	return validation.Each(path, validation.NamedString(name), resources.ValidateName(name))
}

// quantity returns the quantity of a resource in a list, or "".
func (b limitItem) quantity(list, resource string) string {
	if list == "default" || list == "defaultRequest" {
		if b.String("type") == "Pod" {
			return ""
		}
	}
	return object.String(b.Obj, list, resource)
}

// quantityOrders are the pairs of lists whose quantities must be in order: low must
// not exceed high. The error is reported at the list at and quotes the quantity in
// the list quoted.
var quantityOrders = []struct{ low, high, at, quoted, text string }{
	{"min", "max", "min", "min", "min value %s is greater than max value %s"},
	{"min", "defaultRequest", "defaultRequest", "defaultRequest", "min value %s is greater than default request value %s"},
	{"defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value %s is greater than max value %s"},
	{"defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value %s is greater than default limit value %s"},
	{"min", "default", "default", "min", "min value %s is greater than default value %s"},
	{"default", "max", "default", "max", "default value %s is greater than max value %s"},
}

// checkQuantities compares the quantities of a resource across the lists.
func (b limitItem) checkQuantities(resource string) {
	for _, o := range quantityOrders {
		low, high := b.quantity(o.low, resource), b.quantity(o.high, resource)
		if low != "" && high != "" && quantity.Compare(low, high) > 0 {
			b.Add(validation.Invalid(b.At(o.at).Key(resource), validation.AsGoType("q", b.quantity(o.quoted, resource)), fmt.Sprintf(o.text, low, high)))
		}
	}
	b.checkRatio(resource)
	limit, request := b.quantity("default", resource), b.quantity("defaultRequest", resource)
	if !resources.IsOvercommitAllowed(resource) && limit != "" && request != "" && quantity.Compare(limit, request) != 0 {
		b.Add(validation.Invalid(b.At("defaultRequest").Key(resource), validation.AsGoType("q", request),
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", limit, request, resource)))
	}
}

func (b limitItem) checkRatio(resource string) {
	ratio := b.quantity("maxLimitRequestRatio", resource)
	if ratio == "" {
		return
	}
	path := b.At("maxLimitRequestRatio").Key(resource)
	if quantity.Compare(ratio, "1") < 0 {
		b.Add(validation.Invalid(path, validation.AsGoType("q", ratio), fmt.Sprintf("ratio %s is less than 1", ratio)))
	}
	low, high := b.quantity("min", resource), b.quantity("max", resource)
	if low == "" || high == "" {
		return
	}
	if possible := toFloat(high) / toFloat(low); toFloat(ratio) > possible {
		b.Add(validation.Invalid(path, validation.AsGoType("q", ratio), fmt.Sprintf("ratio %s is greater than max/min = %f", ratio, possible)))
	}
}

func toFloat(q string) float64 {
	f, _ := new(big.Float).Quo(new(big.Float).SetInt(quantity.Nanos(q)), big.NewFloat(1e9)).Float64()
	return f
}
