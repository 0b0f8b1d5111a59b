package pods

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// podMeta describes the Pod that a spec belongs to. It is empty in a template.
type podMeta struct {
	isPod    bool
	name     string
	isMirror bool
}

// podRules validates the spec of a Pod or of a template.
type podRules struct {
	podMeta
	spec      validation.View
	volumes   map[string]validation.View // valid volumes by name
	claims    []string                   // names of resource claims, sorted
	grace     int64                      // terminationGracePeriodSeconds
	hostUsers bool

	// What is in the spec. It is known when the containers and the security contexts have
	// been checked, and spares others a search.
	hasFileKeys       bool
	hasWindowsOptions bool
}

func checkPodSpec(p validation.View, meta podMeta) {
	r := &podRules{podMeta: meta, spec: p, grace: p.Int("terminationGracePeriodSeconds"), hostUsers: p.Obj["hostUsers"] != false}
	r.checkVolumes()
	r.checkResourceClaims()
	r.checkContainers()
	r.checkInitContainers()
	r.checkEphemeralContainers()
	r.checkResources()
	r.checkHostNetwork()
	p.RequireOneOf("restartPolicy", "Always", "OnFailure", "Never")
	p.RequireOneOf("dnsPolicy", "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
	p.Labels("nodeSelector")
	r.checkSecurityContext(p.Field("securityContext"))
	p.IfPresent("affinity", checkAffinity)
	checkDNSConfig(p)
	for _, gate := range p.Each("readinessGates") {
		gate.Format("conditionType", validation.QualifiedName)
	}
	checkSchedulingGates(p)
	for i, constraint := range p.Each("topologySpreadConstraints") {
		checkTopologySpreadConstraint(constraint, object.List(p.Obj, "topologySpreadConstraints")[i+1:])
	}
	r.checkHostProcess()
	r.checkHostUsers()
	checkHostnameOverride(p)
	p.FormatIfSet("serviceAccountName", validation.Subdomain)
	p.FormatIfSet("nodeName", validation.Subdomain)
	if p.Has("activeDeadlineSeconds") {
		p.InRange("activeDeadlineSeconds", 1, math.MaxInt32)
	}
	p.FormatIfSet("hostname", validation.DNS1123Label)
	p.FormatIfSet("subdomain", validation.DNS1123Label)
	nodes.CheckTolerations(p, "tolerations")
	for _, alias := range p.Each("hostAliases") {
		alias.AddList(validation.LegacyIP(alias.String("ip"), nil, alias.At("ip")))
		alias.EachFormat("hostnames", validation.Subdomain)
	}
	p.FormatIfSet("priorityClassName", validation.Subdomain)
	if p.Has("runtimeClassName") {
		p.Format("runtimeClassName", validation.Subdomain)
	}
	if p.Has("preemptionPolicy") {
		p.RequireOneOf("preemptionPolicy", "PreemptLowerPriority", "Never")
	}
	if p.Has("overhead") {
		overhead := validation.View{Obj: map[string]any{"limits": p.Obj["overhead"]}, Path: p.At("overhead"), Errs: p.Errs}
		resources.CheckRequirements(overhead, resources.ValidateContainerResourceName, nil)
	}
	r.checkOS()
	p.IfPresent("workloadRef", func(ref validation.View) {
		ref.Format("name", validation.Subdomain)
		ref.Format("podGroup", validation.DNS1123Label)
		ref.FormatIfSet("podGroupReplicaKey", validation.DNS1123Label)
	})
	p.IfPresent("schedulingGroup", func(group validation.View) {
		if !group.Has("podGroupName") {
			group.Invalid("podGroupName", "must specify one of: `podGroupName`")
			return
		}
		group.Format("podGroupName", validation.Subdomain)
	})
	checkEvictionResponders(p)
	r.checkFileKeys()
}

// checkHostNetwork checks that hostPort equals containerPort if hostNetwork is set.
// A template may omit hostPort.
func (r *podRules) checkHostNetwork() {
	if !r.spec.Bool("hostNetwork") {
		return
	}
	for _, c := range r.spec.Each("containers") {
		for _, port := range c.Each("ports") {
			host := port.Int("hostPort")
			if (r.isPod || host != 0) && host != port.Int("containerPort") {
				port.Add(validation.Invalid(port.At("hostPort"), host, "must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
}

func (r *podRules) checkResourceClaims() {
	seen := validation.Seen{}
	for _, claim := range r.spec.Each("resourceClaims") {
		if name := claim.String("name"); name != "" {
			r.claims = append(r.claims, name)
		}
		if r.isMirror {
			claim.Add(forbidPod("static pods do not support resource claims"))
			continue
		}
		if claim.Require("name") && seen.Unique(claim, "name") {
			claim.Format("name", validation.DNS1123Label)
		}
		switch named, templated := claim.Has("resourceClaimName"), claim.Has("resourceClaimTemplateName"); {
		case named && templated:
			claim.Add(validation.Invalid(claim.Path, validation.AsGoType("core.PodResourceClaim", claim.Obj), "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"))
		case !named && !templated:
			claim.Add(validation.Invalid(claim.Path, validation.AsGoType("core.PodResourceClaim", claim.Obj), "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
		}
		for _, name := range []string{"resourceClaimName", "resourceClaimTemplateName"} {
			if claim.Has(name) {
				claim.Format(name, validation.Subdomain)
			}
		}
	}
	slices.Sort(r.claims)
	r.claims = slices.Compact(r.claims)
}

// forbidPod returns an error about the whole Pod. kube-apiserver reports it at an
// empty key of an empty path.
func forbidPod(why string) *validation.Error {
	var root *validation.Path
	return validation.Forbidden(root.Key(""), why)
}

const (
	maxNameservers     = 3
	maxSearchPaths     = 32
	maxSearchListChars = 2048
)

func checkDNSConfig(p validation.View) {
	config, ok := p.Lookup("dnsConfig")
	if p.String("dnsPolicy") == "None" {
		switch {
		case !ok:
			p.Required("dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")
			return
		case config.Len("nameservers") == 0:
			config.Required("nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
			return
		}
	}
	if !ok {
		return
	}
	if config.Len("nameservers") > maxNameservers {
		config.Invalid("nameservers", fmt.Sprintf("must not have more than %d nameservers", maxNameservers))
	}
	for i, server := range config.Strings("nameservers") {
		config.AddList(validation.LegacyIP(server, nil, config.At("nameservers").Index(i)))
	}
	searches := config.Strings("searches")
	if len(searches) > maxSearchPaths {
		config.Invalid("searches", fmt.Sprintf("must not have more than %d search paths", maxSearchPaths))
	}
	if len(strings.Join(searches, " ")) > maxSearchListChars {
		config.Invalid("searches", fmt.Sprintf("must not have more than %d characters (including spaces) in the search list", maxSearchListChars))
	}
	for i, search := range searches {
		checkSearchPath(config, config.At("searches").Index(i), search)
	}
	for _, option := range config.Each("options") {
		if option.String("name") == "" {
			option.Add(validation.Required(option.Path, "must not be empty"))
		}
	}
}

// checkSearchPath checks a domain of the search list. Releases before v1.33 accept neither
// underscores nor the root domain.
func checkSearchPath(config validation.View, path *validation.Path, search string) {
	domain := strings.TrimSuffix(search, ".")
	config.AddList(validation.Each(path, domain, validation.DNS1123Subdomain(domain)).Until(behavior.UnderscoresInSearchPaths))
	if search == "." {
		return
	}
	for _, e := range validation.Each(path, domain, validation.DNS1123SubdomainWithUnderscore(domain)) {
		config.Add(e.Since(behavior.UnderscoresInSearchPaths).Before(behavior.PlainDetails, validation.Detail(validation.WithoutUnderscore(e.Detail))))
	}
}

func checkSchedulingGates(p validation.View) {
	seen := validation.Seen{}
	for _, gate := range p.Each("schedulingGates") {
		name := gate.String("name")
		gate.AddList(validation.Each(gate.Path, name, validation.QualifiedName(name)))
		if seen[name] {
			gate.Add(validation.Duplicate(gate.Path, name))
		}
		seen[name] = true
	}
}

const maxHostname = 64

func checkHostnameOverride(p validation.View) {
	if !p.Has("hostnameOverride") {
		return
	}
	if p.Bool("setHostnameAsFQDN") {
		p.Forbidden("hostnameOverride", "may not be specified when setHostnameAsFQDN is true")
	}
	if p.Bool("hostNetwork") {
		p.Forbidden("hostnameOverride", "may not be specified when hostNetwork is true")
	}
	if len(p.String("hostnameOverride")) > maxHostname {
		p.Add(validation.TooLong(p.At("hostnameOverride"), maxHostname))
	}
	p.Format("hostnameOverride", validation.DNS1123Subdomain)
}

// checkHostUsers checks that a Pod with its own user namespace does not use other
// host namespaces or raw block devices.
func (r *podRules) checkHostUsers() {
	if r.hostUsers {
		return
	}
	const why = "when `hostUsers` is false"
	if r.spec.Bool("hostNetwork") {
		r.spec.Add(validation.Forbidden(r.spec.At("hostNetwork"), why).WithoutGate("UserNamespacesHostNetworkSupport"))
	}
	if r.spec.Bool("hostPID") {
		r.spec.Forbidden("HostPID", why)
	}
	if r.spec.Bool("hostIPC") {
		r.spec.Forbidden("HostIPC", why)
	}
	for c := range eachContainer(r.spec) {
		if c.Len("volumeDevices") > 0 {
			c.Add(validation.Forbidden(c.At("volumeDevices"), why).Since(behavior.NoVolumeDevicesOfUsers))
		}
	}
}

// checkFileKeys checks that fileKeyRefs refer to emptyDir volumes.
func (r *podRules) checkFileKeys() {
	if !r.hasFileKeys {
		return
	}
	for c := range eachContainer(r.spec) {
		for _, variable := range c.Each("env") {
			key, ok := variable.Field("valueFrom").Lookup("fileKeyRef")
			if !ok {
				continue
			}
			switch volume := r.findVolume(key.String("volumeName")); {
			case volume == nil:
				key.Add(validation.NotFound(key.At("volumeName"), key.String("volumeName")))
			case volume["emptyDir"] == nil:
				key.Add(validation.Invalid(key.At("volumeName"), key.String("volumeName"), "referenced volume must be of type emptyDir"))
			}
		}
	}
}

// findVolume returns the last volume with the name, valid or not.
func (r *podRules) findVolume(name string) (found map[string]any) {
	for v := range object.Each(r.spec.Obj["volumes"]) {
		if object.String(v, "name") == name {
			found = v
		}
	}
	return found
}

func (r *podRules) checkOS() {
	os, ok := r.spec.Lookup("os")
	if !ok {
		return
	}
	switch name := os.String("name"); name {
	case "":
		os.Add(validation.Required(os.At("name"), "").Before(behavior.PlainDetails, validation.Detail("cannot be empty")))
	case "linux":
		r.checkLinux()
	case "windows":
		r.checkWindows()
	default:
		os.Add(validation.NotSupported(os.Path, validation.NamedString(name), []string{"linux", "windows"}))
	}
}

func (r *podRules) isWindows() bool { return object.String(r.spec.Obj, "os", "name") == "windows" }

func (r *podRules) checkLinux() {
	const why = "windows options cannot be set for a linux pod"
	context := r.spec.Field("securityContext")
	if context.Has("windowsOptions") {
		context.Forbidden("windowsOptions", why)
	}
	for c := range eachContainer(r.spec) {
		if context := c.Field("securityContext"); context.Has("windowsOptions") {
			context.Forbidden("windowsOptions", why)
		}
	}
}

// forbiddenOnWindows are the fields of a Pod that are forbidden on Windows, in the
// order of kube-apiserver's errors before [behavior.HostFieldsOfPods]. inSpec fields are
// in spec, the others in its securityContext.
var forbiddenOnWindows = []windowsField{
	{"appArmorProfile", false}, {"seLinuxOptions", false},
	{"hostUsers", true}, {"hostPID", true}, {"hostIPC", true},
	{"seccompProfile", false}, {"fsGroup", false}, {"fsGroupChangePolicy", false}, {"sysctls", false},
	{"shareProcessNamespace", true},
	{"runAsUser", false}, {"runAsGroup", false}, {"supplementalGroups", false}, {"supplementalGroupsPolicy", false}, {"seLinuxChangePolicy", false},
}

type windowsField struct {
	name   string
	inSpec bool
}

// forbiddenOnWindowsContainers are the fields of a container's securityContext that
// are forbidden on Windows.
var forbiddenOnWindowsContainers = []string{
	"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem",
	"privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
}

const forbiddenForWindows = "cannot be set for a windows pod"

func (r *podRules) checkWindows() {
	for _, field := range forbiddenOnWindows {
		if !field.inSpec {
			r.spec.AddList(field.check(r.spec.Field("securityContext")))
		} else {
			r.spec.AddList(field.check(r.spec).Until(behavior.HostFieldsOfPods))
		}
	}
	for _, field := range forbiddenOnWindows {
		if field.inSpec {
			r.spec.AddList(field.check(r.spec).Since(behavior.HostFieldsOfPods))
		}
	}
	for c := range eachContainer(r.spec) {
		context := c.Field("securityContext")
		for _, name := range forbiddenOnWindowsContainers {
			if context.Has(name) {
				context.Forbidden(name, forbiddenForWindows)
			}
		}
	}
}

// check returns an error if the field is set.
func (f windowsField) check(in validation.View) validation.List {
	set := false
	switch v := in.Obj[f.name].(type) {
	case nil:
	case bool:
		set = v || f.name == "hostUsers" || f.name == "shareProcessNamespace"
	case []any:
		set = len(v) > 0 || f.name == "supplementalGroups"
	default:
		set = true
	}
	if !set {
		return nil
	}
	return validation.List{validation.Forbidden(in.At(f.name), forbiddenForWindows)}
}
