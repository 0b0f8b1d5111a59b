package pods

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

// SelectorValue returns the field selector as error messages print it.
func SelectorValue(p validation.View) unversioned.Value {
	return validation.AsGoType("*metav1.LabelSelector", p.Obj["selector"])
}

// CheckRequiredSelector checks that a workload has a label selector that is not
// empty and matches its template, and calls template. invalidDetail is the error for
// an invalid selector.
func CheckRequiredSelector(p validation.View, kind, invalidDetail string, template func(validation.View)) {
	if !p.Has("selector") {
		p.Required("selector", "")
	}
	p.LabelSelector("selector", validation.LabelSelectorOptions{})
	CheckNotEmptySelector(p, kind)
	labels, err := selector.FromMap(object.Map(p.Obj, "selector")).Selector()
	if err != nil {
		p.Add(validation.Invalid(p.At("selector"), SelectorValue(p), invalidDetail))
		return
	}
	CheckSelectorMatches(p, labels)
	template(p.Field("template"))
}

// CheckNotEmptySelector checks that the selector is not empty: an empty one selects
// all Pods.
func CheckNotEmptySelector(p validation.View, kind string) {
	if s, ok := p.Lookup("selector"); ok && s.Len("matchLabels")+s.Len("matchExpressions") == 0 {
		p.Add(validation.Invalid(s.Path, SelectorValue(p), "empty selector is invalid for "+kind))
	}
}

// CheckSelectorMatches checks that the selector matches the labels of the template.
func CheckSelectorMatches(p validation.View, labels selector.Labels) {
	meta := p.Field("template").Field("metadata")
	if !labels.Matches(LabelSet(object.Map(meta.Obj, "labels"))) {
		meta.Invalid("labels", NotSelected)
	}
}

// A LabelSet implements [selector.LabelSet] for labels in an object.
type LabelSet map[string]any

const NotSelected = "`selector` does not match template `labels`"

// CheckPodTemplate returns a rule that validates the template of a workload whose
// Pods always restart. kind is the workload's kind in errors.
func CheckPodTemplate(kind string) func(validation.View) {
	return func(template validation.View) {
		template.AddList(ValidatePodTemplate(template.Obj, template.Path))
		CheckAlwaysRestarts(template.Field("spec"), kind)
	}
}

// ValidTemplate is the rule for a pod template that is known to be valid.
func ValidTemplate(validation.View) {}

// CheckAlwaysRestarts checks that restartPolicy is Always and that there is no
// deadline.
func CheckAlwaysRestarts(spec validation.View, kind string) {
	spec.OneOf("restartPolicy", "Always")
	if spec.Has("activeDeadlineSeconds") {
		spec.Forbidden("activeDeadlineSeconds", "activeDeadlineSeconds in "+kind+" is not Supported")
	}
}

// A StatusCounters validates the numbers in the status of a workload.
type StatusCounters struct {
	NonNegative     []string
	WithinReplicas  []string // not greater than replicas
	AvailableDetail string   // error for more available than ready replicas; not checked if empty
}

func (l LabelSet) Lookup(key string) (string, bool) {
	value, ok := l[key].(string)
	return value, ok
}

// Validate validates an update of the status of a workload.
func (c StatusCounters) Validate(obj map[string]any, old object.View) validation.List {
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(p validation.View) {
		p.NonNegative(c.NonNegative...)
		for _, name := range c.WithinReplicas {
			if n := p.Int(name); n > p.Int("replicas") {
				p.Add(validation.Invalid(p.At(name), n, "cannot be greater than status.replicas"))
			}
		}
		if n := p.Int("availableReplicas"); c.AvailableDetail != "" && n > p.Int("readyReplicas") {
			p.Add(validation.Invalid(p.At("availableReplicas"), n, c.AvailableDetail))
		}
		collisions, ok := object.Int(p.Obj, "collisionCount")
		if before, had := old.Int("status", "collisionCount"); had && (!ok || collisions < before) {
			p.Add(validation.Invalid(p.At("collisionCount"), collisions, "cannot be decremented"))
		}
	})
}
