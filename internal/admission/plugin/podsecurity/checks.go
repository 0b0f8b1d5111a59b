package podsecurity

import (
	"fmt"
	"maps"
	"slices"
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
	{"sysctls", levelBaseline, []versionedCheck{{0, sysctls(5)}, {27, sysctls(6)}, {29, sysctls(10)}, {32, sysctls(12)}, {37, sysctls(14)}}, ""},
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
	annotations, spec, security object.View
	containers                  []object.View // init and ephemeral ones too
}

func newPod(obj object.View) *pod {
	spec := obj.At("spec")
	p := &pod{obj.At("metadata", "annotations"), spec, spec.At("securityContext"), nil}
	for _, member := range []string{"initContainers", "containers", "ephemeralContainers"} {
		p.containers = slices.AppendSeq(p.containers, spec.At(member).Objects())
	}
	return p
}

// unlessWindows skips the check for Windows pods.
func unlessWindows(run checkFunc) checkFunc {
	return func(p *pod) (string, string) {
		if p.spec.String("os", "name") == "windows" {
			return "", ""
		}
		return run(p)
	}
}

// unlessUserNamespace skips the check for pods with a user namespace.
func unlessUserNamespace(run checkFunc) checkFunc {
	return func(p *pod) (string, string) {
		if p.spec.At("hostUsers").EqualTo(false) {
			return "", ""
		}
		return run(p)
	}
}

// containersWhere returns the names of the containers for whose securityContext
// bad reports true.
func (p *pod) containersWhere(bad func(security object.View) bool) (names []string) {
	for _, c := range p.containers {
		if bad(c.At("securityContext")) {
			names = append(names, c.String("name"))
		}
	}
	return names
}

// settersWhere names the pod and the containers for whose securityContext bad
// reports true: `pod and container "a"`. It returns "" for none.
func (p *pod) settersWhere(bad func(security object.View) bool) string {
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
	bad := p.containersWhere(func(s object.View) bool { return !s.At("allowPrivilegeEscalation").EqualTo(false) })
	if len(bad) == 0 {
		return "", ""
	}
	return "allowPrivilegeEscalation != false", pluralWith("container", bad) + " must set securityContext.allowPrivilegeEscalation=false"
}

var defaultCapabilities = []string{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}

// addedCapabilities returns the containers that add capabilities which are not
// allowed, and these capabilities.
func (p *pod) addedCapabilities(allowed ...string) (bad []string, added set) {
	added = set{}
	bad = p.containersWhere(func(s object.View) (isBad bool) {
		for _, c := range s.Strings("capabilities", "add") {
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
	keeping := p.containersWhere(func(s object.View) bool {
		return !slices.Contains(s.Strings("capabilities", "drop"), "ALL")
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

func privileged(p *pod) (reason, detail string) {
	bad := p.containersWhere(func(s object.View) bool { return s.Bool("privileged") })
	if len(bad) == 0 {
		return "", ""
	}
	return "privileged", pluralWith("container", bad) + " must not set securityContext.privileged=true"
}

func procMount(p *pod) (reason, detail string) {
	types := set{}
	bad := p.containersWhere(func(s object.View) bool {
		typ := s.String("procMount")
		if s.IsNil("procMount") || typ == "Default" {
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
	for volume := range p.spec.At("volumes").Objects() {
		is := func(source string) bool { return !volume.IsNil(source) }
		if slices.ContainsFunc(allowedVolumes, is) {
			continue
		}
		bad = append(bad, volume.String("name"))
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
	if setters := p.settersWhere(func(s object.View) bool { return s.At("runAsNonRoot").EqualTo(false) }); setters != "" {
		return reason, setters + " must not set securityContext.runAsNonRoot=false"
	}
	unset := p.containersWhere(func(s object.View) bool { return s.IsNil("runAsNonRoot") })
	if len(unset) == 0 || p.security.Bool("runAsNonRoot") {
		return "", ""
	}
	return reason, "pod or " + pluralWith("container", unset) + " must set securityContext.runAsNonRoot=true"
}

func runAsUser(p *pod) (reason, detail string) {
	setters := p.settersWhere(func(s object.View) bool { return s.At("runAsUser").EqualTo(int64(0)) })
	if setters == "" {
		return "", ""
	}
	return "runAsUser=0", setters + " must not set runAsUser=0"
}

// safeSysctls are the sysctls that affect one pod only. Later releases of
// Kubernetes added the later ones.
var safeSysctls = []string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
	"net.ipv4.ip_local_reserved_ports",
	"net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes",
	"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
	"net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat",
}

// sysctls checks that a pod sets only the first n safe sysctls.
func sysctls(n int) checkFunc {
	return func(p *pod) (reason, detail string) {
		var bad []string
		for sysctl := range p.security.At("sysctls").Objects() {
			if name := sysctl.String("name"); !slices.Contains(safeSysctls[:n], name) {
				bad = append(bad, name)
			}
		}
		if len(bad) == 0 {
			return "", ""
		}
		return "forbidden sysctls", strings.Join(bad, ", ")
	}
}
