package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

const (
	hintsAnnotation  = "service.kubernetes.io/topology-aware-hints"
	modeAnnotation   = "service.kubernetes.io/topology-mode"
	rangesAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges"
)

// maxAffinitySeconds is how long a client may be kept to one endpoint: a day.
const maxAffinitySeconds = 24 * 60 * 60

func validateService(obj, old map[string]any) validation.List {
	if old == nil {
		return mistakes(obj, nil, service(nil))
	}
	return mistakes(obj, nil, serviceUpdate(object.Map(old, "spec")), service(old))
}

func isHeadless(spec map[string]any) bool {
	ips := object.Strings(spec, "clusterIPs")
	return len(ips) == 1 && ips[0] == "None"
}

// service returns the rule of a service; old is nil on a creation.
func service(old map[string]any) func(part) {
	return func(p part) {
		annotations := p.within("metadata").within("annotations")
		if annotations.has(hintsAnnotation) && annotations.has(modeAnnotation) && annotations.text(hintsAnnotation) != annotations.text(modeAnnotation) {
			p.note(validation.Invalid(annotations.path.Key(modeAnnotation), annotations.text(modeAnnotation),
				"must match annotations["+hintsAnnotation+"] when both are specified"))
		}
		spec, was := p.within("spec"), object.Map(old, "spec")
		serviceType(spec)
		names := names{}
		for _, port := range spec.each("ports") {
			portOfService(port, spec.size("ports") > 1, names)
		}
		spec.add(validation.Labels(object.Map(spec.obj, "selector"), spec.at("selector")))
		sessionAffinity(spec)
		clusterIPs(spec, was)
		externalIPs(spec, was)
		spec.needsOneOf("type", "ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
		uniquePorts(spec)
		sourceRanges(spec, annotations, old)
		loadBalancing(spec)
		trafficPolicies(spec)
	}
}

func serviceType(p part) {
	headless := isHeadless(p.obj)
	typ := p.text("type")
	if !headless && typ != "ExternalName" {
		p.needs("ports")
	}
	switch typ {
	case "LoadBalancer", "NodePort":
		if headless {
			p.note(validation.Invalid(p.at("clusterIPs").Index(0), "None", "may not be set to 'None' for "+typ+" services"))
		}
	case "ExternalName":
		const detail = "may not be set for ExternalName services"
		for _, name := range []string{"clusterIPs", "ipFamilies"} {
			if p.size(name) > 0 {
				p.forbid(name, detail)
			}
		}
		if p.has("ipFamilyPolicy") {
			p.forbid("ipFamilyPolicy", detail)
		}
		if name := strings.TrimSuffix(p.text("externalName"), "."); name != "" {
			p.add(validation.Each(p.at("externalName"), name, validation.DNS1123Subdomain(name)))
		} else {
			p.missing("externalName", "")
		}
	}
}

func portOfService(p part, needsName bool, taken names) {
	if name := p.text("name"); name != "" {
		p.is("name", validation.DNS1123Label)
		taken.unique(p, "name")
	} else if needsName {
		p.missing("name", "")
	}
	p.between("port", 1, 65535)
	p.needsOneOf("protocol", protocols...)
	switch target := p.obj["targetPort"].(type) {
	case string:
		p.is("targetPort", validation.PortName)
	default:
		n, _ := target.(int64)
		p.add(validation.Each(p.at("targetPort"), n, validation.PortNumber(int(n))))
	}
	if p.has("appProtocol") {
		p.is("appProtocol", validation.QualifiedName)
	}
}

func sessionAffinity(p part) {
	p.needsOneOf("sessionAffinity", "ClientIP", "None")
	config := p.within("sessionAffinityConfig")
	const detail = "when session affinity type is ClientIP"
	switch p.text("sessionAffinity") {
	case "None":
		if config.obj != nil {
			p.forbid("sessionAffinityConfig", "must not be set when session affinity is None")
		}
	case "ClientIP":
		clientIP := config.within("clientIP")
		switch {
		case config.obj == nil:
			p.missing("sessionAffinityConfig", detail)
		case clientIP.obj == nil:
			config.missing("clientIP", detail)
		case !clientIP.has("timeoutSeconds"):
			clientIP.missing("timeoutSeconds", detail)
		default:
			if n := clientIP.integer("timeoutSeconds"); n <= 0 || n > maxAffinitySeconds {
				clientIP.invalid("timeoutSeconds", fmt.Sprintf("must be greater than 0 and less than %d", maxAffinitySeconds))
			}
		}
	}
}

// clusterIPs checks the addresses of a service, their families and what is said
// of both. The old specification is nil on a creation.
func clusterIPs(p part, old map[string]any) {
	if p.text("type") == "ExternalName" {
		return
	}
	ips, families := p.texts("clusterIPs"), p.texts("ipFamilies")
	invalid := func(detail string) {
		p.note(validation.Invalid(p.at("clusterIPs"), internal("[]s", p.obj["clusterIPs"]), detail))
	}
	switch ip := p.text("clusterIP"); {
	case ip != "" && len(ips) == 0:
		p.missing("clusterIPs", "")
	case ip != "" && ips[0] != ip:
		invalid("first value must match `clusterIP`")
	case ip == "" && len(ips) > 0:
		invalid("must be empty when `clusterIP` is not specified")
	}
	seen := names{}
	for i, family := range families {
		path := p.at("ipFamilies").Index(i)
		if family != ipv4 && family != ipv6 {
			p.note(validation.NotSupported(path, validation.NamedString(family), []string{ipv4, ipv6}))
		}
		if seen[family] {
			p.note(validation.Duplicate(path, validation.NamedString(family)))
		}
		seen[family] = true
	}
	p.ifOneOf("ipFamilyPolicy", "PreferDualStack", "RequireDualStack", "SingleStack")
	before := len(*p.errs)
	for i, ip := range ips {
		if i > 0 || ip != "None" {
			p.add(validation.LegacyIP(ip, object.Strings(old, "clusterIPs"), p.at("clusterIPs").Index(i)))
		} else if len(ips) > 1 {
			invalid("'None' must be the first and only value")
		}
	}
	valid := p.sound(before)
	if len(ips) > 2 {
		invalid("may only hold up to 2 values")
	}
	if !valid {
		return
	}
	if len(ips) > 1 && !slices.ContainsFunc(ips, func(ip string) bool { return familyOf(ip) != familyOf(ips[0]) }) {
		invalid("may specify no more than one IP for each IP family")
	}
	if isHeadless(p.obj) {
		return
	}
	for i := range min(len(ips), len(families)) {
		if family := families[i]; family != familyOf(ips[i]) && (family == ipv4 || family == ipv6) {
			p.note(validation.Invalid(p.at("clusterIPs").Index(i), ips[i], fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", family, i)))
		}
	}
}

func externalIPs(p part, old map[string]any) {
	held := object.Strings(old, "externalIPs")
	for i, ip := range p.texts("externalIPs") {
		path := p.at("externalIPs").Index(i)
		if errs := validation.LegacyIP(ip, held, path); len(errs) > 0 {
			p.add(errs)
		} else {
			endpointIP(p, ip, path)
		}
	}
}

// uniquePorts checks that no two ports have the same number and protocol, on
// the nodes and on the service itself.
func uniquePorts(p part) {
	if p.text("type") == "ClusterIP" {
		for _, port := range p.each("ports") {
			if port.integer("nodePort") != 0 {
				port.forbid("nodePort", "may not be used when `type` is 'ClusterIP'")
			}
		}
	}
	seen := names{}
	for _, port := range p.each("ports") {
		n := port.integer("nodePort")
		if n == 0 {
			continue
		}
		id := fmt.Sprint("node ", port.text("protocol"), n)
		if seen[id] {
			port.duplicate("nodePort", n)
		}
		seen[id] = true
	}
	for _, port := range p.each("ports") {
		id := fmt.Sprint(port.text("protocol"), port.integer("port"))
		if seen[id] {
			key := map[string]any{"protocol": port.obj["protocol"], "port": port.obj["port"]}
			port.note(validation.Duplicate(port.path, internal("core.ServicePort", key)))
		}
		seen[id] = true
	}
}

// sourceRanges checks from where a load balancer may be reached, by the field or
// else by the older annotation. What was there may stay.
func sourceRanges(p, annotations part, old map[string]any) {
	const detail = "may only be used when `type` is 'LoadBalancer'"
	path := p.at("LoadBalancerSourceRanges") // so kube-apiserver calls it
	ranges := p.texts("loadBalancerSourceRanges")
	annotated := annotations.has(rangesAnnotation)
	if len(ranges) == 0 {
		if !annotated {
			return
		}
		path = annotations.path.Key(rangesAnnotation)
	}
	if p.text("type") != "LoadBalancer" {
		p.note(validation.Forbidden(path, detail))
	}
	if len(ranges) > 0 {
		held := object.Strings(old, "spec", "loadBalancerSourceRanges")
		for i := range held {
			held[i] = strings.TrimSpace(held[i])
		}
		for i, cidr := range ranges {
			p.add(validation.LegacyCIDR(strings.TrimSpace(cidr), held, path.Index(i)))
		}
		return
	}
	value := annotations.text(rangesAnnotation)
	if was, ok := object.Value(old, "metadata", "annotations", rangesAnnotation).(string); old != nil && (ok || value == "") && was == value {
		return
	}
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	for cidr := range strings.SplitSeq(value, ",") {
		p.add(validation.LegacyCIDR(strings.TrimSpace(cidr), nil, path))
	}
}

// loadBalancing checks what only load balancers have.
func loadBalancing(p part) {
	const detail = "may only be used when `type` is 'LoadBalancer'"
	balanced := p.text("type") == "LoadBalancer"
	switch set := p.has("allocateLoadBalancerNodePorts"); {
	case set && !balanced:
		p.forbid("allocateLoadBalancerNodePorts", detail)
	case !set && balanced:
		p.note(validation.Required(validation.NewPath("allocateLoadBalancerNodePorts"), ""))
	}
	loadBalancerClass(p)
}

func loadBalancerClass(p part) {
	switch {
	case !p.has("loadBalancerClass"):
	case p.text("type") == "LoadBalancer":
		p.is("loadBalancerClass", validation.QualifiedName)
	default:
		p.forbid("loadBalancerClass", "may only be used when `type` is 'LoadBalancer'")
	}
}

// trafficPolicies checks which endpoints traffic goes to.
func trafficPolicies(p part) {
	if reachable(p.obj) {
		p.needsOneOf("externalTrafficPolicy", "Cluster", "Local")
	} else if p.text("externalTrafficPolicy") != "" {
		p.invalidEnum("externalTrafficPolicy", "may only be set for externally-accessible services")
	}
	port := p.integer("healthCheckNodePort")
	switch needed := needsHealthCheckPort(p.obj); {
	case !needed && port != 0:
		p.invalid("healthCheckNodePort", "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	case needed && port == 0:
		p.missing("healthCheckNodePort", "")
	case needed:
		p.between("healthCheckNodePort", 1, 65535)
	}
	if p.has("internalTrafficPolicy") {
		p.oneOf("internalTrafficPolicy", "Cluster", "Local")
	} else if typ := p.text("type"); typ == "ClusterIP" || typ == "NodePort" || typ == "LoadBalancer" {
		p.missing("internalTrafficPolicy", "")
	}
	if p.has("trafficDistribution") {
		value, known := p.text("trafficDistribution"), []string{"PreferClose", "PreferSameZone", "PreferSameNode"}
		if !slices.Contains(known, value) {
			p.note(validation.NotSupported(p.at("trafficDistribution"), value, known))
		}
	}
}

// serviceUpdate returns the rule of what may become of a service of the old
// specification.
func serviceUpdate(old map[string]any) func(part) {
	return func(p part) {
		spec := p.within("spec")
		if spec.text("type") != "ExternalName" && old["type"] != "ExternalName" {
			if !isHeadless(spec.obj) || !isHeadless(old) {
				clusterIPsUpdate(spec, old)
			}
			if !isHeadless(spec.obj) && !isHeadless(old) {
				ipFamiliesUpdate(spec, old)
			}
		}
		if old["type"] == "LoadBalancer" && spec.text("type") == "LoadBalancer" && !same(spec.obj, old, "loadBalancerClass") {
			spec.note(validation.Invalid(spec.at("loadBalancerClass"), internal("*s", spec.obj["loadBalancerClass"]), "may not change once set"))
		}
		loadBalancerClass(spec)
		if needsHealthCheckPort(old) && needsHealthCheckPort(spec.obj) && !same(spec.obj, old, "healthCheckNodePort") {
			spec.forbid("healthCheckNodePort", "field is immutable")
		}
	}
}

// clusterIPsUpdate checks that a service keeps its addresses, but for a second
// one that comes or goes.
func clusterIPsUpdate(p part, old map[string]any) {
	is, was := p.texts("clusterIPs"), object.Strings(old, "clusterIPs")
	invalid := func(i int, detail string) {
		p.note(validation.Invalid(p.at("clusterIPs").Index(i), internal("[]s", p.obj["clusterIPs"]), detail))
	}
	switch {
	case len(is) == len(was):
		for i := range was {
			if is[i] != was[i] {
				invalid(i, "may not change once set")
			}
		}
	case len(is) == 0:
		invalid(0, "primary clusterIP can not be unset")
	case len(was) > 0 && is[0] != was[0]:
		invalid(0, "may not change once set")
	}
	if len(is) < len(was) && len(is) == 1 {
		needsSingleStack(p, "clusterIP")
	}
}

// ipFamiliesUpdate does the same for the families.
func ipFamiliesUpdate(p part, old map[string]any) {
	is, was := p.texts("ipFamilies"), object.Strings(old, "ipFamilies")
	invalid := func(told, detail string) {
		p.note(validation.Invalid(p.at("ipFamilies").Index(0), internal("[]s", p.obj[told]), detail))
	}
	if len(is) == len(was) {
		for i := range was {
			if is[i] != was[i] {
				invalid("ipFamilies", "may not change once set")
			}
		}
		return
	}
	if len(is) < len(was) && p.size("clusterIPs") == 0 {
		invalid("ipFamilies", "primary ipFamily can not be unset")
	}
	if len(is) > 0 && len(was) > 0 && is[0] != was[0] {
		invalid("clusterIPs", "may not change once set")
	}
	if len(is) < len(was) && len(is) == 1 {
		needsSingleStack(p, "ipFamily")
	}
}

func needsSingleStack(p part, released string) {
	if p.text("ipFamilyPolicy") != "SingleStack" {
		p.note(validation.Invalid(p.at("ipFamilyPolicy"), internal("*s", p.obj["ipFamilyPolicy"]), "must be set to 'SingleStack' when releasing the secondary "+released))
	}
}

func validateServiceStatus(obj, old map[string]any) validation.List {
	balanced := object.String(obj, "spec", "type") == "LoadBalancer"
	var held []string
	for ingress := range object.Each(object.Value(old, "status", "loadBalancer", "ingress")) {
		held = append(held, object.String(ingress, "ip"))
	}
	return mistakes(object.Map(obj, "status"), validation.NewPath("status"), func(p part) {
		balancer := p.within("loadBalancer")
		if !balanced && balancer.size("ingress") > 0 {
			balancer.forbid("ingress", "may only be used when `spec.type` is 'LoadBalancer'")
			return
		}
		for _, ingress := range balancer.each("ingress") {
			serviceIngress(ingress, held)
		}
	})
}

func serviceIngress(p part, held []string) {
	ip := p.text("ip")
	if ip != "" {
		p.add(validation.LegacyIP(ip, held, p.at("ip")))
	}
	switch set := p.has("ipMode"); {
	case !set && ip != "":
		p.missing("ipMode", "must be specified when `ip` is set")
	case set && ip == "":
		p.forbid("ipMode", "may not be specified when `ip` is not set")
	case set:
		p.oneOf("ipMode", "Proxy", "VIP")
	}
	p.ifSet("hostname", validation.DNS1123Subdomain)
	if parseAddress(p.text("hostname")).IsValid() {
		p.invalid("hostname", "must be a DNS name, not an IP address")
	}
}

// warnService tells of what has no effect, and of what had better be written in
// another way.
func warnService(obj, _ map[string]any) []string {
	whole := part{obj: obj}
	spec := whole.within("spec")
	var warnings []string
	add := func(texts ...string) { warnings = append(warnings, texts...) }
	if whole.within("metadata").within("annotations").has(hintsAnnotation) {
		add("annotation " + hintsAnnotation + " is deprecated, please use " + modeAnnotation + " instead")
	}
	typ, ip, external := spec.text("type"), spec.text("clusterIP"), spec.texts("externalIPs")
	headless := typ == "ClusterIP" && ip == "None"
	if ip != "None" && ip != "" {
		for i, ip := range spec.texts("clusterIPs") {
			add(validation.IPWarnings(ip, spec.at("clusterIPs").Index(i))...)
		}
	}
	if headless {
		if spec.text("loadBalancerIP") != "" {
			add("spec.loadBalancerIP is ignored for headless services")
		}
		if len(external) > 0 {
			add("spec.externalIPs is ignored for headless services")
		}
		if spec.text("sessionAffinity") != "None" {
			add("spec.SessionAffinity is ignored for headless services")
		}
	}
	for i, ip := range external {
		add(validation.IPWarnings(ip, spec.at("externalIPs").Index(i))...)
	}
	if len(external) > 0 && !headless && typ != "ExternalName" {
		add("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	if ip := spec.text("loadBalancerIP"); ip != "" {
		add(validation.IPWarnings(ip, spec.at("loadBalancerIP"))...)
	}
	for i, cidr := range spec.texts("loadBalancerSourceRanges") {
		add(validation.CIDRWarnings(cidr, spec.at("loadBalancerSourceRanges").Index(i))...)
	}
	if typ == "ExternalName" && len(external) > 0 {
		add(`spec.externalIPs is ignored when spec.type is "ExternalName"`)
	}
	if typ != "ExternalName" && spec.text("externalName") != "" {
		add(`spec.externalName is ignored when spec.type is not "ExternalName"`)
	}
	if spec.text("trafficDistribution") == "PreferClose" {
		add(`spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`)
	}
	return warnings
}

// warnServiceStatus tells of addresses that are spelled in an odd way.
func warnServiceStatus(obj, _ map[string]any) []string {
	var warnings []string
	for _, ingress := range (part{obj: obj}).within("status").within("loadBalancer").each("ingress") {
		if ip := ingress.text("ip"); ip != "" {
			warnings = append(warnings, validation.IPWarnings(ip, ingress.path)...)
		}
	}
	return warnings
}
