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
func Time(obj map[string]any, path ...string) time.Time {
	t, _ := time.Parse(time.RFC3339, object.String(obj, path...))
	return t
}

// Condition returns the condition of a type in status.conditions, nil if there is
// none.
func Condition(obj map[string]any, typ string) map[string]any {
	for c := range object.Each(object.Value(obj, "status", "conditions")) {
		if object.String(c, "type") == typ {
			return c
		}
	}
	return nil
}

// HasCondition reports whether obj has a condition with a status.
func HasCondition(obj map[string]any, typ, status string) bool {
	return object.String(Condition(obj, typ), "status") == status
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

// LabelSelector returns the selector of the label selector at a path of obj. A
// selector that is absent selects nothing, and an empty one everything.
func LabelSelector(obj map[string]any, path ...string) (selector.Labels, error) {
	m := object.Map(obj, path...)
	if m == nil {
		return selector.Nothing(), nil
	}
	return selector.FromMap(m).Selector()
}

// Labels returns the string map at a path of obj.
func Labels(obj map[string]any, path ...string) map[string]string {
	m := object.Map(obj, path...)
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k], _ = v.(string)
	}
	return out
}

// IntOr returns the integer at a path of obj, or other if there is none.
func IntOr(obj map[string]any, other int64, path ...string) int64 {
	if n, ok := object.Int(obj, path...); ok {
		return n
	}
	return other
}

// Scaled returns the value of an IntOrString: a number, or a percentage of total,
// rounded up or down.
func Scaled(v any, total int64, up bool) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case string:
		percent, ok := strings.CutSuffix(v, "%")
		n, err := strconv.Atoi(percent)
		if !ok || err != nil {
			return 0, fmt.Errorf("invalid value for IntOrString: invalid type: string is not a percentage")
		}
		if up {
			return int64(math.Ceil(float64(n) * float64(total) / 100)), nil
		}
		return int64(math.Floor(float64(n) * float64(total) / 100)), nil
	}
	return 0, fmt.Errorf("invalid value for IntOrString: %v", v)
}
