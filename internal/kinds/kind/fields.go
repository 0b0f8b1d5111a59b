package kind

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// CopyMissing gives obj those of the members that it lacks and old has.
func CopyMissing(obj, old map[string]any, names ...string) {
	for _, name := range names {
		if v := old[name]; v != nil && validation.Equal(obj[name], nil) {
			obj[name] = v
		}
	}
}

// DropDisabledField takes a member from obj unless old has it: what a disabled feature
// gate does to its field.
func DropDisabledField(obj, old map[string]any, name string) {
	if old[name] == nil {
		delete(obj, name)
	}
}

// CopyLabels gives dst the labels of src if it has none, and reports whether it
// did.
func CopyLabels(dst map[string]any, src any) bool {
	labels, _ := src.(map[string]any)
	own, _ := dst["labels"].(map[string]any)
	if len(labels) == 0 || len(own) > 0 {
		return false
	}
	dst["labels"] = object.ShallowCopy(labels)
	return true
}

// RemoveAnnotations takes annotations from an object that stand for what it has
// fields for.
func RemoveAnnotations(obj map[string]any, names []string) {
	meta, _ := obj["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if len(annotations) == 0 {
		return
	}
	for _, name := range names {
		delete(annotations, name)
	}
	if len(annotations) == 0 {
		delete(meta, "annotations")
	}
}

func SameField(a, b map[string]any, name string) bool { return validation.Equal(a[name], b[name]) }

// SelectableField is a selectable field that is read where its label says.
func SelectableField(label string, path ...string) resource.Field {
	return resource.Field{Label: label, Value: func(obj map[string]any) string { return object.Text(obj, path...) }}
}

// WithDefault is f with a value for what is not there.
func WithDefault(f resource.Field, absent string) resource.Field {
	value := f.Value
	f.Value = func(obj map[string]any) string {
		if s := value(obj); s != "" {
			return s
		}
		return absent
	}
	return f
}

func FieldLabelNotSupported(label string) string { return "field label not supported: " + label }

// DefaultServiceReference completes the service that answers for the server;
// nil is none.
func DefaultServiceReference(service map[string]any) {
	if service != nil {
		object.SetDefault(service, "port", int64(443))
	}
}
