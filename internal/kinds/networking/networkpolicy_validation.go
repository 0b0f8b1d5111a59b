package networking

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateNetworkPolicy(obj map[string]any, old object.View) validation.List {
	rules := networkPolicyRules{
		selectors: validation.LabelSelectorOptions{InvalidValues: validation.HasInvalidLabelSelector(old, "spec", "podSelector")},
		stored:    storedCIDRs(old),
	}
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), rules.spec)
}

// networkPolicyRules are the rules for a NetworkPolicy. An update may keep invalid
// selectors and CIDRs that are stored.
type networkPolicyRules struct {
	selectors validation.LabelSelectorOptions
	stored    []string // CIDRs
}

// networkPolicyDirections maps the fields with rules to the field with the peers of a
// rule.
var networkPolicyDirections = []struct{ name, peers string }{{"ingress", "from"}, {"egress", "to"}}

// eachPeer calls a rule for the peers of all rules of a policy.
func eachPeer(spec validation.View, rule func(validation.View)) {
	for _, direction := range networkPolicyDirections {
		for _, r := range spec.Each(direction.name) {
			for _, peer := range r.Each(direction.peers) {
				rule(peer)
			}
		}
	}
}

// storedCIDRs returns the CIDRs in the rules of a stored policy.
func storedCIDRs(policy object.View) []string {
	var cidrs []string
	eachPeer(validation.Of(policy.At("spec")), func(peer validation.View) {
		if block, ok := peer.Lookup("ipBlock"); ok {
			cidrs = append(append(cidrs, block.String("cidr")), block.Strings("except")...)
		}
	})
	return cidrs
}

func (n networkPolicyRules) spec(spec validation.View) {
	spec.LabelSelector("podSelector", n.selectors)
	for _, direction := range networkPolicyDirections {
		for _, rule := range spec.Each(direction.name) {
			for _, port := range rule.Each("ports") {
				checkNetworkPolicyPort(port)
			}
			for _, peer := range rule.Each(direction.peers) {
				n.peer(peer)
			}
		}
	}
	if spec.Len("policyTypes") > 2 {
		spec.Invalid("policyTypes", "may not specify more than two policyTypes")
		return
	}
	for i, name := range spec.Strings("policyTypes") {
		if name != "Ingress" && name != "Egress" {
			spec.Add(validation.NotSupported(spec.At("policyTypes").Index(i), validation.NamedString(name), []string{"Ingress", "Egress"}))
		}
	}
}

func checkNetworkPolicyPort(p validation.View) {
	p.OneOfIfSet("protocol", "TCP", "UDP", "SCTP")
	switch port := p.Obj["port"].(type) {
	case int64:
		p.InRange("port", 1, 65535)
		if !p.Has("endPort") {
			return
		}
		if p.Int("endPort") < port {
			p.Add(validation.Invalid(p.At("endPort"), p.Int("endPort"), "must be greater than or equal to `port`").Before(behavior.DeclarativeErrors, validation.Value(port)))
		}
		p.InRange("endPort", 1, 65535)
	case string:
		if p.Has("endPort") {
			p.Invalid("endPort", "may not be specified when `port` is non-numeric")
		}
		p.Format("port", validation.PortName)
	default:
		if p.Has("endPort") {
			p.Invalid("endPort", "may not be specified when `port` is not specified")
		}
	}
}

func (n networkPolicyRules) peer(p validation.View) {
	p.LabelSelector("podSelector", n.selectors)
	p.LabelSelector("namespaceSelector", n.selectors)
	p.IfPresent("ipBlock", n.ipBlock)
	selects := p.Has("podSelector") || p.Has("namespaceSelector")
	switch {
	case !selects && !p.Has("ipBlock"):
		p.Add(validation.Required(p.Path, "must specify a peer"))
	case selects && p.Has("ipBlock"):
		p.Add(validation.Forbidden(p.Path, "may not specify both ipBlock and another peer"))
	}
}

func (n networkPolicyRules) ipBlock(p validation.View) {
	if !p.RequireDeclared("cidr") {
		return
	}
	p.AddList(validation.LegacyCIDR(p.String("cidr"), n.stored, p.At("cidr")))
	_, network := validation.ParseCIDR(p.String("cidr"))
	if network == nil {
		return
	}
	bits, _ := network.Mask.Size()
	for i, s := range p.Strings("except") {
		path := p.At("except").Index(i)
		p.AddList(validation.LegacyCIDR(s, n.stored, path))
		_, except := validation.ParseCIDR(s)
		if except == nil {
			continue
		}
		if exceptBits, _ := except.Mask.Size(); !network.Contains(except.IP) || bits >= exceptBits {
			p.Add(validation.Invalid(path, s, "must be a strict subset of `cidr`"))
		}
	}
}

func warnNetworkPolicy(obj map[string]any, _ object.View) []string {
	var warnings []string
	eachPeer(validation.View{Obj: object.Map(obj, "spec"), Path: validation.NewPath("spec")}, func(peer validation.View) {
		block, ok := peer.Lookup("ipBlock")
		if !ok {
			return
		}
		warnings = append(warnings, validation.CIDRWarnings(block.String("cidr"), block.At("cidr"))...)
		for i, except := range block.Strings("except") {
			warnings = append(warnings, validation.CIDRWarnings(except, block.At("except").Index(i))...)
		}
	})
	return warnings
}
