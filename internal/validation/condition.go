package validation

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
)

// Maximum lengths of a condition's fields, in bytes.
const (
	conditionReasonMaxLength  = 1 << 10
	conditionMessageMaxLength = 32 << 10
)

// Conditions checks a list of metav1.Condition, whose types must be unique.
func Conditions(conditions []any, path *Path) List {
	var list List
	seen := make(map[string]bool, len(conditions))
	for i, v := range conditions {
		c, _ := v.(map[string]any)
		kind := object.String(c, "type")
		if seen[kind] {
			list = append(list, Duplicate(path.Index(i), kind).Before(behavior.MetadataErrors, Field(path.Index(i).Child("type").String())))
		}
		seen[kind] = true
		list = append(list, condition(c, path.Index(i))...)
	}
	return list
}

func condition(c map[string]any, path *Path) List {
	typ := object.String(c, "type")
	list := LabelKey(typ, path.Child("type"))
	if typ == "" {
		list = append(list.Until(behavior.MetadataErrors), Required(path.Child("type"), "is required").Since(behavior.MetadataErrors))
	}

	switch status := object.String(c, "status"); status {
	case "True", "False", "Unknown":
	default:
		err := NotSupported(path.Child("status"), NamedString(status), []string{"False", "True", "Unknown"})
		if status == "" {
			err = Required(path.Child("status"), "").Before(behavior.MetadataErrors, Instead(err))
		}
		list = append(list, err)
	}

	if generation, _ := object.Int(c, "observedGeneration"); generation < 0 {
		list = append(list, Invalid(path.Child("observedGeneration"), generation, "must be greater than or equal to zero"))
	}

	if t, ok := Timestamp(c["lastTransitionTime"]); !ok || t.IsZero() {
		list = append(list, Required(path.Child("lastTransitionTime"), ""))
	}

	if reason := object.String(c, "reason"); reason == "" {
		list = append(list, Required(path.Child("reason"), ""))
	} else {
		list = append(list, Each(path.Child("reason"), reason, ConditionReason(reason))...)
		if len(reason) > conditionReasonMaxLength {
			list = append(list, TooLong(path.Child("reason"), conditionReasonMaxLength))
		}
	}

	if len(object.String(c, "message")) > conditionMessageMaxLength {
		list = append(list, TooLong(path.Child("message"), conditionMessageMaxLength))
	}
	return list
}
