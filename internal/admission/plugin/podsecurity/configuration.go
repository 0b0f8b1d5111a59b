package podsecurity

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/configfile"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Configuration is a PodSecurityConfiguration: the policy of namespaces without labels,
// and what is exempt. Nil is the default one: everything is privileged, nothing exempt.
//
// See https://kubernetes.io/docs/tasks/configure-pod-container/enforce-standards-admission-controller/.
type Configuration struct {
	policy policy

	users, namespaces, runtimeClasses []string // that are exempt
}

// kinds are the kinds of the configuration.
var kinds = []configfile.Kind{
	{APIVersion: "pod-security.admission.config.k8s.io/v1", Kind: "PodSecurityConfiguration"},
	{APIVersion: "pod-security.admission.config.k8s.io/v1beta1", Kind: "PodSecurityConfiguration"},
	{APIVersion: "pod-security.admission.config.k8s.io/v1alpha1", Kind: "PodSecurityConfiguration"},
}

// Configure returns the plugin of a configuration; an empty one is the default. The errors are
// those of kube-apiserver in a minor release. initErr is one of the plugin's initialization.
func Configure(text []byte, minor int) (p Plugin, initErr, err error) {
	if len(text) == 0 {
		return Plugin{}, nil, nil
	}
	var config struct {
		Defaults struct {
			Enforce        string `json:"enforce"`
			EnforceVersion string `json:"enforce-version"`
			Audit          string `json:"audit"`
			AuditVersion   string `json:"audit-version"`
			Warn           string `json:"warn"`
			WarnVersion    string `json:"warn-version"`
		} `json:"defaults"`
		Exemptions struct {
			Usernames      []string `json:"usernames"`
			Namespaces     []string `json:"namespaces"`
			RuntimeClasses []string `json:"runtimeClasses"`
		} `json:"exemptions"`
	}
	if err := configfile.DecodeAny(text, kinds, minor, &config); err != nil {
		return p, nil, err
	}
	d, x := &config.Defaults, &config.Exemptions
	c := &Configuration{users: x.Usernames, namespaces: x.Namespaces, runtimeClasses: x.RuntimeClasses}
	var errs []error
	for _, mode := range []struct {
		name, level, version string
		value                *levelVersion
	}{{"enforce", d.Enforce, d.EnforceVersion, &c.policy.enforce}, {"audit", d.Audit, d.AuditVersion, &c.policy.audit}, {"warn", d.Warn, d.WarnVersion, &c.policy.warn}} {
		var ok bool
		if mode.value.level, ok = parseLevel(cmp.Or(mode.level, levelPrivileged.String())); !ok {
			errs = append(errs, fmt.Errorf("%s: %s", mode.name, levelRule))
		}
		if mode.value.version, ok = parseVersion(cmp.Or(mode.version, latest.String())); !ok {
			errs = append(errs, fmt.Errorf("%s-version: %s", mode.name, versionRule))
		}
	}
	if len(errs) > 0 {
		return p, errors.New("PodSecurity configuration error: " + status.Aggregate(errs)), nil
	}
	if errs := c.validate(); len(errs) > 0 {
		return p, errors.New("PodSecurity invalid: " + errs.Message()), nil
	}
	return Plugin{c}, nil, nil
}

// validate checks the exemptions.
func (c *Configuration) validate() (errs validation.List) {
	nonEmpty := func(name string) []string {
		if name == "" {
			return []string{"username must not be empty"}
		}
		return nil
	}
	for _, list := range []struct {
		name   string
		values []string
		rule   func(string) []string
	}{
		{"namespaces", c.namespaces, func(name string) []string { return validation.LabelName(name, false) }},
		{"runtimeClasses", c.runtimeClasses, func(name string) []string { return validation.SubdomainName(name, false) }},
		{"usernames", c.users, nonEmpty},
	} {
		for i, value := range list.values {
			at := validation.NewPath("exemptions", list.name).Index(i)
			if wrong := list.rule(value); len(wrong) > 0 {
				errs = append(errs, validation.Invalid(at, value, strings.Join(wrong, ", ")))
			} else if slices.Contains(list.values[:i], value) {
				errs = append(errs, validation.Duplicate(at, value))
			}
		}
	}
	return errs
}

// defaults returns the policy of namespaces without labels.
func (c *Configuration) defaults() policy {
	if c == nil {
		return policy{levelVersion{version: latest}, levelVersion{version: latest}, levelVersion{version: latest}}
	}
	return c.policy
}

// exempts reports whether the namespace or the user of a request is exempt, which it
// annotates and counts.
func (c *Configuration) exempts(a *admission.Attributes) bool {
	by := ""
	switch {
	case c.exemptsNamespace(a.Namespace):
		by = "namespace"
	case c != nil && a.User != nil && slices.Contains(c.users, a.User.Name):
		by = "user"
	default:
		return false
	}
	a.Annotate(exemptAnnotation, by)
	countExemption(a)
	return true
}

const exemptAnnotation = labelPrefix + "exempt"

func (c *Configuration) exemptsNamespace(name string) bool {
	return c != nil && slices.Contains(c.namespaces, name)
}

// exemptsClass reports whether the runtime class of a pod or a pod template is exempt, which
// it annotates and counts.
func (c *Configuration) exemptsClass(a *admission.Attributes, pod map[string]any) bool {
	if !c.hasExemptClass(object.ViewOf(pod)) {
		return false
	}
	a.Annotate(exemptAnnotation, "runtimeClass")
	countExemption(a)
	return true
}

func (c *Configuration) hasExemptClass(pod object.View) bool {
	class := pod.String("spec", "runtimeClassName")
	return c != nil && class != "" && slices.Contains(c.runtimeClasses, class)
}

// warnOfExemption warns of the labels of an exempt namespace that have no effect.
func (c *Configuration) warnOfExemption(a *admission.Attributes, p policy) {
	if p.privileged() || p == c.policy {
		return
	}
	labels := object.Map(a.Object, "metadata", "labels")
	var modes []string
	for _, mode := range []struct {
		name  string
		value levelVersion
	}{{"enforce", p.enforce}, {"audit", p.audit}, {"warn", p.warn}} {
		if mode.value.level != levelPrivileged && (object.Has(labels, labelPrefix+mode.name) || object.Has(labels, labelPrefix+mode.name+"-version")) {
			modes = append(modes, mode.name+"="+mode.value.String())
		}
	}
	a.Warn(fmt.Sprintf("namespace %q is exempt from Pod Security, and the policy (%s) will be ignored", a.Name, strings.Join(modes, ", ")))
}
