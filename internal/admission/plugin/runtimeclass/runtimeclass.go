// Package runtimeclass is the RuntimeClass admission plugin. It adds the
// overhead, node selector and tolerations of a RuntimeClass to its pods.
//
// See https://kubernetes.io/docs/concepts/containers/runtime-class/.
package runtimeclass

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// Plugin implements [admission.Mutator] and [admission.Validator].
type Plugin struct{}

var (
	_ admission.Mutator   = Plugin{}
	_ admission.Validator = Plugin{}
)

// Name returns "RuntimeClass".
func (Plugin) Name() string { return "RuntimeClass" }

// Resources returns pods.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

var classKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "node.k8s.io", Version: "v1"}, Kind: "RuntimeClass"}

var errOverhead = errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")

// findClass returns the class that a pod names; nil if it names none.
func findClass(r resource.Reader, spec map[string]any) (object.View, error) {
	name, ok := spec["runtimeClassName"].(string)
	if !ok {
		return object.View{}, nil
	}
	class := r.Get(classKind, "", name)
	if class.IsNil() {
		return object.View{}, fmt.Errorf("pod rejected: RuntimeClass %q not found", name)
	}
	return class, nil
}

// Mutate adds what the class defines to a new pod.
func (Plugin) Mutate(a *admission.Attributes) error {
	if a.Subresource != "" || a.Operation != admission.Create {
		return nil
	}
	spec := object.Map(a.Object, "spec")
	class, err := findClass(a.Reader, spec)
	if class.IsNil() {
		return err
	}
	if overhead := class.At("overhead"); !overhead.IsNil() {
		fixed := overhead.At("podFixed")
		if own := object.Map(spec, "overhead"); len(own) > 0 && !equalQuantities(own, fixed) {
			return errOverhead
		}
		spec["overhead"] = fixed.CopyObject()
	}
	scheduling := class.At("scheduling")
	selector := scheduling.At("nodeSelector")
	for _, key := range selector.Keys() {
		if v, ok := object.Map(spec, "nodeSelector")[key]; ok && v != selector.String(key) {
			return fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, selector.String(key), key, v)
		}
		object.Own(spec, "nodeSelector")[key] = selector.At(key).Shared()
	}
	if tolerations := scheduling.At("tolerations"); tolerations.Len() > 0 {
		spec["tolerations"] = mergeTolerations(slices.Concat(object.List(spec, "tolerations"), tolerations.SharedItems()))
	}
	return nil
}

// Validate checks that the overhead of a new pod is that of its class.
func (Plugin) Validate(a *admission.Attributes) error {
	if a.Subresource != "" || a.Operation != admission.Create {
		return nil
	}
	spec := object.Map(a.Object, "spec")
	class, err := findClass(a.Reader, spec)
	if err != nil {
		return err
	}
	overhead := class.At("overhead")
	switch {
	case overhead.IsNil() && spec["overhead"] != nil:
		return errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
	case !equalQuantities(object.Map(spec, "overhead"), overhead.At("podFixed")):
		return errOverhead
	}
	return nil
}

// equalQuantities reports whether two resource lists have the same values.
func equalQuantities(a map[string]any, b object.View) bool {
	return maps.EqualFunc(a, b.SharedMembers(), func(v, w any) bool {
		x, _ := v.(string)
		y, _ := w.(string)
		return quantity.Compare(x, y) == 0
	})
}

// mergeTolerations removes the tolerations that another one covers. Of equal
// ones it keeps the first.
func mergeTolerations(all []any) []any {
	var merged []any
	for i, t := range all {
		if slices.ContainsFunc(merged, func(m any) bool { return covers(m, t) }) {
			continue
		}
		if slices.ContainsFunc(all[i+1:], func(later any) bool { return !validation.Equal(later, t) && covers(later, t) }) {
			continue
		}
		merged = append(merged, t)
	}
	return merged
}

// covers reports whether wide tolerates every taint that narrow tolerates.
func covers(wide, narrow any) bool {
	if validation.Equal(wide, narrow) {
		return true
	}
	a, _ := wide.(map[string]any)
	b, _ := narrow.(map[string]any)
	exists := a["operator"] == "Exists"
	if a["key"] != b["key"] && (object.String(a, "key") != "" || !exists) {
		return false
	}
	if effect := object.String(a, "effect"); effect != "" && effect != b["effect"] {
		return false
	}
	if a["effect"] == "NoExecute" {
		if longest, ok := object.Int(a, "tolerationSeconds"); ok {
			if seconds, ok := object.Int(b, "tolerationSeconds"); !ok || seconds > longest {
				return false
			}
		}
	}
	return exists || b["operator"] == "Equal" && a["value"] == b["value"]
}
