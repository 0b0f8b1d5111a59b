// Package priority is the Priority admission plugin. It sets the priority of
// pods and pod groups from their PriorityClass, and allows only one default
// PriorityClass.
//
// See https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/.
package priority

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds/scheduling"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
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

// Name returns "Priority".
func (Plugin) Name() string { return "Priority" }

var (
	pods       = status.GroupResource{Resource: "pods"}
	groups     = status.GroupResource{Group: "scheduling.k8s.io", Resource: "podgroups"}
	composites = status.GroupResource{Group: "scheduling.k8s.io", Resource: "compositepodgroups"}
	classes    = status.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}
)

// Resources returns pods, podgroups, compositepodgroups and priorityclasses.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{pods, groups, composites, classes}
}

var classKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "scheduling.k8s.io", Version: "v1"}, Kind: "PriorityClass"}

// Mutate sets spec.priority, spec.preemptionPolicy and, from the default class,
// spec.priorityClassName of a new pod. An update keeps the first two if it does
// not set them. Of a new group of pods it sets spec.priority,
// spec.priorityClassName and, with its gate, spec.preemptionPolicy.
func (Plugin) Mutate(a *admission.Attributes) error {
	if a.Subresource != "" {
		return nil
	}
	switch a.GroupResource() {
	case groups:
		if r := a.Access.Release(); a.Operation != admission.Create || !r.Has(behavior.GroupPriorities) && !r.Enabled("WorkloadAwarePreemption") {
			return nil
		}
		return setGroupPriority(a, "pod group")
	case composites:
		if a.Operation != admission.Create {
			return nil
		}
		return setGroupPriority(a, "composite pod group")
	case classes:
		return nil
	}
	if a.Operation == admission.Update {
		keepPriority(a.Object, a.Old.At("spec"))
		return nil
	}
	return setPriority(a)
}

func keepPriority(pod map[string]any, oldSpec object.View) {
	for _, name := range []string{"priority", "preemptionPolicy"} {
		if v := oldSpec.At(name); !v.IsNil() && validation.Equal(object.Value(pod, "spec", name), nil) {
			object.Set(pod, v.Shared(), "spec", name)
		}
	}
}

// noClass gives the priority of pods without a class.
var noClass = map[string]any{"value": int64(0), "preemptionPolicy": "PreemptLowerPriority"}

// resolveClass returns the class that the spec of a new object names, or else the default
// one, whose name it sets.
func resolveClass(a *admission.Attributes, spec map[string]any) (object.View, error) {
	if name := object.String(spec, "priorityClassName"); name != "" {
		class := findClass(a.Reader, name)
		if class.IsNil() {
			return object.View{}, fmt.Errorf("no PriorityClass with name %s was found", name)
		}
		return class, nil
	}
	if class := defaultClass(a.Reader); !class.IsNil() {
		spec["priorityClassName"] = class.String("metadata", "name")
		return class, nil
	}
	return object.ViewOf(noClass), nil
}

// setGroupPriority sets what a new group has of its class. kind names the group in errors.
func setGroupPriority(a *admission.Attributes, kind string) error {
	spec := object.EnsureMap(a.Object, "spec")
	class, err := resolveClass(a, spec)
	if err != nil {
		return err
	}
	priority, _ := class.Int("value")
	if own, ok := object.Int(spec, "priority"); ok && own != priority {
		return fmt.Errorf("priority set in the %s (%d) must match the priority computed (%d) based on the priority class set in the spec", kind, own, priority)
	}
	spec["priority"] = priority
	if !a.Access.Release().Enabled("PodGroupPreemptionPolicy") {
		return nil
	}
	return setPreemptionPolicy(spec, class, kind)
}

func setPriority(a *admission.Attributes) error {
	spec := object.EnsureMap(a.Object, "spec")
	class, err := resolveClass(a, spec)
	if err != nil {
		return err
	}
	priority, _ := class.Int("value")
	if own, ok := object.Int(spec, "priority"); ok && own != priority {
		return fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", own, priority)
	}
	spec["priority"] = priority
	return setPreemptionPolicy(spec, class, "pod")
}

// setPreemptionPolicy sets the policy of a class.
func setPreemptionPolicy(spec map[string]any, class object.View, kind string) error {
	value := class.At("preemptionPolicy")
	policy := value.String()
	if policy == "" {
		return nil
	}
	if own, ok := spec["preemptionPolicy"].(string); ok && own != policy {
		return fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in %s spec; priority admission controller computed %s from the given PriorityClass name", own, kind, policy)
	}
	spec["preemptionPolicy"] = value.Shared()
	return nil
}

// findClass returns the class of the name, or nil. The classes of the system
// need not be stored.
func findClass(r resource.Reader, name string) object.View {
	class := r.Get(classKind, "", name)
	if value, ok := scheduling.SystemPriority(name); ok && class.IsNil() {
		class = object.ViewOf(map[string]any{"value": value, "preemptionPolicy": "PreemptLowerPriority"})
	}
	return class
}

// defaultClass returns the global default class, or nil. Of several it is the
// one with the lowest value.
func defaultClass(r resource.Reader) (lowest object.View) {
	var least int64
	for _, class := range r.List(classKind, "") {
		value, _ := class.Int("value")
		if class.Bool("globalDefault") && (lowest.IsNil() || value < least) {
			lowest, least = class, value
		}
	}
	return lowest
}

// Validate refuses a second global default class.
func (Plugin) Validate(a *admission.Attributes) error {
	if a.GroupResource() != classes || a.Subresource != "" || !object.Bool(a.Object, "globalDefault") {
		return nil
	}
	name := defaultClass(a.Reader).String("metadata", "name")
	if name != "" && (a.Operation == admission.Create || name != object.String(a.Object, "metadata", "name")) {
		return fmt.Errorf("PriorityClass %s is already marked as default. Only one default can exist", name)
	}
	return nil
}
