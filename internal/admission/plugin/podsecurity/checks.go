package podsecurity

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// A check is one control of the Pod Security Standards.
type check struct {
	id    string // as in upstream's registry of checks
	level level
	// versions are the definitions of the check, oldest first.
	versions []versionedCheck
	// overrides is the id of a check of a lower level that does not run together
	// with this one; "" for none.
	overrides string
}

// A versionedCheck defines a check since a version of Kubernetes.
type versionedCheck struct {
	since version
	run   checkFunc
}

// A checkFunc checks a pod. The reason is "" if the pod passes.
type checkFunc func(p *pod) (reason, detail string)

// checks are sorted by level, then by id. Messages list violations in this
// order.
var checks = []check{
	{"appArmorProfile", levelBaseline, []versionedCheck{{0, appArmorProfile}}, ""},
	{"capabilities_baseline", levelBaseline, []versionedCheck{{0, baselineCapabilities}}, ""},
	{"hostNamespaces", levelBaseline, []versionedCheck{{0, hostNamespaces}}, ""},
	{"hostPathVolumes", levelBaseline, []versionedCheck{{0, hostPathVolumes}}, ""},
	{"hostPorts", levelBaseline, []versionedCheck{{0, hostPorts}}, ""},
	{"hostProbesAndHostLifecycle", levelBaseline, []versionedCheck{{34, hostProbesAndHostLifecycle}}, ""},
	{"privileged", levelBaseline, []versionedCheck{{0, privileged}}, ""},
	{"procMount", levelBaseline, []versionedCheck{{0, procMount}, {35, unlessUserNamespace(procMount)}}, ""},
	{"seLinuxOptions", levelBaseline, []versionedCheck{{0, seLinux(seLinuxTypes)}, {31, seLinux(append(seLinuxTypes, "container_engine_t"))}}, ""},
	{"seccompProfile_baseline", levelBaseline, []versionedCheck{{0, seccompAnnotations}, {19, baselineSeccompProfile}}, ""},
	{"sysctls", levelBaseline, []versionedCheck{{0, sysctls(5)}, {27, sysctls(6)}, {29, sysctls(10)}, {32, sysctls(12)}}, ""},
	{"windowsHostProcess", levelBaseline, []versionedCheck{{0, hostProcess}}, ""},

	{"allowPrivilegeEscalation", levelRestricted, []versionedCheck{{8, privilegeEscalation}, {25, unlessWindows(privilegeEscalation)}}, ""},
	{"capabilities_restricted", levelRestricted, []versionedCheck{{22, restrictedCapabilities}, {25, unlessWindows(restrictedCapabilities)}}, "capabilities_baseline"},
	{"procMount_restricted", levelRestricted, []versionedCheck{{35, procMount}}, "procMount"},
	{"restrictedVolumes", levelRestricted, []versionedCheck{{0, volumeTypes}}, "hostPathVolumes"},
	{"runAsNonRoot", levelRestricted, []versionedCheck{{0, runAsNonRoot}, {35, unlessUserNamespace(runAsNonRoot)}}, ""},
	{"runAsUser", levelRestricted, []versionedCheck{{23, runAsUser}, {35, unlessUserNamespace(runAsUser)}}, ""},
	{"seccompProfile_restricted", levelRestricted, []versionedCheck{{19, restrictedSeccompProfile}, {25, unlessWindows(restrictedSeccompProfile)}}, "seccompProfile_baseline"},
}

// in returns the definition of the check in a version; nil for none.
func (c *check) in(v version) checkFunc {
	for _, def := range slices.Backward(c.versions) {
		if def.since <= v {
			return def.run
		}
	}
	return nil
}

// checks returns the checks of a level in a version.
func (l levelVersion) checks() (all []checkFunc) {
	for i := range checks {
		c := &checks[i]
		overridden := slices.ContainsFunc(checks, func(other check) bool {
			return other.overrides == c.id && other.level <= l.level && other.in(l.version) != nil
		})
		if run := c.in(l.version); run != nil && c.level <= l.level && !overridden {
			all = append(all, run)
		}
	}
	return all
}

// A pod is what the checks read of a pod or a pod template.
type pod struct {
	annotations, spec, security map[string]any
	containers                  []map[string]any // init and ephemeral ones too
}

func newPod(obj map[string]any) *pod {
	spec := object.Map(obj, "spec")
	p := &pod{object.Map(obj, "metadata", "annotations"), spec, object.Map(spec, "securityContext"), nil}
	for _, member := range []string{"initContainers", "containers", "ephemeralContainers"} {
		p.containers = slices.AppendSeq(p.containers, object.Each(spec[member]))
	}
	return p
}

// unlessWindows skips the check for Windows pods.
func unlessWindows(run checkFunc) checkFunc {
	return func(p *pod) (string, string) {
		if object.String(p.spec, "os", "name") == "windows" {
			return "", ""
		}
		return run(p)
	}
}

// unlessUserNamespace skips the check for pods with a user namespace.
func unlessUserNamespace(run checkFunc) checkFunc {
	return func(p *pod) (string, string) {
		if p.spec["hostUsers"] == false {
			return "", ""
		}
		return run(p)
	}
}

// containersWhere returns the names of the containers for whose securityContext
// bad reports true.
func (p *pod) containersWhere(bad func(security map[string]any) bool) (names []string) {
	for _, c := range p.containers {
		if bad(object.Map(c, "securityContext")) {
			names = append(names, object.String(c, "name"))
		}
	}
	return names
}

// settersWhere names the pod and the containers for whose securityContext bad
// reports true: `pod and container "a"`. It returns "" for none.
func (p *pod) settersWhere(bad func(security map[string]any) bool) string {
	var setters []string
	if bad(p.security) {
		setters = append(setters, "pod")
	}
	if names := p.containersWhere(bad); len(names) > 0 {
		setters = append(setters, pluralWith("container", names))
	}
	return strings.Join(setters, " and ")
}

// A set is a set of strings.
type set map[string]bool

func (s set) sorted() []string { return slices.Sorted(maps.Keys(s)) }

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// quoteAll returns `"a", "b"`.
func quoteAll(list []string) string { return `"` + strings.Join(list, `", "`) + `"` }

// pluralWith returns `container "a"` or `containers "a", "b"`.
func pluralWith(word string, list []string) string {
	return plural(word, len(list)) + " " + quoteAll(list)
}

// use returns the form of the verb for the subjects in the list.
func use(list []string) string {
	if len(list) == 1 {
		return "uses"
	}
	return "use"
}

func privilegeEscalation(p *pod) (reason, detail string) {
	bad := p.containersWhere(func(s map[string]any) bool { return s["allowPrivilegeEscalation"] != false })
	if len(bad) == 0 {
		return "", ""
	}
	return "allowPrivilegeEscalation != false", pluralWith("container", bad) + " must set securityContext.allowPrivilegeEscalation=false"
}

const appArmorAnnotations = "container.apparmor.security.beta.kubernetes.io/"

func appArmorProfile(p *pod) (reason, detail string) {
	values := set{}
	setters := p.settersWhere(func(s map[string]any) bool {
		profile := object.Map(s, "appArmorProfile")
		return profile != nil && isForbiddenProfile(object.String(profile, "type"), values)
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
	return plural("forbidden AppArmor profile", len(all)), fmt.Sprintf("%s must not set AppArmor profile type to %s", setters, quoteAll(all))
}

// isForbiddenProfile reports whether a profile has another type than
// RuntimeDefault and Localhost, and adds it to forbidden.
func isForbiddenProfile(typ string, forbidden set) bool {
	if typ == "RuntimeDefault" || typ == "Localhost" {
		return false
	}
	forbidden[typ] = true
	return true
}

var defaultCapabilities = []string{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}

// addedCapabilities returns the containers that add capabilities which are not
// allowed, and these capabilities.
func (p *pod) addedCapabilities(allowed ...string) (bad []string, added set) {
	added = set{}
	bad = p.containersWhere(func(s map[string]any) (isBad bool) {
		for _, c := range object.Strings(s, "capabilities", "add") {
			if !slices.Contains(allowed, c) {
				added[c], isBad = true, true
			}
		}
		return isBad
	})
	return bad, added
}

func addedCapabilitiesDetail(bad []string, added set) string {
	return fmt.Sprintf("%s must not include %s in securityContext.capabilities.add", pluralWith("container", bad), quoteAll(added.sorted()))
}

func baselineCapabilities(p *pod) (reason, detail string) {
	bad, added := p.addedCapabilities(defaultCapabilities...)
	if len(bad) == 0 {
		return "", ""
	}
	return "non-default capabilities", addedCapabilitiesDetail(bad, added)
}

func restrictedCapabilities(p *pod) (reason, detail string) {
	var details []string
	keeping := p.containersWhere(func(s map[string]any) bool {
		return !slices.Contains(object.Strings(s, "capabilities", "drop"), "ALL")
	})
	if len(keeping) > 0 {
		details = append(details, pluralWith("container", keeping)+` must set securityContext.capabilities.drop=["ALL"]`)
	}
	if bad, added := p.addedCapabilities("NET_BIND_SERVICE"); len(bad) > 0 {
		details = append(details, addedCapabilitiesDetail(bad, added))
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
	return "hostPath volumes", pluralWith("volume", bad)
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
	return "hostPort", fmt.Sprintf("%s %s %s %s", pluralWith("container", bad), use(bad), plural("hostPort", len(ports)), strings.Join(ports.sorted(), ", "))
}

// handlers are the fields of a container that have a handler.
var handlers = [][]string{{"livenessProbe"}, {"readinessProbe"}, {"startupProbe"}, {"lifecycle", "postStart"}, {"lifecycle", "preStop"}}

func hostProbesAndHostLifecycle(p *pod) (reason, detail string) {
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
	return "probe or lifecycle host", fmt.Sprintf("%s %s %s", pluralWith("container", bad), use(bad), pluralWith("probe or lifecycle host", hosts.sorted()))
}

func privileged(p *pod) (reason, detail string) {
	bad := p.containersWhere(func(s map[string]any) bool { return object.Bool(s, "privileged") })
	if len(bad) == 0 {
		return "", ""
	}
	return "privileged", pluralWith("container", bad) + " must not set securityContext.privileged=true"
}

func procMount(p *pod) (reason, detail string) {
	types := set{}
	bad := p.containersWhere(func(s map[string]any) bool {
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
	return "procMount", fmt.Sprintf("%s must not set securityContext.procMount to %s", pluralWith("container", bad), quoteAll(types.sorted()))
}

// The volume sources that the restricted level allows and forbids.
var (
	allowedVolumes   = []string{"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret"}
	forbiddenVolumes = []string{
		"hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd", "flexVolume", "cinder", "cephfs",
		"flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk", "portworxVolume", "scaleIO", "storageos",
	}
)

func volumeTypes(p *pod) (reason, detail string) {
	var bad []string
	types := set{}
	for volume := range object.Each(p.spec["volumes"]) {
		is := func(source string) bool { return volume[source] != nil }
		if slices.ContainsFunc(allowedVolumes, is) {
			continue
		}
		bad = append(bad, object.String(volume, "name"))
		typ := "unknown"
		if i := slices.IndexFunc(forbiddenVolumes, is); i >= 0 {
			typ = forbiddenVolumes[i]
		}
		types[typ] = true
	}
	if len(bad) == 0 {
		return "", ""
	}
	return "restricted volume types", fmt.Sprintf("%s %s %s", pluralWith("volume", bad), use(bad), pluralWith("restricted volume type", types.sorted()))
}

func runAsNonRoot(p *pod) (reason, detail string) {
	reason = "runAsNonRoot != true"
	if setters := p.settersWhere(func(s map[string]any) bool { return s["runAsNonRoot"] == false }); setters != "" {
		return reason, setters + " must not set securityContext.runAsNonRoot=false"
	}
	unset := p.containersWhere(func(s map[string]any) bool { return s["runAsNonRoot"] == nil })
	if len(unset) == 0 || object.Bool(p.security, "runAsNonRoot") {
		return "", ""
	}
	return reason, "pod or " + pluralWith("container", unset) + " must set securityContext.runAsNonRoot=true"
}

func runAsUser(p *pod) (reason, detail string) {
	setters := p.settersWhere(func(s map[string]any) bool { return s["runAsUser"] == int64(0) })
	if setters == "" {
		return "", ""
	}
	return "runAsUser=0", setters + " must not set runAsUser=0"
}

var seLinuxTypes = []string{"", "container_t", "container_init_t", "container_kvm_t"}

func seLinux(allowed []string) checkFunc {
	return func(p *pod) (reason, detail string) {
		types, user, role := set{}, false, false
		setters := p.settersWhere(func(s map[string]any) bool {
			options := object.Map(s, "seLinuxOptions")
			typ := object.String(options, "type")
			badType, hasUser, hasRole := !slices.Contains(allowed, typ), object.String(options, "user") != "", object.String(options, "role") != ""
			if badType {
				types[typ] = true
			}
			user, role = user || hasUser, role || hasRole
			return badType || hasUser || hasRole
		})
		if setters == "" {
			return "", ""
		}
		var bad []string
		if len(types) > 0 {
			bad = append(bad, pluralWith("type", types.sorted()))
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

func baselineSeccompProfile(p *pod) (reason, detail string) {
	values := set{}
	setters := p.settersWhere(func(s map[string]any) bool {
		profile := object.Map(s, "seccompProfile")
		return profile != nil && isForbiddenProfile(object.String(profile, "type"), values)
	})
	if setters == "" {
		return "", ""
	}
	return "seccompProfile", fmt.Sprintf("%s must not set securityContext.seccompProfile.type to %s", setters, quoteAll(values.sorted()))
}

func restrictedSeccompProfile(p *pod) (reason, detail string) {
	if reason, detail := baselineSeccompProfile(p); reason != "" {
		return reason, detail
	}
	unset := p.containersWhere(func(s map[string]any) bool { return s["seccompProfile"] == nil })
	if len(unset) == 0 || p.security["seccompProfile"] != nil {
		return "", ""
	}
	return "seccompProfile", "pod or " + pluralWith("container", unset) + ` must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
}

// safeSysctls are the sysctls that affect one pod only. Later releases of
// Kubernetes added the later ones.
var safeSysctls = []string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
	"net.ipv4.ip_local_reserved_ports",
	"net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes",
	"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
}

// sysctls checks that a pod sets only the first n safe sysctls.
func sysctls(n int) checkFunc {
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
	setters := p.settersWhere(func(s map[string]any) bool { return object.Bool(s, "windowsOptions", "hostProcess") })
	if setters == "" {
		return "", ""
	}
	return "hostProcess", setters + " must not set securityContext.windowsOptions.hostProcess=true"
}
