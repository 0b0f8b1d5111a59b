package admissionregistration

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// ExclusionGate is the feature gate by which webhooks do not handle the resources that [IsExcluded]
// reports.
const ExclusionGate = "ExcludeAdmissionWebhookVirtualResources"

// IsExcluded reports whether policies do not handle a resource: reviews, which a client may need to
// change a policy that refuses everything.
func IsExcluded(group, name string) bool {
	switch group {
	case "authentication.k8s.io":
		return name == "tokenreviews" || name == "selfsubjectreviews"
	case "authorization.k8s.io":
		return name == "subjectaccessreviews" || name == "selfsubjectaccessreviews" || name == "localsubjectaccessreviews" || name == "selfsubjectrulesreviews"
	}
	return false
}

// warnExcluded returns a warning for each excluded resource that a rule of webhooks names. What a
// rule with a wildcard is meant for is not known.
func warnExcluded(r validation.Release, obj map[string]any, _ object.View) (warnings []string) {
	if !r.Enabled(ExclusionGate) {
		return nil
	}
	for _, hook := range (validation.View{Obj: obj}).Each("webhooks") {
		for _, rule := range hook.Each("rules") {
			groups, names := object.Strings(rule.Obj, "apiGroups"), object.Strings(rule.Obj, "resources")
			if slices.Contains(groups, "*") || slices.Contains(names, "*") {
				continue
			}
			var excluded []string
			for _, group := range groups {
				for _, name := range names {
					if resource := name + "." + group; IsExcluded(group, name) && !slices.Contains(excluded, resource) {
						excluded = append(excluded, resource)
						warnings = append(warnings, fmt.Sprintf("%s: %s is excluded from admission webhooks; this rule will have no effect", rule.Path, resource))
					}
				}
			}
		}
	}
	return warnings
}
