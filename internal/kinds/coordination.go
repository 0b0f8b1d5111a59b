package kinds

import "github.com/kubefake/kubefake/internal/object"

// prepareLease drops what a disabled feature gate holds back.
func prepareLease(obj, old map[string]any) {
	spec, oldSpec := child(obj, "spec"), object.Map(old, "spec")
	without(spec, oldSpec, "strategy")
	without(spec, oldSpec, "preferredHolder")
}
