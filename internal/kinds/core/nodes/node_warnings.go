package nodes

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// warnNode warns about removed and deprecated fields.
func warnNode(obj map[string]any, _ object.View) []string {
	var warnings []string
	spec := validation.View{Obj: object.Map(obj, "spec"), Path: validation.NewPath("spec")}
	if spec.Has("configSource") {
		warnings = append(warnings, "spec.configSource: the feature is removed")
	}
	if spec.String("externalID") != "" {
		warnings = append(warnings, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	for i, cidr := range spec.Strings("podCIDRs") {
		warnings = append(warnings, validation.CIDRWarnings(cidr, spec.At("podCIDRs").Index(i))...)
	}
	return warnings
}

var deprecatedNodeLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

// DeprecatedLabel returns why the node label is deprecated, or "" if it is not.
func DeprecatedLabel(key string) string { return deprecatedNodeLabels[key] }
