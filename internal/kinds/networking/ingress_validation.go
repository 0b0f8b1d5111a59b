package networking

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/services"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// ingressClass is the annotation that preceded spec.ingressClassName.
const ingressClass = "kubernetes.io/ingress.class"

func validateIngress(obj map[string]any, old object.View) validation.List {
	rules := ingressRules{anySecretName: hasBadSecretName(old), anyWildcardRule: hasBadWildcardRule(old)}
	errs := validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), rules.spec)
	if !old.IsNil() {
		return errs
	}
	annotation, annotated := object.Value(obj, "metadata", "annotations", ingressClass).(string)
	class, named := object.Value(obj, "spec", "ingressClassName").(string)
	if annotated && named && annotation != class {
		errs = append(errs, validation.Invalid(validation.NewPath("annotations", ingressClass), annotation, "must match `ingressClassName` when both are specified"))
	}
	return errs
}

func warnIngress(obj map[string]any, old object.View) []string {
	if !old.IsNil() || object.Value(obj, "metadata", "annotations", ingressClass) == nil || object.Value(obj, "spec", "ingressClassName") != nil {
		return nil
	}
	return []string{fmt.Sprintf("annotation %q is deprecated, please use 'spec.ingressClassName' instead", ingressClass)}
}

// ingressRules are the rules for an Ingress. An update may keep invalid secret names
// and wildcard rules that are stored.
type ingressRules struct{ anySecretName, anyWildcardRule bool }

func hasBadSecretName(ingress object.View) bool {
	for tls := range ingress.At("spec", "tls").Objects() {
		if name := tls.String("secretName"); name != "" && len(validation.Subdomain(name)) > 0 {
			return true
		}
	}
	return false
}

func hasBadWildcardRule(ingress object.View) bool {
	for rule := range ingress.At("spec", "rules").Objects() {
		if strings.Contains(rule.String("host"), "*") && len(validation.Collect(rule.SharedMembers(), nil, checkIngressHTTP)) > 0 {
			return true
		}
	}
	return false
}

func (r ingressRules) spec(p validation.View) {
	if p.Len("rules") == 0 && !p.Has("defaultBackend") {
		p.Add(validation.Invalid(p.Path, validation.AsGoType("[]networking.IngressRule", p.Obj["rules"]), "either `defaultBackend` or `rules` must be specified"))
	}
	p.IfPresent("defaultBackend", checkIngressBackend)
	for _, rule := range p.Each("rules") {
		r.rule(rule)
	}
	for _, tls := range p.Each("tls") {
		for i, host := range tls.Strings("hosts") {
			p.AddList(validation.Each(tls.At("hosts").Index(i), host, hostName(host)))
		}
		if !r.anySecretName {
			tls.FormatIfSet("secretName", validation.Subdomain)
		}
	}
	if p.Has("ingressClassName") {
		p.Format("ingressClassName", validation.Subdomain)
	}
}

// hostName is the format of a host, which may begin with a wildcard.
func hostName(host string) []string {
	if strings.Contains(host, "*") {
		return validation.WildcardDNS1123Subdomain(host)
	}
	return validation.DNS1123Subdomain(host)
}

func (r ingressRules) rule(p validation.View) {
	host := p.String("host")
	if validation.IsIP(host) {
		p.Invalid("host", services.MustBeDNSName)
	}
	p.FormatIfSet("host", hostName)
	if !r.anyWildcardRule || !strings.Contains(host, "*") {
		checkIngressHTTP(p)
	}
}

func checkIngressHTTP(rule validation.View) {
	http, ok := rule.Lookup("http")
	if !ok {
		return
	}
	http.Require("paths")
	for _, path := range http.Each("paths") {
		checkIngressPath(path)
	}
}

func checkIngressPath(p validation.View) {
	if !p.Has("pathType") {
		p.Required("pathType", "pathType must be specified")
		return
	}
	path := p.String("path")
	switch p.String("pathType") {
	case "Exact", "Prefix":
		if !strings.HasPrefix(path, "/") {
			p.Add(validation.Invalid(p.At("path"), path, "must be an absolute path"))
		}
		for _, sequence := range pathSequences {
			if strings.Contains(path, sequence) {
				p.Invalid("path", fmt.Sprintf("must not contain '%s'", sequence))
			}
		}
		for _, suffix := range pathSuffixes {
			if strings.HasSuffix(path, suffix) {
				p.Invalid("path", fmt.Sprintf("cannot end with '%s'", suffix))
			}
		}
	case "ImplementationSpecific":
		if path != "" && !strings.HasPrefix(path, "/") {
			p.Invalid("path", "must be an absolute path")
		}
	default:
		p.OneOf("pathType", "Exact", "ImplementationSpecific", "Prefix")
	}
	checkIngressBackend(p.Field("backend"))
}

func checkIngressBackend(p validation.View) {
	resource, hasResource := p.Lookup("resource")
	service, hasService := p.Lookup("service")
	switch {
	case hasResource && hasService:
		p.Add(validation.Invalid(p.Path, "", "cannot set both resource and service backends"))
	case hasResource:
		checkTypedReference(resource)
	case hasService:
		if name := service.String("name"); service.Require("name") {
			const gate = "RelaxedServiceNameValidation"
			service.AddList(validation.Each(service.At("name"), name, validation.DNS1123Label(name)).WithGate(gate))
			service.AddList(validation.Each(service.At("name"), name, validation.DNS1035Label(name)).WithoutGate(gate))
		}
		checkBackendPort(p, service.Field("port"))
	default:
		p.Add(validation.Invalid(p.Path, "", "resource or service backend is required"))
	}
}

// checkBackendPort checks that the port of a backend has a name or a number.
func checkBackendPort(backend, port validation.View) {
	name, number := port.String("name") != "", port.Int("number") != 0
	switch {
	case name && number:
		backend.Add(validation.Invalid(backend.Path, "", "cannot set both port name & port number"))
	case name:
		port.Format("name", validation.PortName)
	case number:
		port.InRange("number", 1, 65535)
	default:
		backend.Add(validation.Required(backend.Path, "port name or number is required"))
	}
}

// checkTypedReference checks a reference to an object of any kind.
func checkTypedReference(p validation.View) {
	if p.Has("apiGroup") {
		p.Format("apiGroup", validation.DNS1123Subdomain)
	}
	for _, name := range []string{"kind", "name"} {
		if p.String(name) == "" {
			p.Add(validation.Required(p.At(name), "").Before(behavior.PlainDetails, validation.Detail(name+" is required")))
		} else {
			p.Format(name, validation.PathSegment)
		}
	}
}

func validateIngressStatus(obj map[string]any, old object.View) validation.List {
	var stored []string
	for ingress := range old.At("status", "loadBalancer", "ingress").Objects() {
		stored = append(stored, ingress.String("ip"))
	}
	return validation.Collect(object.Map(obj, "status", "loadBalancer"), loadBalancerPath, func(p validation.View) {
		for _, ingress := range p.Each("ingress") {
			services.CheckLoadBalancerIngress(ingress, stored)
		}
	})
}

var loadBalancerPath = validation.NewPath("status", "loadBalancer")

func warnIngressStatus(obj map[string]any, _ object.View) []string {
	var warnings []string
	status := validation.View{Obj: object.Map(obj, "status", "loadBalancer"), Path: loadBalancerPath}
	for _, ingress := range status.Each("ingress") {
		warnings = append(warnings, validation.IPWarnings(ingress.String("ip"), ingress.Path)...)
	}
	return warnings
}

// The parts that paths of the types Exact and Prefix cannot have.
var (
	pathSequences = []string{"//", "/./", "/../", "%2f", "%2F"}
	pathSuffixes  = []string{"/..", "/."}
)
