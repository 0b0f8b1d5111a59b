package kinds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// ids checks Unix users and groups at members that may be absent.
func ids(p part, members ...string) {
	for _, name := range members {
		if p.has(name) {
			n := p.integer(name)
			p.add(validation.Each(p.at(name), n, validation.UserID(n)))
		}
	}
}

// unixGroups checks supplementalGroups.
func unixGroups(p part) {
	for i, v := range object.List(p.obj, "supplementalGroups") {
		n, _ := v.(int64)
		p.add(validation.Each(p.at("supplementalGroups").Index(i), n, validation.GroupID(n)))
	}
}

// checkSecurityContext checks the security context of a pod.
func (r *podRules) checkSecurityContext(p part) {
	ids(p, "fsGroup", "runAsUser", "runAsGroup")
	unixGroups(p)
	if r.spec.flag("hostPID") && r.spec.flag("shareProcessNamespace") {
		p.note(validation.Invalid(p.at("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled"))
	}
	r.checkSysctls(p)
	p.ifOneOf("fsGroupChangePolicy", "Always", "OnRootMismatch")
	p.ifGiven("seccompProfile", seccompProfile)
	p.ifGiven("windowsOptions", windowsOptions)
	p.ifGiven("appArmorProfile", appArmor)
	p.ifOneOf("supplementalGroupsPolicy", "Merge", "Strict")
	p.ifOneOf("seLinuxChangePolicy", "Recursive") // others wait for a feature gate
}

// checkContainerSecurity checks the security context of a container.
func (r *podRules) checkContainerSecurity(p part) {
	ids(p, "runAsUser", "runAsGroup")
	p.ifOneOf("procMount", "Default", "Unmasked")
	if r.hostUsers && p.text("procMount") == "Unmasked" {
		p.invalidEnum("procMount", "`hostUsers` must be false to use `Unmasked`")
	}
	p.ifGiven("seccompProfile", seccompProfile)
	if p.obj["allowPrivilegeEscalation"] == false {
		escalates := func(how string) {
			p.note(validation.Invalid(p.path, internal("core.SecurityContext", p.obj), "cannot set `allowPrivilegeEscalation` to false and "+how))
		}
		if p.flag("privileged") {
			escalates("`privileged` to true")
		}
		for _, capability := range p.within("capabilities").texts("add") {
			if capability == "CAP_SYS_ADMIN" {
				escalates("`capabilities.Add` CAP_SYS_ADMIN")
			}
		}
	}
	p.ifGiven("windowsOptions", windowsOptions)
	p.ifGiven("appArmorProfile", appArmor)
}

func (r *podRules) checkSysctls(p part) {
	seen := names{}
	for _, sysctl := range p.each("sysctls") {
		name := sysctl.text("name")
		switch {
		case name == "":
			sysctl.missing("name", "")
		case !validation.IsSysctl(name):
			sysctl.invalid("name", fmt.Sprintf("must have at most %d characters and match regex %s", validation.SysctlMaxLength, validation.SysctlRE))
		case seen[name]:
			sysctl.duplicate("name", name)
		}
		seen[name] = true
		switch namespace := sysctlNamespace(name); {
		case namespace == "net" && r.spec.flag("hostNetwork"):
			sysctl.invalid("name", "may not be specified when 'hostNetwork' is true")
		case namespace == "ipc" && r.spec.flag("hostIPC"):
			sysctl.invalid("name", "may not be specified when 'hostIPC' is true")
		}
	}
}

// sysctlNamespace is the Linux namespace of a kernel parameter, "" if it has
// none.
//
// See https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/.
func sysctlNamespace(name string) string {
	// The first separator decides which one the name uses.
	if first := strings.IndexAny(name, "./"); first >= 0 && name[first] == '/' {
		name = strings.Map(func(c rune) rune {
			switch c {
			case '/':
				return '.'
			case '.':
				return '/'
			}
			return c
		}, name)
	}
	switch {
	case strings.HasPrefix(name, "net."):
		return "net"
	case name == "kernel.sem", strings.HasPrefix(name, "kernel.shm"), strings.HasPrefix(name, "kernel.msg"), strings.HasPrefix(name, "fs.mqueue."):
		return "ipc"
	}
	return ""
}

// profileTypes are those of seccomp and AppArmor profiles.
var profileTypes = []string{"Localhost", "RuntimeDefault", "Unconfined"}

func seccompProfile(p part) {
	if p.text("type") == "" {
		p.missing("type", "type is required when seccompProfile is set")
	} else {
		p.oneOf("type", profileTypes...)
	}
	switch local := p.text("type") == "Localhost"; {
	case local && !p.has("localhostProfile"):
		p.missing("localhostProfile", "must be set when seccomp type is Localhost")
	case local:
		descendingPath(p, "localhostProfile")
	case p.has("localhostProfile"):
		p.note(validation.Invalid(p.at("localhostProfile"), internal("core.SeccompProfile", p.obj), "can only be set when seccomp type is Localhost"))
	}
}

// maxProfilePath is the longest path without its end.
const maxProfilePath = 4095

func appArmor(p part) {
	const why = "must be set when AppArmor type is Localhost"
	switch p.text("type") {
	case "":
		p.missing("type", "type is required when appArmorProfile is set")
	case "Localhost":
		profile := p.text("localhostProfile")
		switch {
		case strings.TrimSpace(profile) != profile:
			p.invalid("localhostProfile", "must not be padded with whitespace")
		case profile == "":
			p.missing("localhostProfile", why)
		}
		if len(profile) > maxProfilePath {
			p.note(validation.TooLong(p.at("localhostProfile"), maxProfilePath))
		}
	case "RuntimeDefault", "Unconfined":
		if p.has("localhostProfile") {
			p.invalidEnum("localhostProfile", "can only be set when AppArmor type is Localhost")
		}
	default:
		p.oneOf("type", profileTypes...)
	}
}

// seccompProfileName checks an annotation that names a seccomp profile.
func seccompProfileName(p part, key string) {
	name := p.text(key)
	switch local, ok := strings.CutPrefix(name, localhostPrefix); {
	case ok:
		descendingPath(part{map[string]any{key: local}, p.path, p.errs}, key)
	case name != "runtime/default" && name != "docker/default" && name != "unconfined":
		p.invalid(key, "must be a valid seccomp profile")
	}
}

// appArmorProfileName checks an annotation that names an AppArmor profile.
func appArmorProfileName(p part, key string) {
	switch name := p.text(key); {
	case name == "", name == "runtime/default", name == "unconfined", strings.HasPrefix(name, localhostPrefix):
	default:
		p.note(validation.Invalid(p.path.Key(key), name, fmt.Sprintf("invalid AppArmor profile name: %q", name)))
	}
}

// seccompAgrees checks that the annotations of a pod and its fields name the
// same seccomp profiles.
func seccompAgrees(spec part, annotations map[string]any) {
	if len(annotations) == 0 {
		return
	}
	check := func(p part, key string) {
		profile, ok := p.within("securityContext").given("seccompProfile")
		annotation, annotated := annotations[key].(string)
		if ok && annotated {
			profileAgrees(profile, annotation, "seccomp", "runtime/default", "docker/default")
		}
	}
	check(spec, seccompAnnotation)
	for c := range eachContainer(spec) {
		check(c, seccompPrefix+c.text("name"))
	}
}

// appArmorAgrees does the same for AppArmor profiles.
func appArmorAgrees(spec part, annotations map[string]any) {
	if len(annotations) == 0 || object.String(spec.obj, "os", "name") == "windows" {
		return
	}
	ofPod := object.Map(spec.obj, "securityContext", "appArmorProfile")
	for c := range eachContainer(spec) {
		profile := c.within("securityContext").within("appArmorProfile")
		if profile.obj == nil {
			profile.obj = ofPod
		}
		annotation, annotated := annotations[appArmorPrefix+c.text("name")].(string)
		if profile.obj != nil && annotated {
			profileAgrees(profile, annotation, "apparmor", "runtime/default")
		}
	}
}

// profileAgrees checks that an annotation names the profile p.
func profileAgrees(p part, annotation, what string, runtimeDefaults ...string) {
	agrees := true
	switch p.text("type") {
	case "Unconfined":
		agrees = annotation == "unconfined"
	case "RuntimeDefault":
		agrees = slices.Contains(runtimeDefaults, annotation)
	case "Localhost":
		var local string
		if local, agrees = strings.CutPrefix(annotation, localhostPrefix); agrees && local != p.text("localhostProfile") {
			p.forbid("localhostProfile", what+" profile in annotation and field must match")
		}
	}
	if !agrees {
		p.forbid("type", what+" type in annotation and field must match")
	}
}

// isDeletionCost reports whether s is an integer as the annotation takes it:
// without a plus sign or leading zeros.
func isDeletionCost(s string) bool {
	n, err := strconv.ParseInt(s, 10, 32)
	return err == nil && (s[0] == '-' || s == strconv.FormatInt(n, 10))
}

// The bounds of what Windows is told, in bytes.
const (
	maxCredentialSpec = 64 << 10
	maxUserDomain     = 256
	maxUserName       = 104
	maxNetBIOS        = 15
)

func windowsOptions(p part) {
	if p.has("gmsaCredentialSpecName") {
		name := p.text("gmsaCredentialSpecName")
		p.add(validation.Each(p.at("gmsaCredentialSpecName"), validation.NamedString(name), validation.DNS1123Subdomain(name)))
	}
	if p.has("gmsaCredentialSpec") {
		switch n := len(p.text("gmsaCredentialSpec")); {
		case n == 0:
			p.invalidEnum("gmsaCredentialSpec", "gmsaCredentialSpec cannot be an empty string")
		case n > maxCredentialSpec:
			p.invalidEnum("gmsaCredentialSpec", fmt.Sprintf("gmsaCredentialSpec size must be under %d KiB", maxCredentialSpec>>10))
		}
	}
	if p.has("runAsUserName") {
		for _, message := range windowsUser(p.text("runAsUserName")) {
			p.invalidEnum("runAsUserName", message)
		}
	}
}

// windowsUser says what is wrong with the name of a Windows user: a domain and a
// backslash, which may be left out, and the user.
func windowsUser(name string) (messages []string) {
	switch {
	case name == "":
		return []string{"runAsUserName cannot be an empty string"}
	case strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return []string{"runAsUserName cannot contain control characters"}
	case strings.Count(name, `\`) > 1:
		return []string{"runAsUserName cannot contain more than one backslash"}
	}
	domain, user, hasDomain := strings.Cut(name, `\`)
	if !hasDomain {
		domain, user = "", name
	}
	wrong := func(is bool, message string) {
		if is {
			messages = append(messages, message)
		}
	}
	wrong(len(domain) >= maxUserDomain, fmt.Sprintf("runAsUserName's Domain length must be under %d characters", maxUserDomain))
	wrong(hasDomain && !isNetBIOS(domain) && !isWindowsDomain(domain), "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	wrong(user == "", "runAsUserName's User cannot be empty")
	wrong(len(user) > maxUserName, fmt.Sprintf("runAsUserName's User length must not be longer than %d characters", maxUserName))
	wrong(user != "" && strings.Trim(user, ". ") == "", "runAsUserName's User cannot contain only periods or spaces")
	wrong(strings.ContainsAny(user, `"/\:;|=,+*?<>@[]`), `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	return messages
}

func isNetBIOS(domain string) bool {
	n := len([]rune(domain))
	return 1 <= n && n <= maxNetBIOS && domain[0] != '.' && !strings.ContainsAny(domain, `\/:*?"<>|`)
}

// isWindowsDomain reports whether a domain is labels joined by dots, in letters
// of either case.
func isWindowsDomain(domain string) bool {
	for label := range strings.SplitSeq(domain, ".") {
		if len(validation.DNS1123Label(strings.ToLower(label))) > 0 {
			return false
		}
	}
	return true
}

// checkHostProcess checks that the containers of a Windows pod all are processes
// of its node, or none.
func (r *podRules) checkHostProcess() {
	ofPod, podSays := object.Value(r.spec.obj, "securityContext", "windowsOptions", "hostProcess").(bool)
	count, processes := 0, 0
	for c := range eachContainer(r.spec) {
		count++
		own, says := object.Value(c.obj, "securityContext", "windowsOptions", "hostProcess").(bool)
		if says && podSays && own != ofPod {
			c.note(validation.Invalid(c.at("securityContext").Child("windowsOptions").Child("hostProcess"), own,
				fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %t", ofPod)))
		}
		if own || !says && ofPod {
			processes++
		}
	}
	if processes == 0 {
		return
	}
	if processes != count {
		r.spec.note(validation.Invalid(r.spec.path, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers"))
	}
	if !r.spec.flag("hostNetwork") {
		r.spec.note(validation.Invalid(r.spec.at("hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers"))
	}
}
