package selector

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// An Object is a metav1.LabelSelector, the form of label selectors in webhook
// configurations, policies and workloads.
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

// FromMap returns the label selector of a canonical object, nil for nil. Values
// of the wrong type are ignored. The selector shares no memory with m.
func FromMap(m map[string]any) *Object {
	if m == nil {
		return nil
	}
	return FromView(object.ViewOf(m))
}

// FromView is FromMap for a view: nil if it is no object.
func FromView(v object.View) *Object {
	if !v.IsObject() {
		return nil
	}
	o := &Object{}
	for key, label := range v.At("matchLabels").Fields() {
		if o.MatchLabels == nil {
			o.MatchLabels = map[string]string{}
		}
		o.MatchLabels[key] = label.String()
	}
	for _, e := range v.At("matchExpressions").Items() {
		o.MatchExpressions = append(o.MatchExpressions, Expression{Key: e.String("key"), Operator: e.String("operator"), Values: e.Strings("values")})
	}
	return o
}

// Selector returns the selector: [Nothing] for a nil o, everything for an empty
// one. The error is that of the first invalid requirement, labels in the order
// of their keys before expressions.
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
		// An empty list is reported like an absent one.
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
