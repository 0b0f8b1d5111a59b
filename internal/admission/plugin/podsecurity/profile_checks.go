package podsecurity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

const appArmorAnnotations = "container.apparmor.security.beta.kubernetes.io/"

func appArmorProfile(p *pod) (reason, detail string) {
	values := set{}
	setters := p.settersWhere(func(s object.View) bool {
		profile := s.At("appArmorProfile")
		return !profile.IsNil() && isForbiddenProfile(profile.String("type"), values)
	})
	var annotations []string
	for name, v := range p.annotations.Fields() {
		value := v.String()
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

var seLinuxTypes = []string{"", "container_t", "container_init_t", "container_kvm_t"}

func seLinux(allowed []string) checkFunc {
	return func(p *pod) (reason, detail string) {
		types, user, role := set{}, false, false
		setters := p.settersWhere(func(s object.View) bool {
			options := s.At("seLinuxOptions")
			typ := options.String("type")
			badType, hasUser, hasRole := !slices.Contains(allowed, typ), options.String("user") != "", options.String("role") != ""
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
		names = append(names, seccompContainerAnnotations+c.String("name"))
	}
	forbidden := set{}
	for _, name := range names {
		value := p.annotations.String(name)
		if !p.annotations.IsNil(name) && value != "runtime/default" && value != "docker/default" && !strings.HasPrefix(value, "localhost/") {
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
	setters := p.settersWhere(func(s object.View) bool {
		profile := s.At("seccompProfile")
		return !profile.IsNil() && isForbiddenProfile(profile.String("type"), values)
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
	unset := p.containersWhere(func(s object.View) bool { return s.IsNil("seccompProfile") })
	if len(unset) == 0 || !p.security.IsNil("seccompProfile") {
		return "", ""
	}
	return "seccompProfile", "pod or " + pluralWith("container", unset) + ` must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
}
