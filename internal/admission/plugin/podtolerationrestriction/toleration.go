package podtolerationrestriction

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// A toleration is one of a pod, an annotation or a configuration. The names of its types are
// part of errors.
type (
	toleration struct {
		Key      string             `json:"key"`
		Operator tolerationOperator `json:"operator"`
		Value    string             `json:"value"`
		Effect   taintEffect        `json:"effect"`
		Seconds  *int64             `json:"tolerationSeconds"`
	}
	tolerationOperator string
	taintEffect        string
)

// goTypes replaces the names of the types here by those of kube-apiserver in errors of
// encoding/json.
var goTypes = strings.NewReplacer(
	"struct field toleration.", "struct field Toleration.",
	"podtolerationrestriction.tolerationOperator", "v1.TolerationOperator",
	"podtolerationrestriction.toleration", "v1.Toleration",
	"podtolerationrestriction.taintEffect", "v1.TaintEffect",
)

func tolerationOf(obj map[string]any) toleration {
	t := toleration{
		Key: object.String(obj, "key"), Operator: tolerationOperator(object.String(obj, "operator")),
		Value: object.String(obj, "value"), Effect: taintEffect(object.String(obj, "effect")),
	}
	if seconds, ok := object.Int(obj, "tolerationSeconds"); ok {
		t.Seconds = &seconds
	}
	return t
}

// generic returns tolerations in generic form, without empty fields.
func generic(tolerations []toleration) []any {
	out := make([]any, len(tolerations))
	for i, t := range tolerations {
		obj := map[string]any{}
		for name, v := range map[string]string{"key": t.Key, "operator": string(t.Operator), "value": t.Value, "effect": string(t.Effect)} {
			if v != "" {
				obj[name] = v
			}
		}
		if t.Seconds != nil {
			obj["tolerationSeconds"] = *t.Seconds
		}
		out[i] = obj
	}
	return out
}

// merge returns the tolerations that are not part of another one. Of equal ones it keeps the
// first.
func merge(all []toleration) (merged []toleration) {
next:
	for i, t := range all {
		for _, other := range merged {
			if t.isPartOf(other) {
				continue next
			}
		}
		for _, other := range all[i+1:] {
			if !t.equals(other) && t.isPartOf(other) {
				continue next
			}
		}
		merged = append(merged, t)
	}
	return merged
}

func (t toleration) equals(other toleration) bool {
	if (t.Seconds == nil) != (other.Seconds == nil) || t.Seconds != nil && *t.Seconds != *other.Seconds {
		return false
	}
	t.Seconds, other.Seconds = nil, nil
	return t == other
}

// isPartOf reports whether other tolerates all that t tolerates. As in kube-apiserver, an
// operator that is absent is not the same as Equal, and one that compares numbers includes
// only an equal toleration.
func (t toleration) isPartOf(other toleration) bool {
	switch {
	case t.equals(other):
		return true
	case t.Key != other.Key && (other.Key != "" || other.Operator != "Exists"):
		return false
	case t.Effect != other.Effect && other.Effect != "":
		return false
	case other.Effect == "NoExecute" && other.Seconds != nil && (t.Seconds == nil || *t.Seconds > *other.Seconds):
		return false
	}
	switch other.Operator {
	case "Equal", "":
		return t.Operator == "Equal" && t.Value == other.Value
	case "Exists":
		return true
	}
	return false
}
