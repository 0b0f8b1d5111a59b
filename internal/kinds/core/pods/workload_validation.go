package pods

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

// SelectorValue is the label selector at a member as messages print it.
func SelectorValue(p validation.View) unversioned.Value {
	return validation.AsGoType("*metav1.LabelSelector", p.Obj["selector"])
}

// CheckNeededSelector checks the label selector of a workload, which must select
// something, and, if it is one, the template that it must select. senseless
// says that it is none.
func CheckNeededSelector(p validation.View, kind, senseless string, template func(validation.View)) {
	if !p.Has("selector") {
		p.Required("selector", "")
	}
	p.LabelSelector("selector", validation.LabelSelectorOptions{})
	CheckNotEmptySelector(p, kind)
	labels, err := selector.FromMap(object.Map(p.Obj, "selector")).Selector()
	if err != nil {
		p.Add(validation.Invalid(p.At("selector"), SelectorValue(p), senseless))
		return
	}
	CheckSelected(p, labels)
	template(p.Field("template"))
}

// CheckNotEmptySelector checks that a selector does not select everything.
func CheckNotEmptySelector(p validation.View, kind string) {
	if s, ok := p.Lookup("selector"); ok && s.Len("matchLabels")+s.Len("matchExpressions") == 0 {
		p.Add(validation.Invalid(s.Path, SelectorValue(p), "empty selector is invalid for "+kind))
	}
}

// CheckSelected checks that a workload's selector selects the pods that its template
// makes.
func CheckSelected(p validation.View, labels selector.Labels) {
	meta := p.Field("template").Field("metadata")
	if !labels.Matches(LabelSet(object.Map(meta.Obj, "labels"))) {
		meta.Invalid("labels", NotSelected)
	}
}

// LabelSet are the labels of an object, to be selected by.
type LabelSet map[string]any

const NotSelected = "`selector` does not match template `labels`"

// PodTemplateOf checks the template of a workload whose pods run on: kind is
// what messages call it.
func PodTemplateOf(kind string) func(validation.View) {
	return func(template validation.View) {
		template.AddList(ValidatePodTemplate(template.Obj, template.Path))
		CheckRunsOn(template.Field("spec"), kind)
	}
}

// CheckRunsOn checks that pods are started again when they end.
func CheckRunsOn(spec validation.View, kind string) {
	spec.OneOf("restartPolicy", "Always")
	if spec.Has("activeDeadlineSeconds") {
		spec.Forbidden("activeDeadlineSeconds", "activeDeadlineSeconds in "+kind+" is not Supported")
	}
}

// A StatusCounters says of the numbers in the status of a workload which are not
// negative, and which are not more than others.
type StatusCounters struct {
	NonNegative     []string
	WithinReplicas  []string // replicas
	AvailableDetail string   // what is said of more available replicas than ready ones
}

// Lookup implements [selector.LabelSet].
func (l LabelSet) Lookup(key string) (string, bool) {
	value, ok := l[key].(string)
	return value, ok
}

// Validate checks the status of a workload: an update of it.
func (c StatusCounters) Validate(obj, old map[string]any) validation.List {
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
		if before, had := object.Int(old, "status", "collisionCount"); had && (!ok || collisions < before) {
			p.Add(validation.Invalid(p.At("collisionCount"), collisions, "cannot be decremented"))
		}
	})
}
