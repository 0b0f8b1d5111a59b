package validation

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// Labels checks the labels of an object: a map[string]any of strings, or nil.
func Labels(labels map[string]any, path *Path) List {
	var bad []string
	for key, v := range labels {
		if len(QualifiedName(key)) > 0 || len(LabelValue(stringOf(v))) > 0 {
			bad = append(bad, key)
		}
	}
	slices.Sort(bad)

	var list List
	for _, key := range bad {
		list = append(list, LabelKey(key, path)...)
		value := stringOf(labels[key])
		list = append(list, Each(path, value, LabelValue(value))...)
	}
	return list
}

// LabelKey checks the key of a label.
func LabelKey(key string, path *Path) List {
	return Each(path, key, QualifiedName(key))
}

// AnnotationsMaxSize is the maximum total size in bytes of the keys and values
// of an object's annotations.
const AnnotationsMaxSize = 256 << 10

// Annotations checks the annotations of an object: a map[string]any of strings,
// or nil. Keys have the format of label keys, with letters of either case.
func Annotations(annotations map[string]any, path *Path) List {
	var bad []string
	size := 0
	for key, v := range annotations {
		if len(QualifiedName(strings.ToLower(key))) > 0 {
			bad = append(bad, key)
		}
		size += len(key) + len(stringOf(v))
	}
	slices.Sort(bad)

	var list List
	for _, key := range bad {
		list = append(list, Each(path, key, QualifiedName(strings.ToLower(key)))...)
	}
	if size > AnnotationsMaxSize {
		list = append(list, TooLong(path, AnnotationsMaxSize))
	}
	return list
}

// UserAnnotations checks the annotations that a Pod passes to the signer of its certificate:
// a map[string]any of strings, or nil. Keys have a prefix. They may have letters of either case.
func UserAnnotations(annotations map[string]any, path *Path) List {
	var list List
	size := 0
	for _, key := range SortedKeys(annotations) {
		list = append(list, DomainPrefixedKey(strings.ToLower(key), path)...)
		size += len(key) + len(stringOf(annotations[key]))
	}
	if size > AnnotationsMaxSize {
		list = append(list, TooLong(path, AnnotationsMaxSize))
	}
	return list
}

// LabelSelectorOptions relax the checks of a label selector.
type LabelSelectorOptions struct {
	InvalidValues    bool // allow invalid label values
	UnknownOperators bool // allow unknown operators
}

// LabelSelector checks a selector: matchLabels and matchExpressions. A nil
// selector is valid.
func LabelSelector(selector map[string]any, opts LabelSelectorOptions, path *Path) List {
	if selector == nil {
		return nil
	}
	list := Labels(object.Map(selector, "matchLabels"), path.Child("matchLabels"))
	for i, v := range object.List(selector, "matchExpressions") {
		expr, _ := v.(map[string]any)
		list = append(list, LabelRequirement(expr, opts, path.Child("matchExpressions").Index(i))...)
	}
	return list
}

// LabelRequirement checks one of the matchExpressions of a selector.
func LabelRequirement(expr map[string]any, opts LabelSelectorOptions, path *Path) List {
	var list List
	key, operator, values := object.String(expr, "key"), object.String(expr, "operator"), object.List(expr, "values")
	switch operator {
	case "In", "NotIn":
		if len(values) == 0 {
			list = append(list, Required(path.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case "Exists", "DoesNotExist":
		if len(values) > 0 {
			list = append(list, Forbidden(path.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	default:
		if !opts.UnknownOperators {
			list = append(list, Invalid(path.Child("operator"), NamedString(operator), "not a valid selector operator"))
		}
	}
	list = append(list, LabelKey(key, path.Child("key"))...)
	if !opts.InvalidValues {
		for i, v := range values {
			value := stringOf(v)
			list = append(list, Each(path.Child("values").Index(i), value, LabelValue(value))...)
		}
	}
	return list
}
