package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

var specPath = validation.NewPath("spec")

func validateNetworkPolicy(obj, old map[string]any) validation.List {
	rules := networkPolicyRules{
		selectors: validation.LabelSelectorOptions{InvalidValues: brokenSelector(old, "spec", "podSelector")},
		held:      heldBlocks(old),
	}
	return mistakes(object.Map(obj, "spec"), specPath, rules.spec)
}

// brokenSelector reports whether a label selector that is stored would not be
// taken today. Others may be as wrong then.
func brokenSelector(old map[string]any, path ...string) bool {
	selector := object.Map(old, path...)
	return len(validation.LabelSelector(selector, validation.LabelSelectorOptions{}, nil)) > 0
}

// networkPolicyRules are relaxed by what the policy already holds.
type networkPolicyRules struct {
	selectors validation.LabelSelectorOptions
	held      []string // networks
}

// networkPolicyDirections are the members that have rules, with the member that
// has a rule's peers.
var networkPolicyDirections = []struct{ name, peers string }{{"ingress", "from"}, {"egress", "to"}}

// peers are the peers of all rules of a policy.
func peers(spec part, rule func(part)) {
	for _, direction := range networkPolicyDirections {
		for _, r := range spec.each(direction.name) {
			for _, peer := range r.each(direction.peers) {
				rule(peer)
			}
		}
	}
}

// heldBlocks are the networks in the rules of a policy.
func heldBlocks(policy map[string]any) []string {
	var held []string
	peers(part{obj: object.Map(policy, "spec")}, func(peer part) {
		if block, ok := peer.given("ipBlock"); ok {
			held = append(append(held, block.text("cidr")), block.texts("except")...)
		}
	})
	return held
}

func (n networkPolicyRules) spec(spec part) {
	spec.labelSelector("podSelector", n.selectors)
	for _, direction := range networkPolicyDirections {
		for _, rule := range spec.each(direction.name) {
			for _, port := range rule.each("ports") {
				networkPolicyPort(port)
			}
			for _, peer := range rule.each(direction.peers) {
				n.peer(peer)
			}
		}
	}
	if spec.size("policyTypes") > 2 {
		spec.invalid("policyTypes", "may not specify more than two policyTypes")
		return
	}
	for i, name := range spec.texts("policyTypes") {
		if name != "Ingress" && name != "Egress" {
			spec.note(validation.NotSupported(spec.at("policyTypes").Index(i), validation.NamedString(name), []string{"Ingress", "Egress"}))
		}
	}
}

func networkPolicyPort(p part) {
	p.ifOneOf("protocol", "TCP", "UDP", "SCTP")
	switch port := p.obj["port"].(type) {
	case int64:
		p.between("port", 1, 65535)
		if !p.has("endPort") {
			return
		}
		if p.integer("endPort") < port {
			p.note(validation.Invalid(p.at("endPort"), port, "must be greater than or equal to `port`"))
		}
		p.between("endPort", 1, 65535)
	case string:
		if p.has("endPort") {
			p.invalid("endPort", "may not be specified when `port` is non-numeric")
		}
		p.is("port", validation.PortName)
	default:
		if p.has("endPort") {
			p.invalid("endPort", "may not be specified when `port` is not specified")
		}
	}
}

func (n networkPolicyRules) peer(p part) {
	p.labelSelector("podSelector", n.selectors)
	p.labelSelector("namespaceSelector", n.selectors)
	p.ifGiven("ipBlock", n.ipBlock)
	selects := p.has("podSelector") || p.has("namespaceSelector")
	switch {
	case !selects && !p.has("ipBlock"):
		p.note(validation.Required(p.path, "must specify a peer"))
	case selects && p.has("ipBlock"):
		p.note(validation.Forbidden(p.path, "may not specify both ipBlock and another peer"))
	}
}

func (n networkPolicyRules) ipBlock(p part) {
	if !p.needs("cidr") {
		return
	}
	p.add(validation.LegacyCIDR(p.text("cidr"), n.held, p.at("cidr")))
	_, network := validation.ParseCIDR(p.text("cidr"))
	if network == nil {
		return
	}
	bits, _ := network.Mask.Size()
	for i, s := range p.texts("except") {
		path := p.at("except").Index(i)
		p.add(validation.LegacyCIDR(s, n.held, path))
		_, except := validation.ParseCIDR(s)
		if except == nil {
			continue
		}
		if exceptBits, _ := except.Mask.Size(); !network.Contains(except.IP) || bits >= exceptBits {
			p.note(validation.Invalid(path, s, "must be a strict subset of `cidr`"))
		}
	}
}

func warnNetworkPolicy(obj, _ map[string]any) []string {
	var warnings []string
	peers(part{obj: object.Map(obj, "spec"), path: specPath}, func(peer part) {
		block, ok := peer.given("ipBlock")
		if !ok {
			return
		}
		warnings = append(warnings, validation.CIDRWarnings(block.text("cidr"), block.at("cidr"))...)
		for i, except := range block.texts("except") {
			warnings = append(warnings, validation.CIDRWarnings(except, block.at("except").Index(i))...)
		}
	})
	return warnings
}

// ingressClass is the annotation that named the class of an Ingress before its
// specification did.
const ingressClass = "kubernetes.io/ingress.class"

func validateIngress(obj, old map[string]any) validation.List {
	rules := ingressRules{anySecretName: hasBadSecretName(old), anyWildcardRule: hasBadWildcardRule(old)}
	errs := mistakes(object.Map(obj, "spec"), specPath, rules.spec)
	if old != nil {
		return errs
	}
	annotation, annotated := object.Value(obj, "metadata", "annotations", ingressClass).(string)
	class, named := object.Value(obj, "spec", "ingressClassName").(string)
	if annotated && named && annotation != class {
		errs = append(errs, validation.Invalid(validation.NewPath("annotations", ingressClass), annotation, "must match `ingressClassName` when both are specified"))
	}
	return errs
}

func warnIngress(obj, old map[string]any) []string {
	if old != nil || object.Value(obj, "metadata", "annotations", ingressClass) == nil || object.Value(obj, "spec", "ingressClassName") != nil {
		return nil
	}
	return []string{fmt.Sprintf("annotation %q is deprecated, please use 'spec.ingressClassName' instead", ingressClass)}
}

// ingressRules are relaxed by what is already wrong with the Ingress.
type ingressRules struct{ anySecretName, anyWildcardRule bool }

func hasBadSecretName(ingress map[string]any) bool {
	for tls := range object.Each(object.Value(ingress, "spec", "tls")) {
		if name := object.String(tls, "secretName"); name != "" && len(subdomain(name)) > 0 {
			return true
		}
	}
	return false
}

func hasBadWildcardRule(ingress map[string]any) bool {
	for rule := range object.Each(object.Value(ingress, "spec", "rules")) {
		if strings.Contains(object.String(rule, "host"), "*") && len(mistakes(rule, nil, ingressHTTP)) > 0 {
			return true
		}
	}
	return false
}

func (r ingressRules) spec(p part) {
	if p.size("rules") == 0 && !p.has("defaultBackend") {
		p.note(validation.Invalid(p.path, p.obj["rules"], "either `defaultBackend` or `rules` must be specified"))
	}
	p.ifGiven("defaultBackend", ingressBackend)
	for _, rule := range p.each("rules") {
		r.rule(rule)
	}
	for _, tls := range p.each("tls") {
		for i, host := range tls.texts("hosts") {
			p.add(validation.Each(tls.at("hosts").Index(i), host, hostName(host)))
		}
		if !r.anySecretName {
			tls.ifSet("secretName", subdomain)
		}
	}
	if p.has("ingressClassName") {
		p.is("ingressClassName", subdomain)
	}
}

// hostName is the format of a host that may be a wildcard.
func hostName(host string) []string {
	if strings.Contains(host, "*") {
		return validation.WildcardDNS1123Subdomain(host)
	}
	return validation.DNS1123Subdomain(host)
}

func (r ingressRules) rule(p part) {
	host := p.text("host")
	if validation.IsIP(host) {
		p.invalid("host", notAnAddress)
	}
	p.ifSet("host", hostName)
	if !r.anyWildcardRule || !strings.Contains(host, "*") {
		ingressHTTP(p)
	}
}

const notAnAddress = "must be a DNS name, not an IP address"

func ingressHTTP(rule part) {
	http, ok := rule.given("http")
	if !ok {
		return
	}
	http.needs("paths")
	for _, path := range http.each("paths") {
		ingressPath(path)
	}
}

// What no path that is matched exactly or by prefix may have.
var (
	pathSequences = []string{"//", "/./", "/../", "%2f", "%2F"}
	pathSuffixes  = []string{"/..", "/."}
)

func ingressPath(p part) {
	if !p.has("pathType") {
		p.missing("pathType", "pathType must be specified")
		return
	}
	path := p.text("path")
	switch p.text("pathType") {
	case "Exact", "Prefix":
		if !strings.HasPrefix(path, "/") {
			p.note(validation.Invalid(p.at("path"), path, "must be an absolute path"))
		}
		for _, sequence := range pathSequences {
			if strings.Contains(path, sequence) {
				p.invalid("path", fmt.Sprintf("must not contain '%s'", sequence))
			}
		}
		for _, suffix := range pathSuffixes {
			if strings.HasSuffix(path, suffix) {
				p.invalid("path", fmt.Sprintf("cannot end with '%s'", suffix))
			}
		}
	case "ImplementationSpecific":
		if path != "" && !strings.HasPrefix(path, "/") {
			p.invalid("path", "must be an absolute path")
		}
	default:
		p.oneOf("pathType", "Exact", "ImplementationSpecific", "Prefix")
	}
	ingressBackend(p.within("backend"))
}

func ingressBackend(p part) {
	resource, hasResource := p.given("resource")
	service, hasService := p.given("service")
	switch {
	case hasResource && hasService:
		p.note(validation.Invalid(p.path, "", "cannot set both resource and service backends"))
	case hasResource:
		typedReference(resource)
	case hasService:
		service.needsToBe("name", validation.DNS1123Label)
		backendPort(p, service.within("port"))
	default:
		p.note(validation.Invalid(p.path, "", "resource or service backend is required"))
	}
}

// backendPort checks that a backend names its service's port or numbers it.
func backendPort(backend, port part) {
	name, number := port.text("name") != "", port.integer("number") != 0
	switch {
	case name && number:
		backend.note(validation.Invalid(backend.path, "", "cannot set both port name & port number"))
	case name:
		port.is("name", validation.PortName)
	case number:
		port.between("number", 1, 65535)
	default:
		backend.note(validation.Required(backend.path, "port name or number is required"))
	}
}

// typedReference checks a reference to an object of any kind.
func typedReference(p part) {
	if p.has("apiGroup") {
		p.is("apiGroup", validation.DNS1123Subdomain)
	}
	p.needsToBe("kind", validation.PathSegment)
	p.needsToBe("name", validation.PathSegment)
}

func validateIngressStatus(obj, old map[string]any) validation.List {
	var held []string
	for ingress := range object.Each(object.Value(old, "status", "loadBalancer", "ingress")) {
		held = append(held, object.String(ingress, "ip"))
	}
	return mistakes(object.Map(obj, "status", "loadBalancer"), loadBalancerPath, func(p part) {
		for _, ingress := range p.each("ingress") {
			loadBalancerIngress(ingress, held)
		}
	})
}

var loadBalancerPath = validation.NewPath("status", "loadBalancer")

// loadBalancerIngress checks one way in through a load balancer, which may have
// an address that is held already.
func loadBalancerIngress(p part, held []string) {
	if ip := p.text("ip"); ip != "" {
		p.add(validation.LegacyIP(ip, held, p.at("ip")))
	}
	p.ifSet("hostname", validation.DNS1123Subdomain)
	if validation.IsIP(p.text("hostname")) {
		p.invalid("hostname", notAnAddress)
	}
}

func warnIngressStatus(obj, _ map[string]any) []string {
	var warnings []string
	status := part{obj: object.Map(obj, "status", "loadBalancer"), path: loadBalancerPath}
	for _, ingress := range status.each("ingress") {
		warnings = append(warnings, validation.IPWarnings(ingress.text("ip"), ingress.path)...)
	}
	return warnings
}

func validateIngressClass(obj, old map[string]any) validation.List {
	var errs validation.List
	if old != nil {
		errs = validation.ImmutableField(object.String(obj, "spec", "controller"), object.String(old, "spec", "controller"), specPath.Child("controller"))
	}
	return append(errs, mistakes(object.Map(obj, "spec"), specPath, ingressClassSpec)...)
}

const ingressControllerMaxLength = 250

func ingressClassSpec(p part) {
	if len(p.text("controller")) > ingressControllerMaxLength {
		p.note(validation.TooLong(p.at("controller"), ingressControllerMaxLength))
	}
	p.add(validation.DomainPrefixedPath(p.text("controller"), p.at("controller")))
	p.ifGiven("parameters", ingressParameters)
}

func ingressParameters(p part) {
	typedReference(p)
	if !p.has("scope") {
		p.missing("scope", "")
		return
	}
	switch p.text("scope") {
	case "Namespace":
		if !p.has("namespace") {
			p.missing("namespace", "`parameters.scope` is set to 'Namespace'")
			return
		}
		p.is("namespace", validation.DNS1123Label)
	case "Cluster":
		if p.has("namespace") {
			p.forbid("namespace", "`parameters.scope` is set to 'Cluster'")
		}
	default:
		p.note(validation.NotSupported(p.at("scope"), p.text("scope"), []string{"Cluster", "Namespace"}))
	}
}

func validateIPAddress(obj, old map[string]any) validation.List {
	errs := mistakes(object.Map(obj, "spec"), specPath, ipAddressSpec)
	if old != nil {
		errs = append(errs, validation.ImmutableField(parentOf(obj), parentOf(old), specPath.Child("parentRef"))...)
	}
	return errs
}

func ipAddressSpec(p part) {
	parent, ok := p.given("parentRef")
	if !ok {
		p.missing("parentRef", "")
		return
	}
	parent.ifSet("group", validation.DNS1123Subdomain)
	parent.needsToBe("resource", validation.PathSegment)
	parent.needsToBe("name", validation.PathSegment)
	parent.ifSet("namespace", validation.PathSegment)
}

// parentOf is what an IPAddress is for, as messages print it.
func parentOf(address map[string]any) unversioned.Value {
	return internal("*networking.ParentReference", object.Value(address, "spec", "parentRef"))
}

// validateServiceCIDR lets a ServiceCIDR have a network for each of the two
// families, the second of which may be given later.
func validateServiceCIDR(obj, old map[string]any) validation.List {
	path := specPath.Child("cidrs")
	networks, was := object.Strings(obj, "spec", "cidrs"), object.Strings(old, "spec", "cidrs")
	added := len(was) == 1 && len(networks) == 2
	switch {
	case old == nil:
		return serviceNetworks(networks, path)
	case len(networks) != len(was) && !added:
		return validation.List{validation.Invalid(path, object.Value(obj, "spec", "cidrs"), "field is immutable")}
	}
	var errs validation.List
	for i := range was {
		errs = append(errs, validation.ImmutableField(networks[i], was[i], path.Index(i))...)
	}
	if added {
		errs = append(errs, serviceNetworks(networks, path)...)
	}
	return errs
}

func serviceNetworks(networks []string, path *validation.Path) validation.List {
	switch {
	case len(networks) == 0:
		return validation.List{validation.Required(path, "at least one CIDR required")}
	case len(networks) > 2:
		return validation.List{validation.Invalid(path, internal("networking.ServiceCIDRSpec", map[string]any{"cidrs": networks}), "may only hold up to 2 values")}
	}
	var errs validation.List
	var families []int
	for i, s := range networks {
		errs = append(errs, validation.CIDR(s, path.Index(i))...)
		if ip, _ := validation.ParseCIDR(s); ip != nil {
			families = append(families, len(ip.To4()))
		}
	}
	if len(families) == 2 && families[0] == families[1] {
		errs = append(errs, validation.Invalid(path, networks, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))
	}
	return errs
}

const (
	endpointsMaxItems = 1000
	addressesMaxItems = 100
	topologyMaxItems  = 16
	slicePortsMax     = 20000
	hintsMaxItems     = 8
)

var addressTypes = []string{"FQDN", "IPv4", "IPv6"}

func validateEndpointSlice(obj, old map[string]any) validation.List {
	errs := mistakes(obj, nil, endpointSlice)
	// What is wrong with endpoints is no concern of an update that leaves them.
	if old == nil || !validation.Equal(obj["endpoints"], old["endpoints"]) {
		errs = append(errs, mistakes(obj, nil, sliceEndpoints)...)
	}
	if old != nil {
		errs = append(errs, validation.ImmutableField(validation.NamedString(object.String(obj, "addressType")),
			validation.NamedString(object.String(old, "addressType")), validation.NewPath("addressType"))...)
	}
	return errs
}

func endpointSlice(p part) {
	p.needsOneOf("addressType", addressTypes...)
	if n := p.size("ports"); n > slicePortsMax {
		p.note(validation.TooMany(p.at("ports"), n, slicePortsMax))
		return
	}
	seen := names{}
	for _, port := range p.each("ports") {
		port.ifSet("name", validation.DNS1123Label)
		seen.unique(port, "name")
		port.oneOf("protocol", "SCTP", "TCP", "UDP")
		if port.has("appProtocol") {
			port.is("appProtocol", validation.QualifiedName)
		}
	}
}

func sliceEndpoints(p part) {
	if n := p.size("endpoints"); n > endpointsMaxItems {
		p.note(validation.TooMany(p.at("endpoints"), n, endpointsMaxItems))
		return
	}
	check := addressChecks[p.text("addressType")]
	for _, endpoint := range p.each("endpoints") {
		sliceEndpoint(endpoint, check)
	}
}

// addressChecks check the addresses of a type: one of them, and its path in the
// list.
var addressChecks = map[string]func(address string, list, path *validation.Path) validation.List{
	"IPv4": func(address string, list, path *validation.Path) validation.List {
		return familyAddress(address, "IPv4", list, path, validation.LegacyIP(address, nil, path))
	},
	"IPv6": func(address string, list, path *validation.Path) validation.List {
		return familyAddress(address, "IPv6", list, path, validation.IP(address, path))
	},
	"FQDN": func(address string, _, path *validation.Path) validation.List {
		return validation.FullyQualifiedDomainName(address, path)
	},
}

// familyAddress checks that an address is of a family, unless errs are wrong
// with it already.
func familyAddress(address, family string, list, path *validation.Path, errs validation.List) validation.List {
	if len(errs) > 0 {
		return errs
	}
	if strings.Contains(address, ":") != (family == "IPv6") {
		errs = append(errs, validation.Invalid(list, address, "must be an "+family+" address"))
	}
	return append(errs, validation.EndpointIP(address, path)...)
}

func sliceEndpoint(p part, check func(string, *validation.Path, *validation.Path) validation.List) {
	addresses := p.at("addresses")
	switch n := p.size("addresses"); {
	case n == 0:
		p.note(validation.Required(addresses, "must contain at least 1 address"))
	case n > addressesMaxItems:
		p.note(validation.TooMany(addresses, n, addressesMaxItems))
	}
	if check != nil {
		for i, address := range p.texts("addresses") {
			p.add(check(address, addresses, addresses.Index(i)))
		}
	}
	if p.has("nodeName") {
		p.is("nodeName", subdomain)
	}
	if n := p.size("deprecatedTopology"); n > topologyMaxItems {
		p.note(validation.TooMany(p.at("deprecatedTopology"), n, topologyMaxItems))
	}
	p.add(validation.Labels(object.Map(p.obj, "deprecatedTopology"), p.at("deprecatedTopology")))
	if p.has("hostname") {
		p.is("hostname", validation.DNS1123Label)
	}
	p.ifGiven("hints", endpointHints)
}

func endpointHints(p part) {
	for _, hints := range []struct {
		name   string
		format func(string) []string
	}{{"forZones", validation.LabelValue}, {"forNodes", subdomain}} {
		if n := p.size(hints.name); n > hintsMaxItems {
			p.note(validation.TooMany(p.at(hints.name), n, hintsMaxItems))
			return
		}
		seen := names{}
		for _, hint := range p.each(hints.name) {
			seen.unique(hint, "name")
			hint.is("name", hints.format)
		}
	}
}

func warnEndpointSlice(obj, old map[string]any) []string {
	var warnings []string
	if old == nil && object.String(obj, "addressType") == "FQDN" {
		warnings = append(warnings, "spec.addressType: FQDN endpoints are deprecated")
	}
	if slices.Contains(sliceControllers, object.String(obj, "metadata", "labels", "endpointslice.kubernetes.io/managed-by")) {
		return warnings
	}
	for _, endpoint := range (part{obj: obj}).each("endpoints") {
		for i, address := range endpoint.texts("addresses") {
			warnings = append(warnings, validation.IPWarnings(address, endpoint.at("addresses").Index(i))...)
		}
	}
	return warnings
}

// sliceControllers write slices of endpoints that they have checked.
var sliceControllers = []string{"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"}
