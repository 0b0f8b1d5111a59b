package kinds

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateNode(obj, old map[string]any) validation.List {
	if old == nil {
		return mistakes(obj, nil, node)
	}
	return mistakes(obj, nil, node, nodeUpdate(old))
}

func validateNodeStatus(obj, old map[string]any) validation.List {
	return mistakes(obj, nil, nodeUpdate(old))
}

func node(p part) {
	nodeTaints(p)
	nodeResources(p)
	status := p.within("status")
	if swap, ok := object.Int(status.obj, "nodeInfo", "swap", "capacity"); ok && swap <= 0 {
		p.note(validation.Invalid(p.at("metadata").Child("nodeSwapStatus").Child("capacity"), swap, notPositive))
	}
	declaredFeatures(status)
	podCIDRs(p.within("spec"))
}

// nodeTaints checks the taints, which kube-apiserver takes to be in metadata.
func nodeTaints(p part) {
	path := p.at("metadata").Child("taints")
	seen := names{}
	for i, taint := range p.within("spec").each("taints") {
		taint.path = path.Index(i)
		key, value, effect := taint.text("key"), taint.text("value"), taint.text("effect")
		taint.add(validation.LabelKey(key, taint.at("key")))
		if messages := validation.LabelValue(value); len(messages) > 0 {
			taint.invalidText("value", strings.Join(messages, ";"))
		}
		taint.needsOneOf("effect", taintEffects...)
		if id := effect + "/" + key; seen[id] {
			twice := validation.Duplicate(taint.path, internal("core.Taint", taint.obj))
			twice.Detail = "taints must be unique by key and effect pair"
			taint.note(twice)
		} else {
			seen[id] = true
		}
	}
}

func nodeResources(p part) {
	status := p.within("status")
	for _, list := range []string{"capacity", "allocatable"} {
		for resource, quantity := range status.quantities(list) {
			p.add(resourceQuantity(resource, quantity, status.at(list).Child(resource)))
		}
	}
}

const maxFeatureName = 253

// featureName is the form of the names of features that nodes declare.
var featureName = regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`)

// declaredFeatures checks the features of a node, which are sorted.
func declaredFeatures(p part) {
	features := p.texts("declaredFeatures")
	for i, name := range features {
		path := p.at("declaredFeatures").Index(i)
		switch {
		case i > 0 && name == features[i-1]:
			p.note(validation.Duplicate(path, name))
		case i > 0 && name < features[i-1]:
			p.note(validation.Invalid(path, name, "list must be sorted alphabetically"))
		}
		switch {
		case len(name) > maxFeatureName:
			p.note(validation.Invalid(path, name, fmt.Sprintf("invalid feature name %q: must be no more than %d characters", name, maxFeatureName)))
		case !featureName.MatchString(name):
			p.note(validation.Invalid(path, name, fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", name)))
		}
	}
}

// podCIDRs checks the networks of a node's pods, one for each IP family.
func podCIDRs(p part) {
	cidrs := p.texts("podCIDRs")
	families := names{}
	valid := true
	for i, cidr := range cidrs {
		errs := validation.LegacyCIDR(cidr, nil, p.at("podCIDRs").Index(i))
		valid = valid && len(errs) == 0
		p.add(errs)
		families[fmt.Sprint(familyOf(cidr))] = true
	}
	if len(cidrs) < 2 {
		return
	}
	if !valid {
		for i, cidr := range cidrs {
			if len(validation.LegacyCIDR(cidr, nil, nil)) > 0 {
				p.note(validation.Internal(p.at("podCIDRs"), fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[%d]: <nil> (invalid CIDR address: %s)", i, cidr)))
				break
			}
		}
	}
	if !valid || len(families) < 2 || len(cidrs) > 2 {
		p.note(validation.Invalid(p.at("podCIDRs"), internal("[]s", p.obj["podCIDRs"]), "may specify no more than one CIDR for each IP family"))
	}
}

// nodeUpdate returns the rule of what may become of a node.
func nodeUpdate(old map[string]any) func(part) {
	return func(p part) {
		nodeResources(p)
		status, spec := p.within("status"), p.within("spec")
		declaredFeatures(status)
		seen := names{}
		for _, address := range status.each("addresses") {
			id := address.text("type") + "/" + address.text("address")
			if seen[id] {
				address.note(validation.Duplicate(address.path, internal("core.NodeAddress", address.obj)))
			}
			seen[id] = true
		}
		was := object.Map(old, "spec")
		assignedOnce(spec, was)
		nodeTaints(p)
		if spec.text("externalID") != object.String(was, "externalID") {
			spec.forbid("externalID", "may not be updated")
		}
	}
}

// assignedOnce checks that what was assigned to a node stays.
func assignedOnce(p part, old map[string]any) {
	if was := object.Strings(old, "podCIDRs"); len(was) > 0 {
		const detail = `node updates may not change podCIDR except from "" to valid`
		now := p.texts("podCIDRs")
		if len(now) != len(was) {
			p.forbid("podCIDRs", detail)
		} else {
			for i := range was {
				if now[i] != was[i] {
					p.forbid("podCIDRs", detail)
				}
			}
		}
	}
	if was := object.String(old, "providerID"); was != "" && p.text("providerID") != was {
		p.forbid("providerID", `node updates may not change providerID except from "" to valid`)
	}
}

// warnNode tells of members that mean nothing any more.
func warnNode(obj, _ map[string]any) []string {
	var warnings []string
	spec := part{obj: object.Map(obj, "spec"), path: validation.NewPath("spec")}
	if spec.has("configSource") {
		warnings = append(warnings, "spec.configSource: the feature is removed")
	}
	if spec.text("externalID") != "" {
		warnings = append(warnings, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	for i, cidr := range spec.texts("podCIDRs") {
		warnings = append(warnings, validation.CIDRWarnings(cidr, spec.at("podCIDRs").Index(i))...)
	}
	return warnings
}
