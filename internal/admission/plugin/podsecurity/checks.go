package podsecurity

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// A control is one of the standards' controls.
type control struct {
	name  string
	level Level
	// versions are how it is judged, by the version from which on; oldest first.
	versions []versioned
	// replaces is the control of a lower level that holds no more where this one
	// does.
	replaces string
}

// A versioned judgement is in force since a version.
type versioned struct {
	since Version
	judge
}

// A judge tells why a control forbids a pod; the reason is "" if it does not.
type judge func(p *pod) (reason, detail string)

// controls are all of them, those of a level sorted by name: the order in which
// violations are told.
var controls = []control{
	{"appArmorProfile", Baseline, []versioned{{0, appArmorProfile}}, ""},
	{"capabilities_baseline", Baseline, []versioned{{0, addedCapabilities}}, ""},
	{"hostNamespaces", Baseline, []versioned{{0, hostNamespaces}}, ""},
	{"hostPathVolumes", Baseline, []versioned{{0, hostPathVolumes}}, ""},
	{"hostPorts", Baseline, []versioned{{0, hostPorts}}, ""},
	{"hostProbesAndHostLifecycle", Baseline, []versioned{{34, handlerHosts}}, ""},
	{"privileged", Baseline, []versioned{{0, privileged}}, ""},
	{"procMount", Baseline, []versioned{{0, procMount}, {35, unlessUserNamespace(procMount)}}, ""},
	{"seLinuxOptions", Baseline, []versioned{{0, seLinux(seLinuxTypes)}, {31, seLinux(append(seLinuxTypes, "container_engine_t"))}}, ""},
	{"seccompProfile_baseline", Baseline, []versioned{{0, seccompAnnotations}, {19, seccompProfile}}, ""},
	{"sysctls", Baseline, []versioned{{0, sysctls(5)}, {27, sysctls(6)}, {29, sysctls(10)}, {32, sysctls(12)}}, ""},
	{"windowsHostProcess", Baseline, []versioned{{0, hostProcess}}, ""},

	{"allowPrivilegeEscalation", Restricted, []versioned{{8, privilegeEscalation}, {25, unlessWindows(privilegeEscalation)}}, ""},
	{"capabilities_restricted", Restricted, []versioned{{22, capabilities}, {25, unlessWindows(capabilities)}}, "capabilities_baseline"},
	{"procMount_restricted", Restricted, []versioned{{35, procMount}}, "procMount"},
	{"restrictedVolumes", Restricted, []versioned{{0, volumeTypes}}, "hostPathVolumes"},
	{"runAsNonRoot", Restricted, []versioned{{0, runAsNonRoot}, {35, unlessUserNamespace(runAsNonRoot)}}, ""},
	{"runAsUser", Restricted, []versioned{{23, runAsUser}, {35, unlessUserNamespace(runAsUser)}}, ""},
	{"seccompProfile_restricted", Restricted, []versioned{{19, ownSeccompProfile}, {25, unlessWindows(ownSeccompProfile)}}, "seccompProfile_baseline"},
}

// in is how the control is judged in a version, nil if not at all.
func (c *control) in(v Version) judge {
	for i := len(c.versions) - 1; i >= 0; i-- {
		if c.versions[i].since <= v {
			return c.versions[i].judge
		}
	}
	return nil
}

// controls are the judges that a standard has.
func (s Standard) controls() (judges []judge) {
	for i := range controls {
		c := &controls[i]
		replaced := slices.ContainsFunc(controls, func(other control) bool {
			return other.replaces == c.name && other.level <= s.Level && other.in(s.Version) != nil
		})
		if judge := c.in(s.Version); judge != nil && c.level <= s.Level && !replaced {
			judges = append(judges, judge)
		}
	}
	return judges
}

// A pod is a pod or a pod template.
type pod struct {
	annotations, spec, security map[string]any
	containers                  []map[string]any // of all kinds
}

func newPod(obj map[string]any) *pod {
	spec := object.Map(obj, "spec")
	p := &pod{object.Map(obj, "metadata", "annotations"), spec, object.Map(spec, "securityContext"), nil}
	for _, member := range []string{"initContainers", "containers", "ephemeralContainers"} {
		p.containers = slices.AppendSeq(p.containers, object.Each(spec[member]))
	}
	return p
}

func unlessWindows(judge judge) judge {
	return func(p *pod) (string, string) {
		if object.String(p.spec, "os", "name") == "windows" {
			return "", ""
		}
		return judge(p)
	}
}

func unlessUserNamespace(judge judge) judge {
	return func(p *pod) (string, string) {
		if p.spec["hostUsers"] == false {
			return "", ""
		}
		return judge(p)
	}
}

// containersThat are the names of the containers whose security context is bad.
func (p *pod) containersThat(bad func(security map[string]any) bool) (names []string) {
	for _, c := range p.containers {
		if bad(object.Map(c, "securityContext")) {
			names = append(names, object.String(c, "name"))
		}
	}
	return names
}

// settersThat are the pod, if its security context is bad, and the containers
// whose are: "pod and container "a""; "" if there are none.
func (p *pod) settersThat(bad func(security map[string]any) bool) string {
	var setters []string
	if bad(p.security) {
		setters = append(setters, "pod")
	}
	if names := p.containersThat(bad); len(names) > 0 {
		setters = append(setters, counted("container", names))
	}
	return strings.Join(setters, " and ")
}

// A set is of texts that are told sorted.
type set map[string]bool

func (s set) sorted() []string { return slices.Sorted(maps.Keys(s)) }

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// quoted is `"a", "b"`.
func quoted(list []string) string { return `"` + strings.Join(list, `", "`) + `"` }

// counted is `container "a"` or `containers "a", "b"`.
func counted(word string, list []string) string { return plural(word, len(list)) + " " + quoted(list) }

// verb is that of a sentence about so many.
func verb(list []string) string {
	if len(list) == 1 {
		return "uses"
	}
	return "use"
}

func privilegeEscalation(p *pod) (reason, detail string) {
	bad := p.containersThat(func(s map[string]any) bool { return s["allowPrivilegeEscalation"] != false })
	if len(bad) == 0 {
		return "", ""
	}
	return "allowPrivilegeEscalation != false", counted("container", bad) + " must set securityContext.allowPrivilegeEscalation=false"
}

const appArmorAnnotations = "container.apparmor.security.beta.kubernetes.io/"

func appArmorProfile(p *pod) (reason, detail string) {
	values := set{}
	setters := p.settersThat(func(s map[string]any) bool {
		profile := object.Map(s, "appArmorProfile")
		return profile != nil && isOddProfile(object.String(profile, "type"), values)
	})
	var annotations []string
	for name, v := range p.annotations {
		value, _ := v.(string)
		if strings.HasPrefix(name, appArmorAnnotations) && value != "" && value != "runtime/default" && !strings.HasPrefix(value, "localhost/") {
			annotations = append(annotations, fmt.Sprintf("%s=%q", name, value))
		}
	}
	slices.Sort(annotations)
	if len(annotations) > 0 {
		if setters != "" {
			setters += " and "
		}
		setters += plural("annotation", len(annotations))
	}
	if setters == "" {
		return "", ""
	}
	all := append(values.sorted(), annotations...)
	return plural("forbidden AppArmor profile", len(all)), fmt.Sprintf("%s must not set AppArmor profile type to %s", setters, quoted(all))
}

// isOddProfile notes the type of a profile that is neither the runtime's own nor
// one of the node.
func isOddProfile(typ string, odd set) bool {
	if typ == "RuntimeDefault" || typ == "Localhost" {
		return false
	}
	odd[typ] = true
	return true
}

var defaultCapabilities = []string{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}

// adding are the containers that add other capabilities than some, and which.
func (p *pod) adding(allowed ...string) (bad []string, added set) {
	added = set{}
	bad = p.containersThat(func(s map[string]any) (isBad bool) {
		for _, c := range object.Strings(s, "capabilities", "add") {
			if !slices.Contains(allowed, c) {
				added[c], isBad = true, true
			}
		}
		return isBad
	})
	return bad, added
}

func addingText(bad []string, added set) string {
	return fmt.Sprintf("%s must not include %s in securityContext.capabilities.add", counted("container", bad), quoted(added.sorted()))
}

func addedCapabilities(p *pod) (reason, detail string) {
	bad, added := p.adding(defaultCapabilities...)
	if len(bad) == 0 {
		return "", ""
	}
	return "non-default capabilities", addingText(bad, added)
}

func capabilities(p *pod) (reason, detail string) {
	var details []string
	keeping := p.containersThat(func(s map[string]any) bool {
		return !slices.Contains(object.Strings(s, "capabilities", "drop"), "ALL")
	})
	if len(keeping) > 0 {
		details = append(details, counted("container", keeping)+` must set securityContext.capabilities.drop=["ALL"]`)
	}
	if bad, added := p.adding("NET_BIND_SERVICE"); len(bad) > 0 {
		details = append(details, addingText(bad, added))
	}
	if len(details) == 0 {
		return "", ""
	}
	return "unrestricted capabilities", strings.Join(details, "; ")
}

func hostNamespaces(p *pod) (reason, detail string) {
	var shared []string
	for _, name := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if object.Bool(p.spec, name) {
			shared = append(shared, name+"=true")
		}
	}
	if len(shared) == 0 {
		return "", ""
	}
	return "host namespaces", strings.Join(shared, ", ")
}

func hostPathVolumes(p *pod) (reason, detail string) {
	var bad []string
	for volume := range object.Each(p.spec["volumes"]) {
		if volume["hostPath"] != nil {
			bad = append(bad, object.String(volume, "name"))
		}
	}
	if len(bad) == 0 {
		return "", ""
	}
	return "hostPath volumes", counted("volume", bad)
}

func hostPorts(p *pod) (reason, detail string) {
	var bad []string
	ports := set{}
	for _, c := range p.containers {
		before := len(bad)
		for port := range object.Each(c["ports"]) {
			if n, _ := object.Int(port, "hostPort"); n != 0 {
				ports[strconv.FormatInt(n, 10)] = true
				if len(bad) == before {
					bad = append(bad, object.String(c, "name"))
				}
			}
		}
	}
	if len(bad) == 0 {
		return "", ""
	}
	return "hostPort", fmt.Sprintf("%s %s %s %s", counted("container", bad), verb(bad), plural("hostPort", len(ports)), strings.Join(ports.sorted(), ", "))
}

// handlers are the members of a container that call hosts.
var handlers = [][]string{{"livenessProbe"}, {"readinessProbe"}, {"startupProbe"}, {"lifecycle", "postStart"}, {"lifecycle", "preStop"}}

func handlerHosts(p *pod) (reason, detail string) {
	containers, hosts := set{}, set{}
	for _, c := range p.containers {
		for _, path := range handlers {
			handler := object.Map(c, path...)
			for _, action := range []string{"httpGet", "tcpSocket"} {
				if host := object.String(handler, action, "host"); host != "" {
					containers[object.String(c, "name")], hosts[host] = true, true
				}
			}
		}
	}
	if len(containers) == 0 {
		return "", ""
	}
	bad := containers.sorted()
	return "probe or lifecycle host", fmt.Sprintf("%s %s %s", counted("container", bad), verb(bad), counted("probe or lifecycle host", hosts.sorted()))
}

func privileged(p *pod) (reason, detail string) {
	bad := p.containersThat(func(s map[string]any) bool { return object.Bool(s, "privileged") })
	if len(bad) == 0 {
		return "", ""
	}
	return "privileged", counted("container", bad) + " must not set securityContext.privileged=true"
}

func procMount(p *pod) (reason, detail string) {
	types := set{}
	bad := p.containersThat(func(s map[string]any) bool {
		typ, ok := s["procMount"].(string)
		if !ok || typ == "Default" {
			return false
		}
		types[typ] = true
		return true
	})
	if len(bad) == 0 {
		return "", ""
	}
	return "procMount", fmt.Sprintf("%s must not set securityContext.procMount to %s", counted("container", bad), quoted(types.sorted()))
}

// plainVolumes are the sources of volumes that the restricted level takes, and
// otherVolumes the others.
var (
	plainVolumes = []string{"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret"}
	otherVolumes = []string{
		"hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd", "flexVolume", "cinder", "cephfs",
		"flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk", "portworxVolume", "scaleIO", "storageos",
	}
)

func volumeTypes(p *pod) (reason, detail string) {
	var bad []string
	types := set{}
	for volume := range object.Each(p.spec["volumes"]) {
		is := func(source string) bool { return volume[source] != nil }
		if slices.ContainsFunc(plainVolumes, is) {
			continue
		}
		bad = append(bad, object.String(volume, "name"))
		typ := "unknown"
		if i := slices.IndexFunc(otherVolumes, is); i >= 0 {
			typ = otherVolumes[i]
		}
		types[typ] = true
	}
	if len(bad) == 0 {
		return "", ""
	}
	return "restricted volume types", fmt.Sprintf("%s %s %s", counted("volume", bad), verb(bad), counted("restricted volume type", types.sorted()))
}

func runAsNonRoot(p *pod) (reason, detail string) {
	reason = "runAsNonRoot != true"
	if setters := p.settersThat(func(s map[string]any) bool { return s["runAsNonRoot"] == false }); setters != "" {
		return reason, setters + " must not set securityContext.runAsNonRoot=false"
	}
	silent := p.containersThat(func(s map[string]any) bool { return s["runAsNonRoot"] == nil })
	if len(silent) == 0 || object.Bool(p.security, "runAsNonRoot") {
		return "", ""
	}
	return reason, "pod or " + counted("container", silent) + " must set securityContext.runAsNonRoot=true"
}

func runAsUser(p *pod) (reason, detail string) {
	setters := p.settersThat(func(s map[string]any) bool { return s["runAsUser"] == int64(0) })
	if setters == "" {
		return "", ""
	}
	return "runAsUser=0", setters + " must not set runAsUser=0"
}

var seLinuxTypes = []string{"", "container_t", "container_init_t", "container_kvm_t"}

func seLinux(allowed []string) judge {
	return func(p *pod) (reason, detail string) {
		types, user, role := set{}, false, false
		setters := p.settersThat(func(s map[string]any) bool {
			options := object.Map(s, "seLinuxOptions")
			typ := object.String(options, "type")
			oddType, hasUser, hasRole := !slices.Contains(allowed, typ), object.String(options, "user") != "", object.String(options, "role") != ""
			if oddType {
				types[typ] = true
			}
			user, role = user || hasUser, role || hasRole
			return oddType || hasUser || hasRole
		})
		if setters == "" {
			return "", ""
		}
		var bad []string
		if len(types) > 0 {
			bad = append(bad, counted("type", types.sorted()))
		}
		if user {
			bad = append(bad, "user may not be set")
		}
		if role {
			bad = append(bad, "role may not be set")
		}
		return "seLinuxOptions", setters + " set forbidden securityContext.seLinuxOptions: " + strings.Join(bad, "; ")
	}
}

const (
	seccompPodAnnotation        = "seccomp.security.alpha.kubernetes.io/pod"
	seccompContainerAnnotations = "container.seccomp.security.alpha.kubernetes.io/"
)

func seccompAnnotations(p *pod) (reason, detail string) {
	names := []string{seccompPodAnnotation}
	for _, c := range p.containers {
		names = append(names, seccompContainerAnnotations+object.String(c, "name"))
	}
	forbidden := set{}
	for _, name := range names {
		value, ok := p.annotations[name].(string)
		if ok && value != "runtime/default" && value != "docker/default" && !strings.HasPrefix(value, "localhost/") {
			forbidden[fmt.Sprintf("%s=%q", name, value)] = true
		}
	}
	if len(forbidden) == 0 {
		return "", ""
	}
	return "seccompProfile", fmt.Sprintf("forbidden %s %s", plural("annotation", len(forbidden)), strings.Join(forbidden.sorted(), ", "))
}

func seccompProfile(p *pod) (reason, detail string) {
	values := set{}
	setters := p.settersThat(func(s map[string]any) bool {
		profile := object.Map(s, "seccompProfile")
		return profile != nil && isOddProfile(object.String(profile, "type"), values)
	})
	if setters == "" {
		return "", ""
	}
	return "seccompProfile", fmt.Sprintf("%s must not set securityContext.seccompProfile.type to %s", setters, quoted(values.sorted()))
}

func ownSeccompProfile(p *pod) (reason, detail string) {
	if reason, detail := seccompProfile(p); reason != "" {
		return reason, detail
	}
	silent := p.containersThat(func(s map[string]any) bool { return s["seccompProfile"] == nil })
	if len(silent) == 0 || p.security["seccompProfile"] != nil {
		return "", ""
	}
	return "seccompProfile", "pod or " + counted("container", silent) + ` must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
}

// safeSysctls are those that are the pod's alone, in the order in which they
// came to be counted as such.
var safeSysctls = []string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
	"net.ipv4.ip_local_reserved_ports",
	"net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes",
	"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
}

// sysctls allows the first n safe ones.
func sysctls(n int) judge {
	return func(p *pod) (reason, detail string) {
		var bad []string
		for sysctl := range object.Each(p.security["sysctls"]) {
			if name := object.String(sysctl, "name"); !slices.Contains(safeSysctls[:n], name) {
				bad = append(bad, name)
			}
		}
		if len(bad) == 0 {
			return "", ""
		}
		return "forbidden sysctls", strings.Join(bad, ", ")
	}
}

func hostProcess(p *pod) (reason, detail string) {
	setters := p.settersThat(func(s map[string]any) bool { return object.Bool(s, "windowsOptions", "hostProcess") })
	if setters == "" {
		return "", ""
	}
	return "hostProcess", setters + " must not set securityContext.windowsOptions.hostProcess=true"
}
