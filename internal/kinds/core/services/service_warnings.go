package services

import (
	"github.com/kubefake/kubefake/internal/validation"
)

// warnService warns about deprecated and ignored fields and values that are not in
// canonical form.
func warnService(obj, _ map[string]any) []string {
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
			add(validation.IPWarnings(ip, spec.At("clusterIPs").Index(i))...)
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
		add(validation.IPWarnings(ip, spec.At("externalIPs").Index(i))...)
	}
	if len(external) > 0 && !headless && typ != "ExternalName" {
		add("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	if ip := spec.String("loadBalancerIP"); ip != "" {
		add(validation.IPWarnings(ip, spec.At("loadBalancerIP"))...)
	}
	for i, cidr := range spec.Strings("loadBalancerSourceRanges") {
		add(validation.CIDRWarnings(cidr, spec.At("loadBalancerSourceRanges").Index(i))...)
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
func warnServiceStatus(obj, _ map[string]any) []string {
	var warnings []string
	for _, ingress := range (validation.View{Obj: obj}).Field("status").Field("loadBalancer").Each("ingress") {
		if ip := ingress.String("ip"); ip != "" {
			warnings = append(warnings, validation.IPWarnings(ip, ingress.Path)...)
		}
	}
	return warnings
}
