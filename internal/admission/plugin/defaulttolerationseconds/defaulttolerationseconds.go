// Package defaulttolerationseconds is the DefaultTolerationSeconds admission
// plugin. Pods tolerate for five minutes that their node is not ready or
// unreachable.
package defaulttolerationseconds

import (
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator].
type Plugin struct{}

var _ admission.Mutator = Plugin{}

// Name returns "DefaultTolerationSeconds".
func (Plugin) Name() string { return "DefaultTolerationSeconds" }

// Resources returns pods.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

// defaults are the tolerations that pods get. The pods share them.
var defaults = [...]map[string]any{toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")}

func toleration(taint string) map[string]any {
	return map[string]any{"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(300)}
}

// Mutate adds a toleration for each of the two taints that the pod does not
// tolerate.
func (Plugin) Mutate(a *admission.Attributes) error {
	if a.Subresource != "" {
		return nil
	}
	had := object.List(a.Object, "spec", "tolerations")
	tolerations := had
	for _, toleration := range defaults {
		if slices.ContainsFunc(had, func(t any) bool { return tolerates(t, toleration["key"]) }) {
			continue
		}
		if len(tolerations) == len(had) {
			tolerations = append(make([]any, 0, len(had)+len(defaults)), had...)
		}
		tolerations = append(tolerations, toleration)
	}
	if len(tolerations) == len(had) {
		return nil
	}
	spec := object.EnsureMap(a.Object, "spec")
	if !a.Old.IsNil() {
		spec = object.Own(a.Object, "spec") // it may be that of the old pod
	}
	spec["tolerations"] = tolerations
	return nil
}

func tolerates(toleration, taint any) bool {
	t, _ := toleration.(map[string]any)
	key, effect := object.String(t, "key"), object.String(t, "effect")
	return (key == taint || key == "") && (effect == "NoExecute" || effect == "")
}
