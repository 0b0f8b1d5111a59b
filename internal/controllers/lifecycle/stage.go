// Package lifecycle describes what Pods and Nodes do by themselves: Stages, in the
// format of KWOK, and Behaviors, which a test sets.
//
// See https://kwok.sigs.k8s.io/docs/user/stages-configuration/.
package lifecycle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
)

// ErrStage is wrapped in the errors of Parse.
var ErrStage = errors.New("invalid Stage")

// A Stage says which objects it applies to, after which time, and what happens to them
// then.
type Stage struct {
	Name  string
	Kind  string // Pod or Node
	Steps []Step

	selector []requirement
	weight   value
	delay    *value // nil: none
	jitter   *value
}

// A Step is one change of an object. One of the fields is set.
type Step struct {
	Event      *StageEvent
	Finalizers *StageFinalizers
	Delete     bool
	Patch      *StagePatch
}

// A StageEvent is an Event that is recorded about an object.
type StageEvent struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// StageFinalizers are changes of the finalizers of an object.
type StageFinalizers struct {
	Add    []finalizer `json:"add"`
	Remove []finalizer `json:"remove"`
	Empty  bool        `json:"empty"`
}

type finalizer struct {
	Value string `json:"value"`
}

// Apply returns the finalizers after the changes.
func (f *StageFinalizers) Apply(has []string) []string {
	out := []string{}
	if !f.Empty {
		out = slices.Clone(has)
	}
	for _, r := range f.Remove {
		out = slices.DeleteFunc(out, func(s string) bool { return s == r.Value })
	}
	for _, a := range f.Add {
		if !slices.Contains(out, a.Value) {
			out = append(out, a.Value)
		}
	}
	return out
}

// A StagePatch is a patch of an object.
type StagePatch struct {
	Subresource string
	Type        string // a constant of package patch

	root   string
	render renderer
}

// Render returns the patch of an object.
func (p *StagePatch) Render(h Host, node string, obj object.View) ([]byte, error) {
	data, err := p.render(h, node, obj)
	if err != nil || p.root == "" {
		return data, err
	}
	return json.Marshal(map[string]json.RawMessage{p.root: data})
}

// A requirement is one condition of a selector.
type requirement struct {
	query    *query
	operator string
	values   []string
}

func (r *requirement) matches(obj object.View) bool {
	found := r.query.run(obj)
	switch r.operator {
	case "In", "NotIn":
		has := slices.ContainsFunc(found, func(v any) bool { return slices.Contains(r.values, text(v)) })
		return has == (r.operator == "In")
	case "Exists":
		return len(found) > 0
	}
	return len(found) == 0
}

// text returns a scalar as selectors compare it.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return "\x00" // of a value that no string is equal to
}

// A value is a constant that an expression may replace.
type value struct {
	constant int64 // milliseconds of a duration
	set      bool
	from     *query
}

// integer returns a weight. A weight whose expression has no integer is the constant.
func (v *value) integer(obj object.View) int64 {
	if v.from != nil {
		for _, found := range v.from.run(obj) {
			switch f := found.(type) {
			case int64:
				return f
			case string:
				if n, err := strconv.ParseInt(f, 10, 64); err == nil {
					return n
				}
			}
		}
	}
	return v.constant
}

// duration returns a duration. An expression may have a duration, or a time that it
// lasts until.
func (v *value) duration(obj object.View, now time.Time) (d time.Duration, ok bool) {
	if v.from != nil {
		if found := v.from.run(obj); len(found) > 0 {
			s, _ := found[0].(string)
			if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
				return t.Sub(now), true
			}
			if d, err := time.ParseDuration(s); err == nil {
				return d, true
			}
		}
	}
	return time.Duration(v.constant) * time.Millisecond, v.set
}

// Matches reports whether the Stage applies to an object.
func (s *Stage) Matches(obj object.View) bool {
	for i := range s.selector {
		if !s.selector[i].matches(obj) {
			return false
		}
	}
	return true
}

// Delay returns the time after which the Stage applies to an object. below returns a
// random number below n.
func (s *Stage) Delay(obj object.View, now time.Time, below func(n uint64) uint64) time.Duration {
	if s.delay == nil {
		return 0
	}
	d, ok := s.delay.duration(obj, now)
	if !ok || s.jitter == nil {
		return d
	}
	jitter, ok := s.jitter.duration(obj, now)
	switch {
	case !ok:
		return d
	case jitter <= d:
		return jitter
	}
	return d + time.Duration(below(uint64(jitter-d)))
}

// Choose returns the Stage that applies to an object, nil if there is none. Of several,
// the weights decide, by a random number.
func Choose(stages []*Stage, obj object.View, below func(n uint64) uint64) *Stage {
	var matching []*Stage
	var weights []int64
	var total int64
	for _, s := range stages {
		if s.Matches(obj) {
			w := max(0, s.weight.integer(obj))
			matching, weights, total = append(matching, s), append(weights, w), total+w
		}
	}
	switch {
	case len(matching) == 0:
		return nil
	case len(matching) == 1:
		return matching[0]
	case total == 0:
		return matching[below(uint64(len(matching)))]
	}
	at := int64(below(uint64(total)))
	for i, w := range weights {
		if at -= w; at < 0 {
			return matching[i]
		}
	}
	return matching[len(matching)-1]
}

// The wire format of a Stage.
type (
	wireStage struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec wireSpec `json:"spec"`
	}
	wireSpec struct {
		ResourceRef struct {
			APIGroup string `json:"apiGroup"`
			Kind     string `json:"kind"`
		} `json:"resourceRef"`
		Selector           *wireSelector `json:"selector"`
		Weight             int64         `json:"weight"`
		WeightFrom         *wireFrom     `json:"weightFrom"`
		Delay              *wireDelay    `json:"delay"`
		Next               *wireNext     `json:"next"`
		ImmediateNextStage *bool         `json:"immediateNextStage"`
		Steps              []wireStep    `json:"steps"`
	}
	wireSelector struct {
		MatchLabels      map[string]string `json:"matchLabels"`
		MatchAnnotations map[string]string `json:"matchAnnotations"`
		MatchExpressions []struct {
			CEL      any             `json:"cel"`
			JQ       *wireExpression `json:"jq"`
			Key      string          `json:"key"`
			Operator string          `json:"operator"`
			Values   []string        `json:"values"`
		} `json:"matchExpressions"`
	}
	wireExpression struct {
		Key        string   `json:"key"`
		Operator   string   `json:"operator"`
		Values     []string `json:"values"`
		Expression string   `json:"expression"`
	}
	wireFrom struct {
		CEL            any             `json:"cel"`
		JQ             *wireExpression `json:"jq"`
		ExpressionFrom string          `json:"expressionFrom"`
	}
	wireDelay struct {
		DurationMilliseconds       *int64    `json:"durationMilliseconds"`
		DurationFrom               *wireFrom `json:"durationFrom"`
		JitterDurationMilliseconds *int64    `json:"jitterDurationMilliseconds"`
		JitterDurationFrom         *wireFrom `json:"jitterDurationFrom"`
	}
	wireNext struct {
		Event             *StageEvent      `json:"event"`
		Finalizers        *StageFinalizers `json:"finalizers"`
		Delete            bool             `json:"delete"`
		Patches           []wirePatch      `json:"patches"`
		StatusTemplate    string           `json:"statusTemplate"`
		StatusSubresource *string          `json:"statusSubresource"`
		StatusPatchAs     any              `json:"statusPatchAs"`
	}
	wireStep struct {
		Patch      *wirePatch       `json:"patch"`
		Event      *StageEvent      `json:"event"`
		Finalizers *StageFinalizers `json:"finalizers"`
		Delete     bool             `json:"delete"`
		Apply      any              `json:"apply"`
	}
	wirePatch struct {
		Subresource   string `json:"subresource"`
		Root          string `json:"root"`
		Template      string `json:"template"`
		Type          string `json:"type"`
		Impersonation any    `json:"impersonation"`
	}
)

// Parse parses the Stages in a file of YAML documents. Documents of other kinds of
// KWOK's configuration are an error, as is what is not supported. Errors wrap ErrStage.
func Parse(file []byte) ([]*Stage, error) {
	var stages []*Stage
	for _, doc := range documents(file) {
		var w wireStage
		if err := yaml.UnmarshalStrict(doc, &w); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrStage, explain.Error(nil, &w, err))
		}
		if w.Kind == "" && w.APIVersion == "" {
			continue // only comments
		}
		s, err := w.compile()
		if err != nil {
			return nil, fmt.Errorf("%w %q: %w", ErrStage, w.Metadata.Name, err)
		}
		if s != nil {
			stages = append(stages, s)
		}
	}
	return stages, nil
}

// compile returns nil for a Stage without a selector, which applies to nothing.
func (w *wireStage) compile() (*Stage, error) {
	if w.Kind != "Stage" || w.APIVersion != "kwok.x-k8s.io/v1alpha1" {
		return nil, fmt.Errorf("kind %s of %s is not supported, only Stage of kwok.x-k8s.io/v1alpha1", w.Kind, w.APIVersion)
	}
	ref := w.Spec.ResourceRef
	if ref.APIGroup != "" && ref.APIGroup != "v1" || ref.Kind != "Pod" && ref.Kind != "Node" {
		return nil, fmt.Errorf("resourceRef %s %s is not supported, only v1 Pod and v1 Node", ref.APIGroup, ref.Kind)
	}
	s := &Stage{Name: w.Metadata.Name, Kind: ref.Kind, weight: value{constant: w.Spec.Weight, set: true}}
	if w.Spec.Selector == nil {
		return nil, nil
	}
	var err error
	if s.selector, err = w.Spec.Selector.compile(); err != nil {
		return nil, err
	}
	if s.weight.from, err = w.Spec.WeightFrom.compile("weightFrom"); err != nil {
		return nil, err
	}
	if d := w.Spec.Delay; d != nil {
		if s.delay, err = compileDuration(d.DurationMilliseconds, d.DurationFrom, "durationFrom"); err != nil {
			return nil, err
		}
		if s.jitter, err = compileDuration(d.JitterDurationMilliseconds, d.JitterDurationFrom, "jitterDurationFrom"); err != nil {
			return nil, err
		}
		if s.delay == nil {
			s.delay = &value{set: true}
		}
	}
	return s, s.compileSteps(&w.Spec)
}

func (w *wireSelector) compile() (out []requirement, err error) {
	add := func(expression, operator string, values []string) error {
		q, err := parseQuery(expression)
		if err != nil {
			return err
		}
		out = append(out, requirement{q, operator, values})
		return nil
	}
	for _, m := range []struct {
		field  string
		values map[string]string
	}{{"labels", w.MatchLabels}, {"annotations", w.MatchAnnotations}} {
		for k, v := range m.values {
			if err := add(fmt.Sprintf(".metadata.%s[%q]", m.field, k), "In", []string{v}); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range w.MatchExpressions {
		if e.CEL != nil {
			return nil, errors.New("matchExpressions: cel is not supported, only jq and key")
		}
		key, operator, values := e.Key, e.Operator, e.Values
		if e.JQ != nil {
			key, operator, values = e.JQ.Key, e.JQ.Operator, e.JQ.Values
		}
		switch operator {
		case "In", "NotIn":
			if len(values) == 0 {
				return nil, fmt.Errorf("the operator %s of %s needs values", operator, key)
			}
		case "Exists", "DoesNotExist":
			if len(values) > 0 {
				return nil, fmt.Errorf("the operator %s of %s takes no values", operator, key)
			}
		default:
			return nil, fmt.Errorf("operator %q is not supported", operator)
		}
		if err := add(key, operator, values); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compile returns nil for an absent expression.
func (w *wireFrom) compile(field string) (*query, error) {
	switch {
	case w == nil:
		return nil, nil
	case w.CEL != nil:
		return nil, fmt.Errorf("%s: cel is not supported, only jq and expressionFrom", field)
	case w.JQ != nil:
		return parseQuery(w.JQ.Expression)
	case w.ExpressionFrom != "":
		return parseQuery(w.ExpressionFrom)
	}
	return nil, nil
}

// compileDuration returns nil if there is neither a constant nor an expression.
func compileDuration(ms *int64, from *wireFrom, field string) (*value, error) {
	if ms == nil && from == nil {
		return nil, nil
	}
	v := &value{}
	if ms != nil {
		v.constant, v.set = *ms, true
	}
	var err error
	v.from, err = from.compile(field)
	return v, err
}

func (s *Stage) compileSteps(w *wireSpec) error {
	steps := slices.Clone(w.Steps)
	if next := w.Next; next != nil {
		if next.StatusPatchAs != nil {
			return errors.New("statusPatchAs is not supported")
		}
		steps = append(steps, wireStep{Event: next.Event}, wireStep{Finalizers: next.Finalizers}, wireStep{Delete: next.Delete})
		for i := range next.Patches {
			steps = append(steps, wireStep{Patch: &next.Patches[i]})
		}
		if next.StatusTemplate != "" {
			steps = append(steps, wireStep{Patch: &wirePatch{Subresource: "status", Root: "status", Template: next.StatusTemplate}})
		}
	}
	for _, step := range steps {
		if step.Apply != nil {
			return errors.New("steps: apply is not supported")
		}
		for _, one := range []Step{{Event: step.Event}, {Finalizers: step.Finalizers}, {Delete: step.Delete}} {
			if one != (Step{}) {
				s.Steps = append(s.Steps, one)
			}
		}
		if step.Patch == nil {
			continue
		}
		if step.Patch.Impersonation != nil {
			return errors.New("impersonation is not supported")
		}
		p := &StagePatch{Subresource: step.Patch.Subresource, root: step.Patch.Root}
		switch step.Patch.Type {
		case "", "strategic":
			p.Type = patch.StrategicType
		case "merge":
			p.Type = patch.MergeType
		case "json":
			p.Type = patch.JSONType
		default:
			return fmt.Errorf("patches of type %q are not supported", step.Patch.Type)
		}
		if p.Type == patch.JSONType && p.root != "" {
			return errors.New("root is not supported for patches of type json")
		}
		var err error
		if p.render, err = parseTemplate(step.Patch.Template); err != nil {
			return err
		}
		s.Steps = append(s.Steps, Step{Patch: p})
	}
	return nil
}

// documents splits a stream of YAML documents.
func documents(stream []byte) [][]byte {
	return bytes.Split(append([]byte("\n"), stream...), []byte("\n---"))
}
