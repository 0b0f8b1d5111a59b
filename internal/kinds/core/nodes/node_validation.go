package nodes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateNode(obj map[string]any, old object.View) validation.List {
	preemption := func(p validation.View) { checkPreemptionPolicy(p, old) }
	if old.IsNil() {
		return validation.Collect(obj, nil, checkNode, preemption)
	}
	return validation.Collect(obj, nil, checkNode, nodeUpdateRule(old), preemption)
}

func validateNodeStatus(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, nodeUpdateRule(old))
}

func checkNode(p validation.View) {
	checkNodeAnnotations(p)
	checkNodeTaints(p)
	checkNodeResources(p)
	status := p.Field("status")
	if swap, ok := object.Int(status.Obj, "nodeInfo", "swap", "capacity"); ok && swap <= 0 {
		p.Add(validation.Invalid(p.At("metadata").Child("nodeSwapStatus").Child("capacity"), swap, validation.NotPositive))
	}
	checkDeclaredFeatures(status)
	checkPodCIDRs(p.Field("spec"))
}

// maxPreemptionKeys is how many keys podPreemptionPolicy.disableResizePreemption may have.
const maxPreemptionKeys = 20

// checkPreemptionPolicy validates spec.podPreemptionPolicy, unless it is the same as in old.
func checkPreemptionPolicy(p validation.View, old object.View) {
	const list = "disableResizePreemption"
	policy := p.Field("spec").Field("podPreemptionPolicy")
	keys := policy.Strings(list)
	if slices.Equal(keys, old.Strings("spec", "podPreemptionPolicy", list)) {
		return
	}
	if len(keys) > maxPreemptionKeys {
		policy.Add(validation.TooMany(policy.At(list), len(keys), maxPreemptionKeys))
		return
	}
	for i, key := range keys {
		policy.AddList(validation.LabelKey(key, policy.At(list).Index(i)))
	}
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			policy.Add(validation.Duplicate(policy.At(list).Index(i), key))
		}
	}
}

// checkNodeTaints validates spec.taints. kube-apiserver reports the errors at
// metadata.taints.
func checkNodeTaints(p validation.View) {
	checkTaints(p.Field("spec"), p.At("metadata").Child("taints"))
}

// checkTaints validates the taints of p and reports errors at a path.
func checkTaints(p validation.View, path *validation.Path) {
	seen := validation.Seen{}
	for i, taint := range p.Each("taints") {
		taint.Path = path.Index(i)
		key, value, effect := taint.String("key"), taint.String("value"), taint.String("effect")
		taint.AddList(validation.LabelKey(key, taint.At("key")))
		if messages := validation.LabelValue(value); len(messages) > 0 {
			taint.InvalidString("value", strings.Join(messages, ";"))
		}
		taint.RequireOneOf("effect", taintEffects...)
		if id := effect + "/" + key; seen[id] {
			duplicate := validation.Duplicate(taint.Path, validation.AsGoType("core.Taint", taint.Obj))
			duplicate.Detail = "taints must be unique by key and effect pair"
			taint.Add(duplicate)
		} else {
			seen[id] = true
		}
	}
}

func checkNodeResources(p validation.View) {
	status := p.Field("status")
	for _, list := range []string{"capacity", "allocatable"} {
		for resource, quantity := range status.Quantities(list) {
			p.AddList(resources.ValidateQuantity(resource, quantity, status.At(list).Child(resource)))
		}
	}
}

const maxFeatureName = 253

var featureNamePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`) })

// checkDeclaredFeatures checks that status.declaredFeatures is sorted and unique,
// and that each name is valid.
func checkDeclaredFeatures(p validation.View) {
	features := p.Strings("declaredFeatures")
	for i, name := range features {
		path := p.At("declaredFeatures").Index(i)
		switch {
		case i > 0 && name == features[i-1]:
			p.Add(validation.Duplicate(path, name))
		case i > 0 && name < features[i-1]:
			p.Add(validation.Invalid(path, name, "list must be sorted alphabetically"))
		}
		switch {
		case len(name) > maxFeatureName:
			p.Add(validation.Invalid(path, name, fmt.Sprintf("invalid feature name %q: must be no more than %d characters", name, maxFeatureName)))
		case !featureNamePattern().MatchString(name):
			p.Add(validation.Invalid(path, name, fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", name)))
		}
	}
}

// checkPodCIDRs validates spec.podCIDRs. Each IP family may occur once.
func checkPodCIDRs(p validation.View) {
	cidrs := p.Strings("podCIDRs")
	families := validation.Seen{}
	for i, cidr := range cidrs {
		p.AddList(validation.LegacyCIDR(cidr, nil, p.At("podCIDRs").Index(i)))
		families[validation.IPFamily(cidr)] = true
	}
	if len(cidrs) < 2 {
		return
	}
	broken := slices.IndexFunc(cidrs, func(cidr string) bool { return !validation.IsCIDR(cidr) })
	if broken >= 0 {
		p.Add(validation.Internal(p.At("podCIDRs"), fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[%d]: <nil> (invalid CIDR address: %s)", broken, cidrs[broken])))
	}
	if broken >= 0 || len(families) < 2 || len(cidrs) > 2 {
		p.Add(validation.Invalid(p.At("podCIDRs"), validation.AsGoType("[]s", p.Obj["podCIDRs"]), "may specify no more than one CIDR for each IP family"))
	}
	for i, cidr := range cidrs {
		if slices.Contains(cidrs[:i], cidr) {
			p.Add(validation.Duplicate(p.At("podCIDRs").Index(i), cidr).Until(behavior.AcceptsRepeatedAddresses))
		}
	}
}

// nodeUpdateRule returns the rule for an update of a Node or of its status.
func nodeUpdateRule(old object.View) func(validation.View) {
	return func(p validation.View) {
		checkNodeAnnotations(p)
		checkNodeResources(p)
		status, spec := p.Field("status"), p.Field("spec")
		checkDeclaredFeatures(status)
		seen := validation.Seen{}
		for _, address := range status.Each("addresses") {
			id := address.String("type") + "/" + address.String("address")
			if seen[id] {
				address.Add(validation.Duplicate(address.Path, validation.AsGoType("core.NodeAddress", address.Obj)))
			}
			seen[id] = true
		}
		was := old.At("spec")
		checkAssignedFields(spec, was)
		checkNodeTaints(p)
		if spec.String("externalID") != was.String("externalID") {
			spec.Forbidden("externalID", "may not be updated")
		}
	}
}

// checkAssignedFields checks that podCIDRs and providerID do not change once they
// are set.
func checkAssignedFields(p validation.View, old object.View) {
	if was := old.Strings("podCIDRs"); len(was) > 0 {
		const detail = `node updates may not change podCIDR except from "" to valid`
		now := p.Strings("podCIDRs")
		if len(now) != len(was) {
			p.Forbidden("podCIDRs", detail)
		} else {
			for i := range was {
				if now[i] != was[i] {
					p.Forbidden("podCIDRs", detail)
				}
			}
		}
	}
	if was := old.String("providerID"); was != "" && p.String("providerID") != was {
		change := "modified"
		if !p.Has("providerID") {
			change = "cleared"
		}
		p.Add(validation.Invalid(p.At("providerID"), nil, "field cannot be "+change+" once set").
			Before(behavior.DeclarativeErrors, validation.Instead(validation.Forbidden(p.At("providerID"), `node updates may not change providerID except from "" to valid`))))
	}
}
