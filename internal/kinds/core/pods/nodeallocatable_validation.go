package pods

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// allocatableClaims is the list of a Pod's status with the claims for resources that its node has
// as allocatable, such as cpu.
const allocatableClaims = "nodeAllocatableResourceClaimStatuses"

const notAllocatable, negativeAmount = "must be a node allocatable resource name", "must be non-negative"

// checkAllocatableClaims validates the list allocatableClaims.
func checkAllocatableClaims(status, spec validation.View) {
	if status.Len(allocatableClaims) == 0 {
		return
	}
	for _, claim := range status.Each(allocatableClaims) {
		name := claim.String("resourceClaimName")
		required := func(field string) {
			claim.Add(validation.Required(claim.At(field), "must not be empty").Until(behavior.AllocatableMappings))
		}
		if name == "" {
			required("resourceClaimName")
		}
		if !namesClaim(spec.Obj["resourceClaims"], name) && !namesClaim(status.Obj["resourceClaimStatuses"], name) {
			e := validation.Invalid(claim.At("resourceClaimName"), name, "no mapping found in pod reference")
			if name == "" {
				e.Until(behavior.AllocatableMappings)
			}
			claim.Add(e)
		}
		for _, field := range []string{"containers", "resources"} {
			if claim.Len(field) == 0 {
				required(field)
			}
		}
		checkAllocatedByName(claim)
		if name != "" {
			checkMappings(claim)
			checkOverheads(claim)
		}
	}
	status.AddList(validation.Collect(status.Obj, status.Path, checkDeclaredClaims).Since(behavior.AllocatableMappings).Declarative())
}

// namesClaim reports whether a list of claims has the name of a ResourceClaim.
func namesClaim(claims any, name string) bool {
	for claim := range object.Each(claims) {
		if claim["resourceClaimName"] == name {
			return true
		}
	}
	return false
}

// checkAllocatedByName validates the resources of a claim, which only releases without mappings have.
func checkAllocatedByName(claim validation.View) {
	for name, v := range claim.Entries("resources") {
		path := claim.At("resources").Key(name)
		if !resources.IsNative(name) {
			claim.Add(validation.Invalid(path, validation.NamedString(name), notAllocatable))
		}
		if amount, _ := v.(string); quantity.Compare(amount, "0") < 0 {
			claim.Add(validation.Invalid(path, amount, negativeAmount))
		}
	}
}

func checkMappings(claim validation.View) {
	for _, mapping := range claim.Each("mapping") {
		checkAllocatableName(mapping)
		checkAmount(mapping, "quantity")
	}
}

func checkOverheads(claim validation.View) {
	for _, overhead := range claim.Each("overhead") {
		checkAllocatableName(overhead)
		if !overhead.Has("perPod") && !overhead.Has("perContainer") {
			overhead.Add(validation.Invalid(overhead.Path, "", "at least one of perPod or perContainer must be set"))
		}
		checkAmount(overhead, "perPod")
		checkAmount(overhead, "perContainer")
	}
}

// checkAllocatableName checks that the name of a mapping or an overhead is that of a resource that
// nodes have as allocatable and that is not an extended one.
func checkAllocatableName(p validation.View) {
	if !isPodLevel(p.String("name")) {
		p.InvalidNamed("name", notAllocatable)
	}
}

// checkAmount checks that a quantity is not negative, if there is one.
func checkAmount(p validation.View, name string) {
	if p.Has(name) && quantity.Compare(p.String(name), "0") < 0 {
		p.InvalidString(name, negativeAmount)
	}
}

// checkDeclaredClaims has the rules of declarative validation for the list allocatableClaims.
func checkDeclaredClaims(status validation.View) {
	checkUnique(status, "resourceClaimName", "status", allocatableClaims)
	for _, claim := range status.Each(allocatableClaims) {
		claim.Require("resourceClaimName")
		containers := claim.Strings("containers")
		for i, name := range containers {
			if slices.Contains(containers[:i], name) {
				claim.Add(validation.Duplicate(claim.At("containers").Index(i), name))
			}
		}
		checkUnique(claim, "name", "status", allocatableClaims, "mapping")
		for _, mapping := range claim.Each("mapping") {
			mapping.RequireEach("name", "quantity")
		}
		checkUnique(claim, "name", "status", allocatableClaims, "overhead")
		for _, overhead := range claim.Each("overhead") {
			overhead.Require("name")
		}
	}
}

// checkClaimsCovered checks that the pod-level resources of a Pod that is resized cover those of its
// containers together with its claims for allocatable resources.
func checkClaimsCovered(p validation.View) {
	spec := p.Field("spec")
	if detail := uncovered(p.Obj, spec.Field("resources")); detail != "" {
		spec.Add(validation.Invalid(spec.At("resources"), validation.AsGoType("core.ResourceRequirements", spec.Obj["resources"]), detail).
			Since(behavior.AllocatableMappings).WithGate("DRANodeAllocatableResources", nil))
	}
}

// uncovered returns what the pod-level resources of a Pod do not cover, "" if there is nothing.
func uncovered(pod map[string]any, podLevel validation.View) string {
	if len(object.List(pod, "status", allocatableClaims)) == 0 {
		return ""
	}
	exceeds := func(needed map[string]any, name string, limit any) bool {
		q, ok := needed[name].(string)
		covered, _ := limit.(string)
		return ok && quantity.Compare(q, covered) > 0
	}
	spec := object.Map(pod, "spec")
	requests, limits, claimed := EffectiveResources(object.ViewOf(spec), "requests"), EffectiveResources(object.ViewOf(spec), "limits"), claimedResources(pod, "")
	resources.Add(requests, object.ViewOf(claimed))
	resources.Add(limits, object.ViewOf(claimed))
	for name, v := range podLevel.Entries("requests") {
		if isPodLevel(name) && exceeds(requests, name, v) {
			return fmt.Sprintf("pod level request for %s is insufficient to cover the aggregated container and node-allocatable DRA requests", name)
		}
	}
	for name, v := range podLevel.Entries("limits") {
		if resources.IsHugePages(name) && exceeds(limits, name, v) {
			return fmt.Sprintf("pod level limit for %s is insufficient to cover the aggregated container and node-allocatable DRA limits", name)
		}
	}
	for c := range object.Each(spec["containers"]) {
		container := object.String(c, "name")
		own, needed := object.Map(c, "resources", "limits"), claimedResources(pod, container)
		resources.Add(needed, object.ViewOf(own))
		for name, v := range podLevel.Entries("limits") {
			if own[name] != nil && !resources.IsHugePages(name) && exceeds(needed, name, v) {
				return fmt.Sprintf("pod level limit for %s is insufficient to cover the limit and DRA overhead for container %s", name, container)
			}
		}
	}
	return ""
}

// claimedResources returns the allocatable resources that the claims of a Pod give to a container or,
// if it has no name, to the Pod.
func claimedResources(pod map[string]any, container string) map[string]any {
	total := map[string]any{}
	add := func(item map[string]any, amount string) {
		if q, ok := item[amount].(string); ok {
			resources.AddQuantity(total, object.String(item, "name"), q)
		}
	}
	for claim := range object.Each(object.List(pod, "status", allocatableClaims)) {
		users := object.Strings(claim, "containers")
		if container != "" {
			if !slices.Contains(users, container) {
				continue
			}
			users = []string{container}
		}
		for mapping := range object.Each(claim["mapping"]) {
			add(mapping, "quantity")
		}
		for overhead := range object.Each(claim["overhead"]) {
			add(overhead, "perPod")
			for range users {
				add(overhead, "perContainer")
			}
		}
	}
	return total
}
