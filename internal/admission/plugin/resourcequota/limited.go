package resourcequota

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/configfile"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// A LimitedResource is a resource that needs a quota which covers its use: of quantities
// whose names contain one of MatchContains, and of objects in one of MatchScopes.
//
// See https://kubernetes.io/docs/concepts/policy/resource-quotas/#limit-priority-class-consumption-by-default.
type LimitedResource struct {
	APIGroup      string       `json:"apiGroup"`
	Resource      string       `json:"resource"`
	MatchContains []string     `json:"matchContains"`
	MatchScopes   []matchScope `json:"matchScopes"`
}

// A matchScope is a scope in a configuration.
type matchScope struct {
	ScopeName string   `json:"scopeName"`
	Operator  string   `json:"operator"`
	Values    []string `json:"values"`
}

// kinds are the kinds of the configuration.
var kinds = []configfile.Kind{
	{APIVersion: configfile.Group + "/v1", Kind: "ResourceQuotaConfiguration"},
	{APIVersion: "resourcequota.admission.k8s.io/v1", Kind: "Configuration"},
	{APIVersion: "resourcequota.admission.k8s.io/v1beta1", Kind: "Configuration"},
	{APIVersion: "resourcequota.admission.k8s.io/v1alpha1", Kind: "Configuration"},
}

// Configure returns the plugin of a configuration. The errors are those of kube-apiserver in a
// minor release.
func Configure(text []byte, minor int) (Plugin, error) {
	var config struct {
		LimitedResources []LimitedResource `json:"limitedResources"`
	}
	if err := configfile.DecodeAny(text, kinds, minor, &config); err != nil {
		return Plugin{}, err
	}
	var errs validation.List
	for i, r := range config.LimitedResources {
		if r.Resource == "" {
			errs = append(errs, validation.Required(validation.NewPath("limitedResources").Index(i).Child("resource"), ""))
		}
	}
	if len(errs) > 0 {
		return Plugin{}, errors.New(errs.Message())
	}
	return Plugin{config.LimitedResources}, nil
}

// checkCovered fails for a request that uses more of a limited resource without a quota
// that covers it. matching are the indices of the quotas that limit the object.
func (p Plugin) checkCovered(a *admission.Attributes, e *evaluator, obj, old object.View, quotas []object.View, matching []int) error {
	delta := e.usage(obj)
	if !old.IsNil() {
		delta = increase(delta, object.ViewOf(e.usage(old)))
	}
	maps.DeleteFunc(delta, func(_ string, v any) bool { q, _ := v.(string); return !quantity.IsNonZero(q) })
	if len(delta) == 0 {
		return nil
	}
	uncovered := p.limitedNames(a, e.usage(obj))
	for _, i := range matching {
		covered := e.limited(quotas[i])
		uncovered = slices.DeleteFunc(uncovered, func(name string) bool { return slices.Contains(covered, name) })
	}
	if len(uncovered) > 0 {
		slices.Sort(uncovered)
		return fmt.Errorf("insufficient quota to consume: %v", strings.Join(slices.Compact(uncovered), ","))
	}
	var texts []string
	for _, s := range p.scopesOf(e, obj) {
		covers := func(quota object.View) bool {
			return slices.ContainsFunc(scopesOf(quota), func(o scope) bool { return o.name == s.name && e.inScope(obj, o) })
		}
		if !slices.ContainsFunc(quotas, covers) {
			texts = append(texts, fmt.Sprintf("{%s %s %v}", s.name, s.operator, s.values))
		}
	}
	if len(texts) > 0 {
		return status.Unclassified(fmt.Sprintf("insufficient quota to match these scopes: [%s]", strings.Join(texts, " ")))
	}
	return nil
}

// limitedNames returns the names of the quantities in a use that need a quota.
func (p Plugin) limitedNames(a *admission.Attributes, usage map[string]any) (names []string) {
	for _, limited := range p.Limited {
		if limited.APIGroup != a.Type.Group || limited.Resource != a.Type.Name {
			continue
		}
		for name := range usage {
			contains := func(part string) bool { return strings.Contains(name, part) }
			if quantity.IsNonZero(object.String(usage, name)) && slices.ContainsFunc(limited.MatchContains, contains) {
				names = append(names, name)
			}
		}
	}
	return names
}

// scopesOf returns the scopes of limited resources, of whatever resource, that an object is
// in.
func (p Plugin) scopesOf(e *evaluator, obj object.View) (all []scope) {
	if e.inScope == nil {
		return nil
	}
	for _, limited := range p.Limited {
		for _, m := range limited.MatchScopes {
			if s := (scope{m.ScopeName, m.Operator, m.Values}); e.inScope(obj, s) {
				all = append(all, s)
			}
		}
	}
	return all
}
