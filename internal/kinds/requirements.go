package kinds

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// The rules of resources, by their names: what they are called where, and which
// quantities of them there can be.

// standardResources are the resources without a prefix.
var standardResources = []string{
	"cpu", "memory", "ephemeral-storage",
	"requests.cpu", "requests.memory", "requests.ephemeral-storage",
	"limits.cpu", "limits.memory", "limits.ephemeral-storage",
	"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
	"storage", "requests.storage", "services.nodeports", "services.loadbalancers",
}

// countedResources are those of which there is a whole number.
var countedResources = []string{
	"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
	"services.nodeports", "services.loadbalancers",
}

// podResources are those that a pod can ask for as a whole, besides huge pages.
var podResources = []string{"cpu", "hugepages-", "memory"}

// isNativeResource reports whether Kubernetes itself knows the resource: its
// name has no prefix or one of kubernetes.io.
func isNativeResource(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, "kubernetes.io/")
}

// isExtendedResource reports whether the name is of a resource that only the
// nodes know.
func isExtendedResource(name string) bool {
	return !isNativeResource(name) && !strings.HasPrefix(name, "requests.") && len(validation.QualifiedName("requests."+name)) == 0
}

// isCountedResource reports whether there are only whole numbers of a resource.
func isCountedResource(name string) bool {
	return slices.Contains(countedResources, name) || isExtendedResource(name)
}

// isOvercommitted reports whether more of a resource may be allowed than is
// asked for.
func isOvercommitted(name string) bool { return isNativeResource(name) && !isHugePages(name) }

func isQuotaHugePages(name string) bool {
	return isHugePages(name) || strings.HasPrefix(name, "requests.hugepages-")
}

// resourceName checks the name of a resource.
func resourceName(name string) []string {
	if messages := validation.QualifiedName(name); len(messages) > 0 {
		return messages
	}
	if !strings.Contains(name, "/") && !slices.Contains(standardResources, name) && !isQuotaHugePages(name) {
		return []string{"must be a standard resource type or fully qualified"}
	}
	return nil
}

// containerResourceName checks the name of a resource of containers.
func containerResourceName(name string, path *validation.Path) validation.List {
	messages := resourceName(name)
	switch {
	case !strings.Contains(name, "/"):
		if name != "cpu" && name != "memory" && name != "ephemeral-storage" && !isHugePages(name) {
			messages = append(messages, "must be a standard resource for containers")
		}
	case !isNativeResource(name) && !isExtendedResource(name):
		messages = append(messages, "doesn't follow extended resource name standard")
	}
	return validation.Each(path, validation.NamedString(name), messages)
}

// podResourceName checks the name of a resource of a pod as a whole.
func podResourceName(name string, path *validation.Path) validation.List {
	if messages := resourceName(name); len(messages) > 0 {
		return validation.Each(path, validation.NamedString(name), messages)
	}
	if name != "cpu" && name != "memory" && !isHugePages(name) {
		return validation.List{validation.NotSupported(path, validation.NamedString(name), podResources)}
	}
	return nil
}

// resourceQuantity checks how much there is of a resource.
func resourceQuantity(name, quantity string, path *validation.Path) validation.List {
	list := nonNegativeQuantity(quantity, path)
	if isCountedResource(name) && !isWhole(quantity) {
		list = append(list, validation.Invalid(path, quantity, "must be an integer"))
	}
	return list
}

// nonNegativeQuantity checks that a quantity is not below 0.
func nonNegativeQuantity(quantity string, path *validation.Path) validation.List {
	if compare(quantity, "0") >= 0 {
		return nil
	}
	return validation.List{validation.Invalid(path, quantity, "must be greater than or equal to 0")}
}

// positiveQuantity checks that a quantity is above 0.
func positiveQuantity(quantity string, path *validation.Path) validation.List {
	if compare(quantity, "0") > 0 {
		return nil
	}
	return validation.List{validation.Invalid(path, quantity, notPositive)}
}

// hugePages checks that a quantity of huge pages is a number of pages; path is
// where it is.
func hugePages(name, quantity string, path *validation.Path) validation.List {
	if size, err := wire.CanonicalQuantity(strings.TrimPrefix(name, "hugepages-")); err == nil {
		page, _ := nanos(size)
		all, _ := nanos(roundToUnits(quantity))
		if page.Sign() > 0 && isWhole(size) && new(big.Int).Rem(all, page).Sign() == 0 {
			return nil
		}
	}
	return validation.List{validation.Invalid(path, quantity, fmt.Sprintf("%s is not positive integer multiple of %s", quantity, name))}
}

// A resourceNameRule checks the name of a resource at path.
type resourceNameRule func(name string, path *validation.Path) validation.List

// resourceRequirements checks the limits, requests and claims of a container or
// a pod; claims are the names that the pod has for its own.
func resourceRequirements(p part, name resourceNameRule, claims []string) {
	if len(p.obj) == 0 {
		return
	}
	hasCompute, hasHugePages := false, false
	check := func(list, resource, quantity string) {
		path := p.at(list).Key(resource)
		p.add(name(resource, path))
		p.add(resourceQuantity(resource, quantity, path))
		hasCompute = hasCompute || resource == "cpu" || resource == "memory"
	}
	pages := func(list, resource, quantity string) {
		if isHugePages(resource) {
			hasHugePages = true
			p.add(hugePages(resource, quantity, p.at(list).Key(resource)))
		}
	}
	for resource, v := range p.entries("limits") {
		quantity, _ := v.(string)
		check("limits", resource, quantity)
		pages("limits", resource, quantity)
	}
	for resource, v := range p.entries("requests") {
		quantity, _ := v.(string)
		check("requests", resource, quantity)
		limit, limited := object.Value(p.obj, "limits", resource).(string)
		switch {
		case !limited:
			if !isOvercommitted(resource) {
				p.missing("limits", "Limit must be set for non overcommitable resources")
			}
		case compare(quantity, limit) != 0 && !isOvercommitted(resource):
			p.note(validation.Invalid(p.at("requests"), quantity, fmt.Sprintf("must be equal to %s limit of %s", resource, limit)))
		case compare(quantity, limit) > 0:
			p.note(validation.Invalid(p.at("requests"), quantity, fmt.Sprintf("must be less than or equal to %s limit of %s", resource, limit)))
		}
		pages("requests", resource, quantity)
	}
	if hasHugePages && !hasCompute {
		p.note(validation.Forbidden(p.path, "HugePages require cpu or memory"))
	}
	resourceClaims(p, claims)
}

// resourceClaims checks that a container names its pod's claims, each or each
// request of it once.
func resourceClaims(p part, known []string) {
	seen := names{}
	for _, claim := range p.each("claims") {
		name, request := claim.text("name"), claim.text("request")
		if name == "" {
			claim.note(validation.Required(claim.path, ""))
			continue
		}
		if seen[name] {
			claim.note(validation.Duplicate(claim.path, name))
		} else {
			key := name
			if request != "" {
				claim.is("request", validation.DNS1123Label)
				key += "/" + request
			}
			if seen[key] {
				claim.note(validation.Duplicate(claim.path, key))
			} else if request == "" {
				for other := range seen {
					if strings.HasPrefix(other, name+"/") {
						claim.note(validation.Duplicate(claim.path, name))
					}
				}
			}
			seen[key] = true
		}
		if !slices.Contains(known, name) {
			missing := validation.NotFound(claim.path, name)
			missing.Detail = "must be one of the names in pod.spec.resourceClaims"
			if len(known) == 0 {
				missing.Detail += " which is empty"
			} else {
				missing.Detail += ": " + strings.Join(known, ", ")
			}
			claim.note(missing)
		}
	}
}

// checkResources checks the resources of a pod as a whole, and that its
// containers do not need more.
func (r *podRules) checkResources() {
	p, ok := r.spec.given("resources")
	if !ok {
		return
	}
	if r.isWindows() {
		r.spec.forbid("resources", "may not be set for a windows pod")
		return
	}
	if p.has("claims") {
		p.forbid("claims", "claims may not be set for Resources at pod-level")
	}
	resourceRequirements(p, podResourceName, r.claims)
	r.checkShare(p, "requests", func(string) bool { return true })
	r.checkShare(p, "limits", isHugePages)
	for i, c := range r.spec.each("containers") {
		for resource, v := range c.within("resources").entries("limits") {
			limit, _ := v.(string)
			whole, ok := object.Value(p.obj, "limits", resource).(string)
			if ok && compare(limit, whole) > 0 {
				at := p.at("containers").Index(i).Key(resource).Child("limits")
				p.note(validation.Invalid(at, limit, "must be less than or equal to pod limits of "+whole))
			}
		}
	}
}

// checkShare checks that a pod has as much as its containers together need, of
// the resources that count.
func (r *podRules) checkShare(p part, kind string, counts func(resource string) bool) {
	if p.size(kind) == 0 {
		return
	}
	needed := effective(r.spec.obj, kind)
	for _, resource := range sortedKeys(needed) {
		need, _ := needed[resource].(string)
		whole, ok := object.Value(p.obj, kind, resource).(string)
		if ok && counts(resource) && compare(need, whole) > 0 {
			p.note(validation.Invalid(p.at(kind).Key(resource), whole,
				fmt.Sprintf("must be greater than or equal to aggregate container %s of %s", kind, need)))
		}
	}
}
