package resources

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/validation"
)

// ValidateQuantity validates the quantity of the named resource.
func ValidateQuantity(name, amount string, path *validation.Path) validation.List {
	list := ValidateNonNegativeQuantity(amount, path)
	if IsInteger(name) && !quantity.IsInteger(amount) {
		list = append(list, validation.Invalid(path, validation.AsGoType("q", amount), "must be an integer"))
	}
	return list
}

func ValidateNonNegativeQuantity(amount string, path *validation.Path) validation.List {
	if quantity.Compare(amount, "0") >= 0 {
		return nil
	}
	return validation.List{validation.Invalid(path, amount, "must be greater than or equal to 0")}
}

func ValidatePositiveQuantity(amount string, path *validation.Path) validation.List {
	if quantity.Compare(amount, "0") > 0 {
		return nil
	}
	return validation.List{validation.Invalid(path, amount, validation.NotPositive)}
}

// ValidateHugePages checks that the quantity is a multiple of the page size in the
// name.
func ValidateHugePages(name, amount string, path *validation.Path) validation.List {
	if size, err := quantity.Canonical(strings.TrimPrefix(name, "hugepages-")); err == nil {
		page := quantity.Nanos(size)
		all := quantity.Nanos(quantity.RoundToUnits(amount))
		if page.Sign() > 0 && quantity.IsInteger(size) && new(big.Int).Rem(all, page).Sign() == 0 {
			return nil
		}
	}
	return validation.List{validation.Invalid(path, amount, fmt.Sprintf("%s is not positive integer multiple of %s", amount, name))}
}

// A NameRule validates the name of a resource.
type NameRule func(name string, path *validation.Path) validation.List

// CheckRequirements validates the limits, requests and claims of a container or a
// pod. claims are the names in the pod's spec.resourceClaims, sorted.
func CheckRequirements(p validation.View, name NameRule, claims []string) {
	if len(p.Obj) == 0 {
		return
	}
	hasCompute, hasHugePages := false, false
	check := func(list validation.View, resource, amount string) {
		path := list.Key(resource)
		p.AddList(name(resource, path))
		p.AddList(ValidateQuantity(resource, amount, path))
		hasCompute = hasCompute || resource == "cpu" || resource == "memory"
	}
	pages := func(list validation.View, resource, amount string) {
		if IsHugePages(resource) {
			hasHugePages = true
			p.AddList(ValidateHugePages(resource, amount, list.Key(resource)))
		}
	}
	limits, requests := p.Field("limits"), p.Field("requests")
	for _, resource := range validation.SortedKeys(limits.Obj) {
		amount := limits.String(resource)
		check(limits, resource, amount)
		pages(limits, resource, amount)
	}
	for _, resource := range validation.SortedKeys(requests.Obj) {
		amount := requests.String(resource)
		check(requests, resource, amount)
		limit, limited := limits.Obj[resource].(string)
		switch {
		case !limited:
			if !IsOvercommitAllowed(resource) {
				p.Required("limits", "Limit must be set for non overcommitable resources")
			}
		case quantity.Compare(amount, limit) != 0 && !IsOvercommitAllowed(resource):
			p.Add(validation.Invalid(requests.Path, amount, fmt.Sprintf("must be equal to %s limit of %s", resource, limit)))
		case quantity.Compare(amount, limit) > 0:
			p.Add(validation.Invalid(requests.Path, amount, fmt.Sprintf("must be less than or equal to %s limit of %s", resource, limit)))
		}
		pages(requests, resource, amount)
	}
	if hasHugePages && !hasCompute {
		p.Add(validation.Forbidden(p.Path, "HugePages require cpu or memory"))
	}
	checkClaims(p, claims)
}

// checkClaims checks that the claims are among the known ones and occur once: each
// claim as a whole, or each of its requests.
func checkClaims(p validation.View, known []string) {
	if p.Len("claims") == 0 {
		return
	}
	seen := validation.Seen{}
	for _, claim := range p.Each("claims") {
		name, request := claim.String("name"), claim.String("request")
		if name == "" {
			claim.Add(validation.Required(claim.Path, ""))
			continue
		}
		if seen[name] {
			claim.Add(validation.Duplicate(claim.Path, name))
		} else {
			key := name
			if request != "" {
				claim.Format("request", validation.DNS1123Label)
				key += "/" + request
			}
			if seen[key] {
				claim.Add(validation.Duplicate(claim.Path, key))
			} else if request == "" {
				for other := range seen {
					if strings.HasPrefix(other, name+"/") {
						claim.Add(validation.Duplicate(claim.Path, name))
					}
				}
			}
			seen[key] = true
		}
		if !slices.Contains(known, name) {
			missing := validation.NotFound(claim.Path, name)
			missing.Detail = "must be one of the names in pod.spec.resourceClaims"
			if len(known) == 0 {
				missing.Detail += " which is empty"
			} else {
				missing.Detail += ": " + strings.Join(known, ", ")
			}
			claim.Add(missing)
		}
	}
}
