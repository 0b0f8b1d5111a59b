package selector

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// An Object is a label selector as objects carry it, in webhook
// configurations, policies and workloads: metav1.LabelSelector.
type Object struct {
	MatchLabels      map[string]string `json:"matchLabels,omitempty"`
	MatchExpressions []Expression      `json:"matchExpressions,omitempty"`
}

// An Expression is one requirement of an [Object]. Operator is In, NotIn,
// Exists or DoesNotExist.
type Expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// FromMap reads a canonical label selector, nil for a nil one. What is of the
// wrong type counts as absent. The selector shares no memory with m.
func FromMap(m map[string]any) *Object {
	if m == nil {
		return nil
	}
	o := &Object{}
	for key := range object.Map(m, "matchLabels") {
		if o.MatchLabels == nil {
			o.MatchLabels = map[string]string{}
		}
		o.MatchLabels[key] = object.String(m, "matchLabels", key)
	}
	for _, e := range object.List(m, "matchExpressions") {
		e, _ := e.(map[string]any)
		o.MatchExpressions = append(o.MatchExpressions, Expression{
			Key: object.String(e, "key"), Operator: object.String(e, "operator"), Values: object.Strings(e, "values"),
		})
	}
	return o
}

// Selector returns the selector that o stands for: nothing for a nil o,
// everything for an empty one. The error is that of the first requirement that
// is invalid, labels in the order of their keys before expressions.
func (o *Object) Selector() (Labels, error) {
	if o == nil {
		return Nothing(), nil
	}
	var requirements []Requirement
	for _, key := range slices.Sorted(maps.Keys(o.MatchLabels)) {
		r, err := newRequirement(key, Equals, []string{o.MatchLabels[key]})
		if err != nil {
			return Labels{}, err
		}
		requirements = append(requirements, r)
	}
	for _, e := range o.MatchExpressions {
		op, ok := objectOperators[e.Operator]
		if !ok {
			return Labels{}, fmt.Errorf("%q is not a valid label selector operator", e.Operator)
		}
		// A list that is present but empty is reported like an absent one.
		r, err := newRequirement(e.Key, op, append([]string(nil), e.Values...))
		if err != nil {
			return Labels{}, err
		}
		requirements = append(requirements, r)
	}
	return newLabels(requirements), nil
}

var objectOperators = map[string]Operator{
	"In":           In,
	"NotIn":        NotIn,
	"Exists":       Exists,
	"DoesNotExist": DoesNotExist,
}
