package pods

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkIds checks Unix users and groups at members that may be absent.
func checkIds(p validation.View, members ...string) {
	for _, name := range members {
		if p.Has(name) {
			n := p.Int(name)
			p.AddList(validation.Each(p.At(name), n, validation.UserID(n)))
		}
	}
}

// checkUnixGroups checks supplementalGroups.
func checkUnixGroups(p validation.View) {
	for i, v := range object.List(p.Obj, "supplementalGroups") {
		n, _ := v.(int64)
		p.AddList(validation.Each(p.At("supplementalGroups").Index(i), n, validation.GroupID(n)))
	}
}

// checkSecurityContext checks the security context of a pod.
func (r *podRules) checkSecurityContext(p validation.View) {
	checkIds(p, "fsGroup", "runAsUser", "runAsGroup")
	checkUnixGroups(p)
	if r.spec.Bool("hostPID") && r.spec.Bool("shareProcessNamespace") {
		p.Add(validation.Invalid(p.At("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled"))
	}
	r.checkSysctls(p)
	p.OneOfIfSet("fsGroupChangePolicy", "Always", "OnRootMismatch")
	p.IfPresent("seccompProfile", checkSeccompProfile)
	p.IfPresent("windowsOptions", checkWindowsOptions)
	p.IfPresent("appArmorProfile", checkAppArmor)
	p.OneOfIfSet("supplementalGroupsPolicy", "Merge", "Strict")
	p.OneOfIfSet("seLinuxChangePolicy", "Recursive") // others wait for a feature gate
}

// checkContainerSecurity checks the security context of a container.
func (r *podRules) checkContainerSecurity(p validation.View) {
	checkIds(p, "runAsUser", "runAsGroup")
	p.OneOfIfSet("procMount", "Default", "Unmasked")
	if r.hostUsers && p.String("procMount") == "Unmasked" {
		p.InvalidNamed("procMount", "`hostUsers` must be false to use `Unmasked`")
	}
	p.IfPresent("seccompProfile", checkSeccompProfile)
	if p.Obj["allowPrivilegeEscalation"] == false {
		escalates := func(how string) {
			p.Add(validation.Invalid(p.Path, validation.AsGoType("core.SecurityContext", p.Obj), "cannot set `allowPrivilegeEscalation` to false and "+how))
		}
		if p.Bool("privileged") {
			escalates("`privileged` to true")
		}
		for _, capability := range p.Field("capabilities").Strings("add") {
			if capability == "CAP_SYS_ADMIN" {
				escalates("`capabilities.Add` CAP_SYS_ADMIN")
			}
		}
	}
	p.IfPresent("windowsOptions", checkWindowsOptions)
	p.IfPresent("appArmorProfile", checkAppArmor)
}

func (r *podRules) checkSysctls(p validation.View) {
	seen := validation.Seen{}
	for _, sysctl := range p.Each("sysctls") {
		name := sysctl.String("name")
		switch {
		case name == "":
			sysctl.Required("name", "")
		case !validation.IsSysctl(name):
			sysctl.Invalid("name", fmt.Sprintf("must have at most %d characters and match regex %s", validation.SysctlMaxLength, validation.SysctlRE))
		case seen[name]:
			sysctl.Duplicate("name", name)
		}
		seen[name] = true
		switch namespace := sysctlNamespace(name); {
		case namespace == "net" && r.spec.Bool("hostNetwork"):
			sysctl.Invalid("name", "may not be specified when 'hostNetwork' is true")
		case namespace == "ipc" && r.spec.Bool("hostIPC"):
			sysctl.Invalid("name", "may not be specified when 'hostIPC' is true")
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

func checkSeccompProfile(p validation.View) {
	if p.String("type") == "" {
		p.Required("type", "type is required when seccompProfile is set")
	} else {
		p.OneOf("type", profileTypes...)
	}
	switch local := p.String("type") == "Localhost"; {
	case local && !p.Has("localhostProfile"):
		p.Required("localhostProfile", "must be set when seccomp type is Localhost")
	case local:
		volumes.CheckDescendingPath(p, "localhostProfile")
	case p.Has("localhostProfile"):
		p.Add(validation.Invalid(p.At("localhostProfile"), validation.AsGoType("core.SeccompProfile", p.Obj), "can only be set when seccomp type is Localhost"))
	}
}

// maxProfilePath is the longest path without its end.
const maxProfilePath = 4095

func checkAppArmor(p validation.View) {
	const why = "must be set when AppArmor type is Localhost"
	switch p.String("type") {
	case "":
		p.Required("type", "type is required when appArmorProfile is set")
	case "Localhost":
		profile := p.String("localhostProfile")
		switch {
		case strings.TrimSpace(profile) != profile:
			p.Invalid("localhostProfile", "must not be padded with whitespace")
		case profile == "":
			p.Required("localhostProfile", why)
		}
		if len(profile) > maxProfilePath {
			p.Add(validation.TooLong(p.At("localhostProfile"), maxProfilePath))
		}
	case "RuntimeDefault", "Unconfined":
		if p.Has("localhostProfile") {
			p.InvalidNamed("localhostProfile", "can only be set when AppArmor type is Localhost")
		}
	default:
		p.OneOf("type", profileTypes...)
	}
}

// checkSeccompProfileName checks an annotation that names a seccomp profile.
func checkSeccompProfileName(p validation.View, key string) {
	name := p.String(key)
	switch local, ok := strings.CutPrefix(name, localhostPrefix); {
	case ok:
		volumes.CheckDescendingPath(validation.View{Obj: map[string]any{key: local}, Path: p.Path, Errs: p.Errs}, key)
	case name != "runtime/default" && name != "docker/default" && name != "unconfined":
		p.Invalid(key, "must be a valid seccomp profile")
	}
}

// checkAppArmorProfileName checks an annotation that names an AppArmor profile.
func checkAppArmorProfileName(p validation.View, key string) {
	switch name := p.String(key); {
	case name == "", name == "runtime/default", name == "unconfined", strings.HasPrefix(name, localhostPrefix):
	default:
		p.Add(validation.Invalid(p.Path.Key(key), name, fmt.Sprintf("invalid AppArmor profile name: %q", name)))
	}
}

// checkSeccompAgrees checks that the annotations of a pod and its fields name the
// same seccomp profiles.
func checkSeccompAgrees(spec validation.View, annotations map[string]any) {
	if len(annotations) == 0 {
		return
	}
	check := func(p validation.View, key string) {
		profile, ok := p.Field("securityContext").Lookup("seccompProfile")
		annotation, annotated := annotations[key].(string)
		if ok && annotated {
			checkProfileAgrees(profile, annotation, "seccomp", "runtime/default", "docker/default")
		}
	}
	check(spec, seccompAnnotation)
	for c := range eachContainer(spec) {
		check(c, seccompPrefix+c.String("name"))
	}
}

// checkAppArmorAgrees does the same for AppArmor profiles.
func checkAppArmorAgrees(spec validation.View, annotations map[string]any) {
	if len(annotations) == 0 || object.String(spec.Obj, "os", "name") == "windows" {
		return
	}
	ofPod := object.Map(spec.Obj, "securityContext", "appArmorProfile")
	for c := range eachContainer(spec) {
		profile := c.Field("securityContext").Field("appArmorProfile")
		if profile.Obj == nil {
			profile.Obj = ofPod
		}
		annotation, annotated := annotations[appArmorPrefix+c.String("name")].(string)
		if profile.Obj != nil && annotated {
			checkProfileAgrees(profile, annotation, "apparmor", "runtime/default")
		}
	}
}

// checkProfileAgrees checks that an annotation names the profile p.
func checkProfileAgrees(p validation.View, annotation, what string, runtimeDefaults ...string) {
	agrees := true
	switch p.String("type") {
	case "Unconfined":
		agrees = annotation == "unconfined"
	case "RuntimeDefault":
		agrees = slices.Contains(runtimeDefaults, annotation)
	case "Localhost":
		var local string
		if local, agrees = strings.CutPrefix(annotation, localhostPrefix); agrees && local != p.String("localhostProfile") {
			p.Forbidden("localhostProfile", what+" profile in annotation and field must match")
		}
	}
	if !agrees {
		p.Forbidden("type", what+" type in annotation and field must match")
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

func checkWindowsOptions(p validation.View) {
	if p.Has("gmsaCredentialSpecName") {
		name := p.String("gmsaCredentialSpecName")
		p.AddList(validation.Each(p.At("gmsaCredentialSpecName"), validation.NamedString(name), validation.DNS1123Subdomain(name)))
	}
	if p.Has("gmsaCredentialSpec") {
		switch n := len(p.String("gmsaCredentialSpec")); {
		case n == 0:
			p.InvalidNamed("gmsaCredentialSpec", "gmsaCredentialSpec cannot be an empty string")
		case n > maxCredentialSpec:
			p.InvalidNamed("gmsaCredentialSpec", fmt.Sprintf("gmsaCredentialSpec size must be under %d KiB", maxCredentialSpec>>10))
		}
	}
	if p.Has("runAsUserName") {
		for _, message := range windowsUser(p.String("runAsUserName")) {
			p.InvalidNamed("runAsUserName", message)
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
	ofPod, podSays := object.Value(r.spec.Obj, "securityContext", "windowsOptions", "hostProcess").(bool)
	count, processes := 0, 0
	for c := range eachContainer(r.spec) {
		count++
		own, says := object.Value(c.Obj, "securityContext", "windowsOptions", "hostProcess").(bool)
		if says && podSays && own != ofPod {
			c.Add(validation.Invalid(c.At("securityContext").Child("windowsOptions").Child("hostProcess"), own,
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
		r.spec.Add(validation.Invalid(r.spec.Path, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers"))
	}
	if !r.spec.Bool("hostNetwork") {
		r.spec.Add(validation.Invalid(r.spec.At("hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers"))
	}
}
