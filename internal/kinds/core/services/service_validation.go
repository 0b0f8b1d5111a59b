package services

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

const (
	hintsAnnotation  = "service.kubernetes.io/topology-aware-hints"
	modeAnnotation   = "service.kubernetes.io/topology-mode"
	rangesAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges"
)

// maxAffinitySeconds is the maximum timeout of ClientIP session affinity: one day.
const maxAffinitySeconds = 24 * 60 * 60

func validateService(obj map[string]any, old object.View) validation.List {
	if old.IsNil() {
		return validation.Collect(obj, nil, serviceRule(object.View{}))
	}
	return validation.Collect(obj, nil, serviceUpdateRule(old.At("spec")), serviceRule(old))
}

func isHeadless(spec object.View) bool {
	ips := spec.Strings("clusterIPs")
	return len(ips) == 1 && ips[0] == "None"
}

// serviceRule returns the rule for a Service. old is nothing on create.
func serviceRule(old object.View) func(validation.View) {
	return func(p validation.View) {
		annotations := p.Field("metadata").Field("annotations")
		if annotations.Has(hintsAnnotation) && annotations.Has(modeAnnotation) && annotations.String(hintsAnnotation) != annotations.String(modeAnnotation) {
			p.Add(validation.Invalid(annotations.Path.Key(modeAnnotation), annotations.String(modeAnnotation),
				"must match annotations["+hintsAnnotation+"] when both are specified"))
		}
		spec, was := p.Field("spec"), old.At("spec")
		checkServiceType(spec)
		names := validation.Seen{}
		for _, port := range spec.Each("ports") {
			checkServicePort(port, spec.Len("ports") > 1, names)
		}
		spec.Labels("selector")
		checkSessionAffinity(spec)
		checkClusterIPs(spec, was)
		checkExternalIPs(spec, was)
		spec.RequireOneOf("type", "ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
		checkUniquePorts(spec)
		checkSourceRanges(spec, annotations, old)
		checkLoadBalancerFields(spec)
		checkTrafficPolicies(spec)
	}
}

func checkServiceType(p validation.View) {
	headless := isHeadless(p.Object())
	typ := p.String("type")
	if !headless && typ != "ExternalName" {
		p.Require("ports")
	}
	switch typ {
	case "LoadBalancer", "NodePort":
		if typ == "LoadBalancer" {
			checkKubeletPort(p)
		}
		if headless {
			p.Add(validation.Invalid(p.At("clusterIPs").Index(0), "None", "may not be set to 'None' for "+typ+" services"))
		}
	case "ExternalName":
		const detail = "may not be set for ExternalName services"
		for _, name := range []string{"clusterIPs", "ipFamilies"} {
			if p.Len(name) > 0 {
				p.Forbidden(name, detail)
			}
		}
		if p.Has("ipFamilyPolicy") {
			p.Forbidden("ipFamilyPolicy", detail)
		}
		if name := strings.TrimSuffix(p.String("externalName"), "."); name != "" {
			p.AddList(validation.Each(p.At("externalName"), name, validation.DNS1123Subdomain(name)))
		} else {
			p.Required("externalName", "")
		}
	}
}

func checkServicePort(p validation.View, needsName bool, names validation.Seen) {
	if name := p.String("name"); name != "" {
		p.Format("name", validation.DNS1123Label)
		names.Unique(p, "name")
	} else if needsName {
		p.Required("name", "")
	}
	p.InRange("port", 1, 65535)
	p.RequireOneOf("protocol", protocols...)
	switch target := p.Obj["targetPort"].(type) {
	case string:
		p.Format("targetPort", validation.PortName)
	default:
		n, _ := target.(int64)
		p.AddList(validation.Each(p.At("targetPort"), n, validation.PortNumber(int(n))))
	}
	if p.Has("appProtocol") {
		p.Format("appProtocol", validation.QualifiedName)
	}
}

func checkSessionAffinity(p validation.View) {
	p.RequireOneOf("sessionAffinity", "ClientIP", "None")
	config := p.Field("sessionAffinityConfig")
	const detail = "when session affinity type is ClientIP"
	switch p.String("sessionAffinity") {
	case "None":
		if config.Obj != nil {
			p.Forbidden("sessionAffinityConfig", "must not be set when session affinity is None")
		}
	case "ClientIP":
		clientIP := config.Field("clientIP")
		switch {
		case config.Obj == nil:
			p.Required("sessionAffinityConfig", detail)
		case clientIP.Obj == nil:
			config.Required("clientIP", detail)
		case !clientIP.Has("timeoutSeconds"):
			clientIP.Required("timeoutSeconds", detail)
		default:
			if n := clientIP.Int("timeoutSeconds"); n <= 0 || n > maxAffinitySeconds {
				clientIP.Invalid("timeoutSeconds", fmt.Sprintf("must be greater than 0 and less than %d", maxAffinitySeconds))
			}
		}
	}
}

// checkClusterIPs validates clusterIP, clusterIPs and ipFamilies against each other.
// old is the old spec, nothing on create.
func checkClusterIPs(p validation.View, old object.View) {
	if p.String("type") == "ExternalName" {
		return
	}
	ips, families := p.Strings("clusterIPs"), p.Strings("ipFamilies")
	invalid := func(detail string) {
		p.Add(validation.Invalid(p.At("clusterIPs"), validation.AsGoType("[]s", p.Obj["clusterIPs"]), detail))
	}
	switch ip := p.String("clusterIP"); {
	case ip != "" && len(ips) == 0:
		p.Required("clusterIPs", "")
	case ip != "" && ips[0] != ip:
		invalid("first value must match `clusterIP`")
	case ip == "" && len(ips) > 0:
		invalid("must be empty when `clusterIP` is not specified")
	}
	seen := validation.Seen{}
	for i, family := range families {
		path := p.At("ipFamilies").Index(i)
		if family != validation.IPv4 && family != validation.IPv6 {
			p.Add(validation.NotSupported(path, validation.NamedString(family), []string{validation.IPv4, validation.IPv6}))
		}
		if seen[family] {
			p.Add(validation.Duplicate(path, validation.NamedString(family)))
		}
		seen[family] = true
	}
	p.OneOfIfSet("ipFamilyPolicy", "PreferDualStack", "RequireDualStack", "SingleStack")
	before := len(p.Errs.List)
	valid := true
	for i, ip := range ips {
		if i > 0 || ip != "None" {
			p.AddList(validation.LegacyIP(ip, old.Strings("clusterIPs"), p.At("clusterIPs").Index(i)))
			valid = valid && validation.IsIP(ip)
		} else if len(ips) > 1 {
			invalid("'None' must be the first and only value")
			valid = false
		}
	}
	ambiguous := !p.NoErrorsSince(before)
	if len(ips) > 2 {
		invalid("may only hold up to 2 values")
	}
	if !valid {
		return
	}
	rest := validation.Collect(p.Obj, p.Path, checkClusterIPFamilies)
	if ambiguous {
		rest.WithoutGate(validation.StrictGate)
	}
	p.AddList(rest)
}

// checkClusterIPFamilies validates the IP families of clusterIPs, which are addresses.
func checkClusterIPFamilies(p validation.View) {
	ips, families := p.Strings("clusterIPs"), p.Strings("ipFamilies")
	if len(ips) > 1 && !slices.ContainsFunc(ips, func(ip string) bool { return validation.IPFamily(ip) != validation.IPFamily(ips[0]) }) {
		p.Add(validation.Invalid(p.At("clusterIPs"), validation.AsGoType("[]s", p.Obj["clusterIPs"]), "may specify no more than one IP for each IP family"))
	}
	if isHeadless(p.Object()) {
		return
	}
	for i := range min(len(ips), len(families)) {
		if family := families[i]; family != validation.IPFamily(ips[i]) && (family == validation.IPv4 || family == validation.IPv6) {
			p.Add(validation.Invalid(p.At("clusterIPs").Index(i), ips[i], fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", family, i)))
		}
	}
}

func checkExternalIPs(p validation.View, old object.View) {
	oldIPs := old.Strings("externalIPs")
	for i, ip := range p.Strings("externalIPs") {
		path := p.At("externalIPs").Index(i)
		if errs := validation.LegacyIP(ip, oldIPs, path); len(errs) > 0 {
			p.AddList(errs)
		} else {
			checkEndpointIP(p, ip, path)
		}
	}
}

// checkUniquePorts checks that port numbers are unique for each protocol, and node
// ports as well.
func checkUniquePorts(p validation.View) {
	if p.String("type") == "ClusterIP" {
		for _, port := range p.Each("ports") {
			if port.Int("nodePort") != 0 {
				port.Forbidden("nodePort", "may not be used when `type` is 'ClusterIP'")
			}
		}
	}
	seen := validation.Seen{}
	for _, port := range p.Each("ports") {
		n := port.Int("nodePort")
		if n == 0 {
			continue
		}
		id := fmt.Sprint("node ", port.String("protocol"), n)
		if seen[id] {
			port.Duplicate("nodePort", n)
		}
		seen[id] = true
	}
	for _, port := range p.Each("ports") {
		id := fmt.Sprint(port.String("protocol"), port.Int("port"))
		if seen[id] {
			key := map[string]any{"protocol": port.Obj["protocol"], "port": port.Obj["port"]}
			port.Add(validation.Duplicate(port.Path, validation.AsGoType("core.ServicePort", key)))
		}
		seen[id] = true
	}
}

// checkSourceRanges validates loadBalancerSourceRanges or, if it is empty, the older
// annotation. Values of the old object are accepted.
func checkSourceRanges(p, annotations validation.View, old object.View) {
	const detail = "may only be used when `type` is 'LoadBalancer'"
	path := p.At("LoadBalancerSourceRanges") // the name in kube-apiserver's errors
	ranges := p.Strings("loadBalancerSourceRanges")
	annotated := annotations.Has(rangesAnnotation)
	if len(ranges) == 0 {
		if !annotated {
			return
		}
		path = annotations.Path.Key(rangesAnnotation)
	}
	if p.String("type") != "LoadBalancer" {
		p.Add(validation.Forbidden(path, detail))
	}
	if len(ranges) > 0 {
		oldRanges := old.Strings("spec", "loadBalancerSourceRanges")
		for i := range oldRanges {
			oldRanges[i] = strings.TrimSpace(oldRanges[i])
		}
		for i, cidr := range ranges {
			p.AddList(validation.LegacyCIDR(strings.TrimSpace(cidr), oldRanges, path.Index(i)))
		}
		return
	}
	value := annotations.String(rangesAnnotation)
	if was := old.At("metadata", "annotations", rangesAnnotation); !old.IsNil() && (!was.IsNil() || value == "") && was.String() == value {
		return
	}
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	for _, cidr := range strings.Split(value, ",") {
		p.AddList(validation.LegacyCIDR(strings.TrimSpace(cidr), nil, path))
	}
}

// checkLoadBalancerFields checks the fields that only LoadBalancer Services have.
func checkLoadBalancerFields(p validation.View) {
	const detail = "may only be used when `type` is 'LoadBalancer'"
	isLoadBalancer := p.String("type") == "LoadBalancer"
	switch set := p.Has("allocateLoadBalancerNodePorts"); {
	case set && !isLoadBalancer:
		p.Forbidden("allocateLoadBalancerNodePorts", detail)
	case !set && isLoadBalancer:
		p.Add(validation.Required(validation.NewPath("allocateLoadBalancerNodePorts"), ""))
	}
	checkLoadBalancerClass(p)
}

func checkLoadBalancerClass(p validation.View) {
	switch {
	case !p.Has("loadBalancerClass"):
	case p.String("type") == "LoadBalancer":
		p.Format("loadBalancerClass", validation.QualifiedName)
	default:
		p.Forbidden("loadBalancerClass", "may only be used when `type` is 'LoadBalancer'")
	}
}

// checkTrafficPolicies validates the traffic policies, the health check port and
// trafficDistribution.
func checkTrafficPolicies(p validation.View) {
	if externallyAccessible(p.Object()) {
		p.RequireOneOf("externalTrafficPolicy", "Cluster", "Local")
	} else if p.String("externalTrafficPolicy") != "" {
		p.InvalidNamed("externalTrafficPolicy", "may only be set for externally-accessible services")
	}
	port := p.Int("healthCheckNodePort")
	switch needed := needsHealthCheckPort(p.Object()); {
	case !needed && port != 0:
		p.Invalid("healthCheckNodePort", "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	case needed && port == 0:
		p.Required("healthCheckNodePort", "")
	case needed:
		p.InRange("healthCheckNodePort", 1, 65535)
	}
	if p.Has("internalTrafficPolicy") {
		p.OneOf("internalTrafficPolicy", "Cluster", "Local")
	} else if typ := p.String("type"); typ == "ClusterIP" || typ == "NodePort" || typ == "LoadBalancer" {
		p.Required("internalTrafficPolicy", "")
	}
	if p.Has("trafficDistribution") {
		value, path := p.String("trafficDistribution"), p.At("trafficDistribution")
		const gate = "PreferSameTrafficDistribution"
		if known := []string{"PreferClose", "PreferSameZone", "PreferSameNode"}; !slices.Contains(known, value) {
			p.Add(validation.NotSupported(path, value, known).WithGate(gate, nil))
		}
		if known := []string{"PreferClose"}; !slices.Contains(known, value) {
			p.Add(validation.NotSupported(path, value, known).WithoutGate(gate))
		}
	}
}

// serviceUpdateRule returns the rule for an update. old is the old spec.
func serviceUpdateRule(old object.View) func(validation.View) {
	return func(p validation.View) {
		spec := p.Field("spec")
		if spec.String("type") != "ExternalName" && old.String("type") != "ExternalName" {
			if !isHeadless(spec.Object()) || !isHeadless(old) {
				checkClusterIPsUpdate(spec, old)
			}
			if !isHeadless(spec.Object()) && !isHeadless(old) {
				checkIPFamiliesUpdate(spec, old)
			}
		}
		if old.String("type") == "LoadBalancer" && spec.String("type") == "LoadBalancer" && !kind.SameField(spec.Obj, old, "loadBalancerClass") {
			spec.Add(validation.Invalid(spec.At("loadBalancerClass"), validation.AsGoType("*s", spec.Obj["loadBalancerClass"]), "may not change once set"))
		}
		checkLoadBalancerClass(spec)
		if needsHealthCheckPort(old) && needsHealthCheckPort(spec.Object()) && !kind.SameField(spec.Obj, old, "healthCheckNodePort") {
			spec.Forbidden("healthCheckNodePort", "field is immutable")
		}
	}
}

// checkClusterIPsUpdate checks that cluster IPs do not change. A secondary one may
// be added or label.
func checkClusterIPsUpdate(p validation.View, old object.View) {
	is, was := p.Strings("clusterIPs"), old.Strings("clusterIPs")
	invalid := func(i int, detail string) {
		p.Add(validation.Invalid(p.At("clusterIPs").Index(i), validation.AsGoType("[]s", p.Obj["clusterIPs"]), detail))
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
		checkNeedsSingleStack(p, "clusterIP")
	}
}

// checkIPFamiliesUpdate checks that IP families do not change. A secondary one may
// be added or label.
func checkIPFamiliesUpdate(p validation.View, old object.View) {
	is, was := p.Strings("ipFamilies"), old.Strings("ipFamilies")
	invalid := func(field, detail string) {
		p.Add(validation.Invalid(p.At("ipFamilies").Index(0), validation.AsGoType("[]s", p.Obj[field]), detail))
	}
	if len(is) == len(was) {
		for i := range was {
			if is[i] != was[i] {
				invalid("ipFamilies", "may not change once set")
			}
		}
		return
	}
	if len(is) < len(was) && p.Len("clusterIPs") == 0 {
		invalid("ipFamilies", "primary ipFamily can not be unset")
	}
	if len(is) > 0 && len(was) > 0 && is[0] != was[0] {
		invalid("clusterIPs", "may not change once set")
	}
	if len(is) < len(was) && len(is) == 1 {
		checkNeedsSingleStack(p, "ipFamily")
	}
}

func checkNeedsSingleStack(p validation.View, label string) {
	if p.String("ipFamilyPolicy") != "SingleStack" {
		p.Add(validation.Invalid(p.At("ipFamilyPolicy"), validation.AsGoType("*s", p.Obj["ipFamilyPolicy"]), "must be set to 'SingleStack' when releasing the secondary "+label))
	}
}

func validateServiceStatus(obj map[string]any, old object.View) validation.List {
	isLoadBalancer := object.String(obj, "spec", "type") == "LoadBalancer"
	var oldIPs []string
	for ingress := range old.At("status", "loadBalancer", "ingress").Objects() {
		oldIPs = append(oldIPs, ingress.String("ip"))
	}
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(p validation.View) {
		loadBalancer := p.Field("loadBalancer")
		if !isLoadBalancer && loadBalancer.Len("ingress") > 0 {
			loadBalancer.Forbidden("ingress", "may only be used when `spec.type` is 'LoadBalancer'")
			return
		}
		for _, ingress := range loadBalancer.Each("ingress") {
			checkServiceIngress(ingress, oldIPs)
		}
	})
}

func checkServiceIngress(p validation.View, oldIPs []string) {
	ip := p.String("ip")
	if ip != "" {
		p.AddList(validation.LegacyIP(ip, oldIPs, p.At("ip")))
	}
	switch set := p.Has("ipMode"); {
	case !set && ip != "":
		p.Required("ipMode", "must be specified when `ip` is set")
	case set && ip == "":
		p.Forbidden("ipMode", "may not be specified when `ip` is not set")
	case set:
		p.OneOf("ipMode", "Proxy", "VIP")
	}
	p.FormatIfSet("hostname", validation.DNS1123Subdomain)
	if parseAddress(p.String("hostname")).IsValid() {
		p.Invalid("hostname", "must be a DNS name, not an IP address")
	}
}

// kubeletPort is the port of the kubelet's API.
const kubeletPort = 10250

// checkKubeletPort checks that a load balancer does not have the port of the kubelet, which
// releases before v1.33 refuse.
func checkKubeletPort(p validation.View) {
	for _, port := range p.Each("ports") {
		if port.Int("port") == kubeletPort {
			p.Add(validation.Invalid(port.Path, int64(kubeletPort), fmt.Sprintf("may not expose port %d externally since it is used by kubelet", kubeletPort)).Until(behavior.AllowsKubeletPort))
		}
	}
}
