package kinds

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// podMeta is what the rules of a pod's specification know of the pod that it is
// of. It is empty in a template.
type podMeta struct {
	isPod    bool
	name     string
	isMirror bool
}

// podRules are the rules of a pod's specification, with what those of a part of
// it need to know of the whole.
type podRules struct {
	podMeta
	spec      part
	volumes   map[string]part // those without a mistake, by name
	claims    []string        // names of resource claims, sorted
	grace     int64           // terminationGracePeriodSeconds
	hostUsers bool
}

// podSpec checks the specification of a pod or of a template.
func podSpec(p part, meta podMeta) {
	r := &podRules{podMeta: meta, spec: p, grace: p.integer("terminationGracePeriodSeconds"), hostUsers: p.obj["hostUsers"] != false}
	r.checkVolumes()
	r.checkResourceClaims()
	r.checkContainers()
	r.checkInitContainers()
	r.checkEphemeralContainers()
	r.checkResources()
	r.checkHostNetwork()
	p.needsOneOf("restartPolicy", "Always", "OnFailure", "Never")
	p.needsOneOf("dnsPolicy", "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
	p.add(validation.Labels(object.Map(p.obj, "nodeSelector"), p.at("nodeSelector")))
	r.checkSecurityContext(p.within("securityContext"))
	p.ifGiven("affinity", affinity)
	dnsConfig(p)
	for _, gate := range p.each("readinessGates") {
		gate.is("conditionType", validation.QualifiedName)
	}
	schedulingGates(p)
	for i, constraint := range p.each("topologySpreadConstraints") {
		topologySpreadConstraint(constraint, object.List(p.obj, "topologySpreadConstraints")[i+1:])
	}
	r.checkHostProcess()
	r.checkHostUsers()
	hostnameOverride(p)
	p.ifSet("serviceAccountName", subdomain)
	p.ifSet("nodeName", subdomain)
	if p.has("activeDeadlineSeconds") {
		p.between("activeDeadlineSeconds", 1, math.MaxInt32)
	}
	p.ifSet("hostname", validation.DNS1123Label)
	p.ifSet("subdomain", validation.DNS1123Label)
	tolerations(p, "tolerations")
	for _, alias := range p.each("hostAliases") {
		alias.add(validation.LegacyIP(alias.text("ip"), nil, alias.at("ip")))
		alias.eachText("hostnames", subdomain)
	}
	p.ifSet("priorityClassName", subdomain)
	if p.has("runtimeClassName") {
		p.is("runtimeClassName", subdomain)
	}
	if p.has("preemptionPolicy") {
		p.needsOneOf("preemptionPolicy", "PreemptLowerPriority", "Never")
	}
	if p.has("overhead") {
		overhead := part{map[string]any{"limits": p.obj["overhead"]}, p.at("overhead"), p.errs}
		resourceRequirements(overhead, containerResourceName, nil)
	}
	r.checkOS()
	p.ifGiven("schedulingGroup", func(group part) {
		if !group.has("podGroupName") {
			group.invalid("podGroupName", "must specify one of: `podGroupName`")
			return
		}
		group.is("podGroupName", subdomain)
	})
	r.checkFileKeys()
}

// eachContainer are the containers of a specification, of all sorts.
func eachContainer(spec part) iter.Seq[part] {
	return func(yield func(part) bool) {
		for _, list := range [...]string{"initContainers", "containers", "ephemeralContainers"} {
			for _, c := range spec.each(list) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// hasContainer reports whether a specification has a container of the name.
func hasContainer(spec map[string]any, name string) bool {
	for c := range allContainers(spec) {
		if object.String(c, "name") == name {
			return true
		}
	}
	return false
}

// checkHostNetwork checks that the ports of a pod in its node's network are the
// node's. A template may leave them out.
func (r *podRules) checkHostNetwork() {
	if !r.spec.flag("hostNetwork") {
		return
	}
	for _, c := range r.spec.each("containers") {
		for _, port := range c.each("ports") {
			host := port.integer("hostPort")
			if (r.isPod || host != 0) && host != port.integer("containerPort") {
				port.note(validation.Invalid(port.at("hostPort"), host, "must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
}

func (r *podRules) checkResourceClaims() {
	seen := names{}
	for _, claim := range r.spec.each("resourceClaims") {
		if name := claim.text("name"); name != "" {
			r.claims = append(r.claims, name)
		}
		if r.isMirror {
			claim.note(forbidStatic("static pods do not support resource claims"))
			continue
		}
		if claim.needs("name") && seen.unique(claim, "name") {
			claim.is("name", validation.DNS1123Label)
		}
		switch named, templated := claim.has("resourceClaimName"), claim.has("resourceClaimTemplateName"); {
		case named && templated:
			claim.note(validation.Invalid(claim.path, internal("core.PodResourceClaim", claim.obj), "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"))
		case !named && !templated:
			claim.note(validation.Invalid(claim.path, internal("core.PodResourceClaim", claim.obj), "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
		}
		for _, name := range []string{"resourceClaimName", "resourceClaimTemplateName"} {
			if claim.has(name) {
				claim.is(name, subdomain)
			}
		}
	}
	slices.Sort(r.claims)
	r.claims = slices.Compact(r.claims)
}

// forbidStatic says that a pod stands for a kubelet's own. kube-apiserver names
// no field there, and prints none so.
func forbidStatic(why string) *validation.Error {
	var root *validation.Path
	return validation.Forbidden(root.Key(""), why)
}

const (
	maxNameservers     = 3
	maxSearchPaths     = 32
	maxSearchListChars = 2048
)

func dnsConfig(p part) {
	config, ok := p.given("dnsConfig")
	if p.text("dnsPolicy") == "None" {
		switch {
		case !ok:
			p.missing("dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")
			return
		case config.size("nameservers") == 0:
			config.missing("nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
			return
		}
	}
	if !ok {
		return
	}
	if config.size("nameservers") > maxNameservers {
		config.invalid("nameservers", fmt.Sprintf("must not have more than %d nameservers", maxNameservers))
	}
	for i, server := range config.texts("nameservers") {
		config.add(validation.LegacyIP(server, nil, config.at("nameservers").Index(i)))
	}
	searches := config.texts("searches")
	if len(searches) > maxSearchPaths {
		config.invalid("searches", fmt.Sprintf("must not have more than %d search paths", maxSearchPaths))
	}
	if len(strings.Join(searches, " ")) > maxSearchListChars {
		config.invalid("searches", fmt.Sprintf("must not have more than %d characters (including spaces) in the search list", maxSearchListChars))
	}
	for i, search := range searches {
		if search != "." {
			search = strings.TrimSuffix(search, ".")
			config.add(validation.Each(config.at("searches").Index(i), search, validation.DNS1123SubdomainWithUnderscore(search)))
		}
	}
	for _, option := range config.each("options") {
		if option.text("name") == "" {
			option.note(validation.Required(option.path, "must not be empty"))
		}
	}
}

func schedulingGates(p part) {
	seen := names{}
	for _, gate := range p.each("schedulingGates") {
		name := gate.text("name")
		gate.add(validation.Each(gate.path, name, validation.QualifiedName(name)))
		if seen[name] {
			gate.note(validation.Duplicate(gate.path, name))
		}
		seen[name] = true
	}
}

const maxHostname = 64

func hostnameOverride(p part) {
	if !p.has("hostnameOverride") {
		return
	}
	if p.flag("setHostnameAsFQDN") {
		p.forbid("hostnameOverride", "may not be specified when setHostnameAsFQDN is true")
	}
	if p.flag("hostNetwork") {
		p.forbid("hostnameOverride", "may not be specified when hostNetwork is true")
	}
	if len(p.text("hostnameOverride")) > maxHostname {
		p.note(validation.TooLong(p.at("hostnameOverride"), maxHostname))
	}
	p.is("hostnameOverride", validation.DNS1123Subdomain)
}

// checkHostUsers checks that a pod with users of its own shares nothing else of
// its node that would be at odds with that.
func (r *podRules) checkHostUsers() {
	if r.hostUsers {
		return
	}
	const why = "when `hostUsers` is false"
	if r.spec.flag("hostNetwork") {
		r.spec.forbid("hostNetwork", why)
	}
	if r.spec.flag("hostPID") {
		r.spec.forbid("HostPID", why)
	}
	if r.spec.flag("hostIPC") {
		r.spec.forbid("HostIPC", why)
	}
	for c := range eachContainer(r.spec) {
		if c.size("volumeDevices") > 0 {
			c.forbid("volumeDevices", why)
		}
	}
}

// checkFileKeys checks that environment variables come from files in volumes
// that are empty at first.
func (r *podRules) checkFileKeys() {
	for c := range eachContainer(r.spec) {
		for _, variable := range c.each("env") {
			key, ok := variable.within("valueFrom").given("fileKeyRef")
			if !ok {
				continue
			}
			switch volume := r.volumeNamed(key.text("volumeName")); {
			case volume == nil:
				key.note(validation.NotFound(key.at("volumeName"), key.text("volumeName")))
			case volume["emptyDir"] == nil:
				key.note(validation.Invalid(key.at("volumeName"), key.text("volumeName"), "referenced volume must be of type emptyDir"))
			}
		}
	}
}

// volumeNamed is the last volume of the name, with or without mistakes.
func (r *podRules) volumeNamed(name string) (found map[string]any) {
	for v := range object.Each(r.spec.obj["volumes"]) {
		if object.String(v, "name") == name {
			found = v
		}
	}
	return found
}

func (r *podRules) checkOS() {
	os, ok := r.spec.given("os")
	if !ok || !os.needs("name") {
		return
	}
	switch name := os.text("name"); name {
	case "linux":
		r.checkLinux()
	case "windows":
		r.checkWindows()
	default:
		os.note(validation.NotSupported(os.path, validation.NamedString(name), []string{"linux", "windows"}))
	}
}

func (r *podRules) isWindows() bool { return object.String(r.spec.obj, "os", "name") == "windows" }

func (r *podRules) checkLinux() {
	const why = "windows options cannot be set for a linux pod"
	context := r.spec.within("securityContext")
	if context.has("windowsOptions") {
		context.forbid("windowsOptions", why)
	}
	for c := range eachContainer(r.spec) {
		if context := c.within("securityContext"); context.has("windowsOptions") {
			context.forbid("windowsOptions", why)
		}
	}
}

// notWindows are the fields of pods that Windows has nothing for, in the order
// in which they are told. Those of the specification itself stand among those of
// the security context because Kubernetes keeps them there.
var notWindows = []struct {
	name   string
	inSpec bool
}{
	{"appArmorProfile", false}, {"seLinuxOptions", false},
	{"hostUsers", true}, {"hostPID", true}, {"hostIPC", true},
	{"seccompProfile", false}, {"fsGroup", false}, {"fsGroupChangePolicy", false}, {"sysctls", false},
	{"shareProcessNamespace", true},
	{"runAsUser", false}, {"runAsGroup", false}, {"supplementalGroups", false}, {"supplementalGroupsPolicy", false}, {"seLinuxChangePolicy", false},
}

// notWindowsContainer are those of a container's security context.
var notWindowsContainer = []string{
	"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem",
	"privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
}

func (r *podRules) checkWindows() {
	const why = "cannot be set for a windows pod"
	context := r.spec.within("securityContext")
	for _, field := range notWindows {
		at := context
		if field.inSpec {
			at = r.spec
		}
		switch v := at.obj[field.name].(type) {
		case nil:
		case bool:
			if v || field.name == "hostUsers" || field.name == "shareProcessNamespace" {
				at.forbid(field.name, why)
			}
		case []any:
			if len(v) > 0 || field.name == "supplementalGroups" {
				at.forbid(field.name, why)
			}
		default:
			at.forbid(field.name, why)
		}
	}
	for c := range eachContainer(r.spec) {
		context := c.within("securityContext")
		for _, name := range notWindowsContainer {
			if context.has(name) {
				context.forbid(name, why)
			}
		}
	}
}
