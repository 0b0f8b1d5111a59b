package controller

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// Time returns the time at a path of obj; the zero time if there is none.
func Time(obj object.View, path ...string) time.Time {
	t, _ := time.Parse(time.RFC3339, obj.String(path...))
	return t
}

// Condition returns the condition of a type in status.conditions, nothing if there
// is none.
func Condition(obj object.View, typ string) object.View {
	for c := range obj.At("status", "conditions").Objects() {
		if c.String("type") == typ {
			return c
		}
	}
	return object.View{}
}

// ConditionIn returns the condition of a type in the conditions of a status that is being
// written, nil if there is none. To change it changes the status.
func ConditionIn(status map[string]any, typ string) map[string]any {
	for c := range object.Each(status["conditions"]) {
		if c["type"] == typ {
			return c
		}
	}
	return nil
}

// HasCondition reports whether obj has a condition with a status.
func HasCondition(obj object.View, typ, status string) bool {
	return Condition(obj, typ).String("status") == status
}

// SetCondition adds a condition to the conditions of status behind the others, in the
// place of one of its type.
func SetCondition(status, condition map[string]any) {
	RemoveCondition(status, object.String(condition, "type"))
	status["conditions"] = append(object.List(status, "conditions"), any(condition))
}

// PutCondition adds a condition to the conditions of status, in the place of one of its
// type, whose lastTransitionTime it keeps if it has the same status.
func PutCondition(status, condition map[string]any) {
	list := object.List(status, "conditions")
	for i := range list {
		if old, ok := list[i].(map[string]any); ok && old["type"] == condition["type"] {
			if old["status"] == condition["status"] {
				condition["lastTransitionTime"] = old["lastTransitionTime"]
			}
			list[i] = condition
			return
		}
	}
	status["conditions"] = append(list, any(condition))
}

// RemoveCondition removes the condition of a type from the conditions of status.
func RemoveCondition(status map[string]any, typ string) {
	var kept []any
	for c := range object.Each(status["conditions"]) {
		if object.String(c, "type") != typ {
			kept = append(kept, c)
		}
	}
	if kept == nil {
		delete(status, "conditions")
		return
	}
	status["conditions"] = kept
}

// SetCount sets a number of status that is absent if it is 0.
func SetCount(status map[string]any, name string, n int64) {
	if n == 0 {
		delete(status, name)
		return
	}
	status[name] = n
}

// Count returns a number of status, 0 if it is absent.
func Count(status map[string]any, name string) int64 {
	n, _ := object.Int(status, name)
	return n
}

// LabelSelector returns the selector of the label selector at a path of obj. A
// selector that is absent selects nothing, and an empty one everything.
func LabelSelector(obj object.View, path ...string) (selector.Labels, error) {
	s := selector.FromView(obj.At(path...))
	if s == nil {
		return selector.Nothing(), nil
	}
	return s.Selector()
}

// Labels returns the string map at a path of obj.
func Labels(obj object.View, path ...string) map[string]string {
	m := obj.At(path...)
	if !m.IsObject() {
		return nil
	}
	out := make(map[string]string, m.Len())
	for k, v := range m.Fields() {
		out[k] = v.String()
	}
	return out
}

// IntOr returns the integer at a path of obj, or other if there is none.
func IntOr(obj object.View, other int64, path ...string) int64 {
	if n, ok := obj.Int(path...); ok {
		return n
	}
	return other
}

// Scaled returns the value of an IntOrString: a number, or a percentage of total,
// rounded up or down.
func Scaled(v object.View, total int64, up bool) (int64, error) {
	switch value := v.Shared().(type) {
	case int64:
		return value, nil
	case string:
		percent, ok := strings.CutSuffix(value, "%")
		n, err := strconv.Atoi(percent)
		if !ok || err != nil {
			return 0, fmt.Errorf("invalid value for IntOrString: invalid type: string is not a percentage")
		}
		if up {
			return int64(math.Ceil(float64(n) * float64(total) / 100)), nil
		}
		return int64(math.Floor(float64(n) * float64(total) / 100)), nil
	}
	return 0, fmt.Errorf("invalid value for IntOrString: %v", v.Shared())
}
