package pods

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkIDs validates optional fields that hold Unix user or group IDs.
func checkIDs(p validation.View, fields ...string) {
	for _, name := range fields {
		if p.Has(name) {
			n := p.Int(name)
			p.AddList(validation.Each(p.At(name), n, validation.UserID(n)))
		}
	}
}

func checkUnixGroups(p validation.View) {
	for i, v := range object.List(p.Obj, "supplementalGroups") {
		n, _ := v.(int64)
		p.AddList(validation.Each(p.At("supplementalGroups").Index(i), n, validation.GroupID(n)))
	}
}

func (r *podRules) checkSecurityContext(p validation.View) {
	checkIDs(p, "fsGroup", "runAsUser", "runAsGroup")
	checkUnixGroups(p)
	if r.spec.Bool("hostPID") && r.spec.Bool("shareProcessNamespace") {
		p.Add(validation.Invalid(r.spec.At("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled").
			Before(behavior.HostFieldsOfPods, validation.Field(p.At("shareProcessNamespace").String())))
	}
	r.checkSysctls(p)
	p.OneOfIfSet("fsGroupChangePolicy", "Always", "OnRootMismatch")
	p.IfPresent("seccompProfile", checkSeccompProfile)
	p.IfPresent("windowsOptions", r.checkWindowsOptions)
	p.IfPresent("appArmorProfile", checkAppArmor)
	p.OneOfIfSet("supplementalGroupsPolicy", "Merge", "Strict")
	if policy := p.String("seLinuxChangePolicy"); p.Has("seLinuxChangePolicy") && policy != "Recursive" {
		refuse := func(supported ...string) *validation.Error {
			return validation.NotSupported(p.At("seLinuxChangePolicy"), validation.NamedString(policy), supported)
		}
		e := refuse("Recursive").WithoutGate("SELinuxMount")
		if policy != "MountOption" {
			e = refuse("MountOption", "Recursive").WithGate("SELinuxMount", refuse("Recursive"))
		}
		p.Add(e)
	}
}

func (r *podRules) checkContainerSecurity(p validation.View) {
	if p.Bool("privileged") {
		p.Add(validation.Forbidden(p.At("privileged"), "disallowed by cluster policy").WithoutPrivileged())
	}
	checkIDs(p, "runAsUser", "runAsGroup")
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
	p.IfPresent("windowsOptions", r.checkWindowsOptions)
	p.IfPresent("appArmorProfile", checkAppArmor)
}

func (r *podRules) checkSysctls(p validation.View) {
	if p.Len("sysctls") == 0 {
		return
	}
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

// sysctlNamespace returns the Linux namespace of a kernel parameter, or "" if it is
// not namespaced.
//
// See https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/.
func sysctlNamespace(name string) string {
	// The first separator is the one that the name uses.
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

// profileTypes are the types of seccomp and AppArmor profiles.
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

// maxProfilePath is the maximum length of a profile path, in bytes.
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

// checkSeccompProfileName validates an annotation that names a seccomp profile.
func checkSeccompProfileName(p validation.View, key string) {
	name := p.String(key)
	switch local, ok := strings.CutPrefix(name, localhostPrefix); {
	case ok:
		volumes.CheckDescendingPath(validation.View{Obj: map[string]any{key: local}, Path: p.Path, Errs: p.Errs}, key)
	case name != "runtime/default" && name != "docker/default" && name != "unconfined":
		p.Invalid(key, "must be a valid seccomp profile")
	}
}

// checkAppArmorProfileName validates an annotation that names an AppArmor profile.
func checkAppArmorProfileName(p validation.View, key string) {
	switch name := p.String(key); {
	case name == "", name == "runtime/default", name == "unconfined", strings.HasPrefix(name, localhostPrefix):
	default:
		p.Add(validation.Invalid(p.Path.Key(key), name, fmt.Sprintf("invalid AppArmor profile name: %q", name)))
	}
}

// checkSeccompMatches checks that the seccomp annotations match the seccompProfile
// fields.
func checkSeccompMatches(spec validation.View, annotations map[string]any) {
	if len(annotations) == 0 {
		return
	}
	check := func(p validation.View, key string) {
		profile, ok := p.Field("securityContext").Lookup("seccompProfile")
		annotation, annotated := annotations[key].(string)
		if ok && annotated {
			checkProfileMatches(profile, annotation, "seccomp", "runtime/default", "docker/default")
		}
	}
	check(spec, seccompAnnotation)
	for c := range eachContainer(spec) {
		check(c, seccompPrefix+c.String("name"))
	}
}

// checkAppArmorMatches checks that the AppArmor annotations match the
// appArmorProfile fields.
func checkAppArmorMatches(spec validation.View, annotations map[string]any) {
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
			checkProfileMatches(profile, annotation, "apparmor", "runtime/default")
		}
	}
}

// checkProfileMatches checks that an annotation names the profile p. kind is the
// kind of profile in errors.
func checkProfileMatches(p validation.View, annotation, kind string, runtimeDefaults ...string) {
	matches := true
	switch p.String("type") {
	case "Unconfined":
		matches = annotation == "unconfined"
	case "RuntimeDefault":
		matches = slices.Contains(runtimeDefaults, annotation)
	case "Localhost":
		var local string
		if local, matches = strings.CutPrefix(annotation, localhostPrefix); matches && local != p.String("localhostProfile") {
			p.Forbidden("localhostProfile", kind+" profile in annotation and field must match")
		}
	}
	if !matches {
		p.Forbidden("type", kind+" type in annotation and field must match")
	}
}

// isDeletionCost reports whether s is a 32-bit integer without a plus sign or
// leading zeros.
func isDeletionCost(s string) bool {
	n, err := strconv.ParseInt(s, 10, 32)
	return err == nil && (s[0] == '-' || s == strconv.FormatInt(n, 10))
}

// The maximum lengths of Windows options, in bytes.
const (
	maxCredentialSpec = 64 << 10
	maxUserDomain     = 256
	maxUserName       = 104
	maxNetBIOS        = 15
)

func (r *podRules) checkWindowsOptions(p validation.View) {
	r.hasWindowsOptions = true
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
		for _, message := range validateRunAsUserName(p.String("runAsUserName")) {
			p.InvalidNamed("runAsUserName", message)
		}
	}
}

// validateRunAsUserName returns the messages for an invalid Windows user name. The
// user may follow a domain and a backslash.
func validateRunAsUserName(name string) (messages []string) {
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
	addIf := func(is bool, message string) {
		if is {
			messages = append(messages, message)
		}
	}
	addIf(len(domain) >= maxUserDomain, fmt.Sprintf("runAsUserName's Domain length must be under %d characters", maxUserDomain))
	addIf(hasDomain && !isNetBIOS(domain) && !isWindowsDomain(domain), "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	addIf(user == "", "runAsUserName's User cannot be empty")
	addIf(len(user) > maxUserName, fmt.Sprintf("runAsUserName's User length must not be longer than %d characters", maxUserName))
	addIf(user != "" && strings.Trim(user, ". ") == "", "runAsUserName's User cannot contain only periods or spaces")
	addIf(strings.ContainsAny(user, `"/\:;|=,+*?<>@[]`), `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	return messages
}

func isNetBIOS(domain string) bool {
	n := len([]rune(domain))
	return 1 <= n && n <= maxNetBIOS && domain[0] != '.' && !strings.ContainsAny(domain, `\/:*?"<>|`)
}

// isWindowsDomain reports whether a domain consists of DNS labels, in upper or lower
// case.
func isWindowsDomain(domain string) bool {
	for _, label := range strings.Split(domain, ".") {
		if len(validation.DNS1123Label(strings.ToLower(label))) > 0 {
			return false
		}
	}
	return true
}

// checkHostProcess checks that either all containers or none are Windows HostProcess
// containers.
func (r *podRules) checkHostProcess() {
	if !r.hasWindowsOptions {
		return
	}
	ofPod, podSet := object.Value(r.spec.Obj, "securityContext", "windowsOptions", "hostProcess").(bool)
	count, processes := 0, 0
	for c := range eachContainer(r.spec) {
		count++
		own, set := object.Value(c.Obj, "securityContext", "windowsOptions", "hostProcess").(bool)
		if set && podSet && own != ofPod {
			c.Add(validation.Invalid(c.At("securityContext").Child("windowsOptions").Child("hostProcess"), own,
				fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %t", ofPod)))
		}
		if own || !set && ofPod {
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
	r.spec.Add(validation.Forbidden(r.spec.Path, "hostProcess containers are disallowed by cluster policy").WithoutPrivileged())
}
