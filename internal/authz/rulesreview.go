package authz

import (
	"errors"
	"slices"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// ReviewRules returns the status of a SelfSubjectRulesReview by the user. It
// fails with 400 if the review has no namespace.
func (a Authorizer) ReviewRules(review map[string]any, u *authn.User) (map[string]any, error) {
	namespace := object.String(review, "spec", "namespace")
	if namespace == "" {
		return nil, status.BadRequest("no namespace on request")
	}
	rules, errs := a.Rules(u, namespace)
	resources, paths := []any{}, []any{}
	for _, rule := range rules {
		if len(rule.Resources) > 0 {
			resources = append(resources, map[string]any{
				"verbs": object.FromStrings(rule.Verbs), "apiGroups": object.FromStrings(rule.APIGroups), "resources": object.FromStrings(rule.Resources), "resourceNames": object.FromStrings(rule.ResourceNames),
			})
		}
		if len(rule.NonResourceURLs) > 0 {
			paths = append(paths, map[string]any{"verbs": object.FromStrings(rule.Verbs), "nonResourceURLs": object.FromStrings(rule.NonResourceURLs)})
		}
	}
	out := map[string]any{"resourceRules": resources, "nonResourceRules": paths}
	if slices.ContainsFunc(errs, func(err error) bool { return errors.As(err, new(NoRulesError)) }) {
		out["incomplete"] = true
	}
	if len(errs) > 0 {
		out["evaluationError"] = status.Aggregate(errs)
	}
	return out, nil
}
