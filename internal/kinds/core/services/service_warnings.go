package services

import (
	"fmt"
	"net/netip"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// An addressWarner returns warnings about an address or a network that is not in canonical
// form.
type addressWarner func(s string, path *validation.Path) []string

// warnService warns about deprecated and ignored fields and values that are not in
// canonical form.
func warnService(r validation.Release, obj map[string]any, _ object.View) []string {
	if !r.Has(behavior.WarnsOfAddresses) { // only Services had warnings about addresses
		return serviceWarnings(obj, olderIPWarnings, olderCIDRWarnings)
	}
	return serviceWarnings(obj, validation.IPWarnings, validation.CIDRWarnings)
}

func olderIPWarnings(s string, path *validation.Path) []string {
	ip, err := netip.ParseAddr(s)
	return olderWarnings(path, "IP address", "IPv6 address", s, ip, ip.String(), err)
}

func olderCIDRWarnings(s string, path *validation.Path) []string {
	prefix, err := netip.ParsePrefix(s)
	return olderWarnings(path, "IP prefix", "IPv6 prefix", s, prefix.Addr(), prefix.String(), err)
}

// olderWarnings returns the warnings of v1.32 about a text that was parsed, with an error or
// as the canonical text of an address or network.
func olderWarnings(path *validation.Path, what, whatIPv6, s string, ip netip.Addr, canonical string, err error) []string {
	switch {
	case err != nil:
		return []string{fmt.Sprintf("%s: %s was accepted, but will be invalid in a future Kubernetes release: %v", path, what, err)}
	case ip.Is6() && canonical != s:
		return []string{fmt.Sprintf("%s: %s %q is not in RFC 5952 canonical format (%q), which may cause controller apply-loops", path, whatIPv6, s, canonical)}
	}
	return nil
}

func serviceWarnings(obj map[string]any, ipWarnings, cidrWarnings addressWarner) []string {
	root := validation.View{Obj: obj}
	spec := root.Field("spec")
	var warnings []string
	add := func(texts ...string) { warnings = append(warnings, texts...) }
	if root.Field("metadata").Field("annotations").Has(hintsAnnotation) {
		add("annotation " + hintsAnnotation + " is deprecated, please use " + modeAnnotation + " instead")
	}
	typ, ip, external := spec.String("type"), spec.String("clusterIP"), spec.Strings("externalIPs")
	headless := typ == "ClusterIP" && ip == "None"
	if ip != "None" && ip != "" {
		for i, ip := range spec.Strings("clusterIPs") {
			add(ipWarnings(ip, spec.At("clusterIPs").Index(i))...)
		}
	}
	if headless {
		if spec.String("loadBalancerIP") != "" {
			add("spec.loadBalancerIP is ignored for headless services")
		}
		if len(external) > 0 {
			add("spec.externalIPs is ignored for headless services")
		}
		if spec.String("sessionAffinity") != "None" {
			add("spec.SessionAffinity is ignored for headless services")
		}
	}
	for i, ip := range external {
		add(ipWarnings(ip, spec.At("externalIPs").Index(i))...)
	}
	if len(external) > 0 && !headless && typ != "ExternalName" {
		add("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	if ip := spec.String("loadBalancerIP"); ip != "" {
		add(ipWarnings(ip, spec.At("loadBalancerIP"))...)
	}
	for i, cidr := range spec.Strings("loadBalancerSourceRanges") {
		add(cidrWarnings(cidr, spec.At("loadBalancerSourceRanges").Index(i))...)
	}
	if typ == "ExternalName" && len(external) > 0 {
		add(`spec.externalIPs is ignored when spec.type is "ExternalName"`)
	}
	if typ != "ExternalName" && spec.String("externalName") != "" {
		add(`spec.externalName is ignored when spec.type is not "ExternalName"`)
	}
	if spec.String("trafficDistribution") == "PreferClose" {
		add(`spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`)
	}
	return warnings
}

// warnServiceStatus warns about addresses that are not in canonical form.
func warnServiceStatus(obj map[string]any, _ object.View) []string {
	var warnings []string
	for _, ingress := range (validation.View{Obj: obj}).Field("status").Field("loadBalancer").Each("ingress") {
		if ip := ingress.String("ip"); ip != "" {
			warnings = append(warnings, validation.IPWarnings(ip, ingress.Path)...)
		}
	}
	return warnings
}
