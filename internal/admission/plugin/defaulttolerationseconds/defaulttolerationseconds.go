// Package defaulttolerationseconds is the DefaultTolerationSeconds admission
// plugin. Pods tolerate for some time that their node is not ready or unreachable.
package defaulttolerationseconds

import (
	"cmp"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator]. Pods tolerate each state of their node for five minutes,
// those of the zero value, and otherwise for as long as [New] says.
type Plugin struct{ tolerations *tolerations }

// tolerations are those that pods get. The pods share them.
type tolerations [2]map[string]any

var defaults = tolerationsFor(DefaultSeconds, DefaultSeconds)

// DefaultSeconds is how long pods tolerate a state of their node by default.
const DefaultSeconds = 5 * 60

// New returns a Plugin by which pods tolerate a node that is not ready, and one that is unreachable,
// for so many seconds.
func New(notReady, unreachable int64) Plugin { return Plugin{tolerationsFor(notReady, unreachable)} }

func tolerationsFor(notReady, unreachable int64) *tolerations {
	return &tolerations{toleration("node.kubernetes.io/not-ready", notReady), toleration("node.kubernetes.io/unreachable", unreachable)}
}

func toleration(taint string, seconds int64) map[string]any {
	return map[string]any{"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
}

var _ admission.Mutator = Plugin{}

// Name returns "DefaultTolerationSeconds".
func (Plugin) Name() string { return "DefaultTolerationSeconds" }

// Resources returns pods.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

// Mutate adds a toleration for each of the two taints that the pod does not
// tolerate.
func (p Plugin) Mutate(a *admission.Attributes) error {
	if a.Subresource != "" {
		return nil
	}
	had := object.List(a.Object, "spec", "tolerations")
	tolerations := had
	for _, toleration := range cmp.Or(p.tolerations, defaults) {
		if slices.ContainsFunc(had, func(t any) bool { return tolerates(t, toleration["key"]) }) {
			continue
		}
		if len(tolerations) == len(had) {
			tolerations = slices.Grow(slices.Clip(had), len(defaults))
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
