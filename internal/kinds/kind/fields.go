package kind

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// CopyMissing copies the named fields that obj does not have from old.
func CopyMissing(obj map[string]any, old object.View, names ...string) {
	for _, name := range names {
		if v := old.At(name); !v.IsNil() && validation.Equal(obj[name], nil) {
			obj[name] = v.Shared()
		}
	}
}

// DropDisabledField removes the field of a disabled feature gate, unless old has it.
func DropDisabledField(obj map[string]any, old object.View, name string) {
	if old.IsNil(name) {
		object.Remove(obj, name)
	}
}

// CopyLabels sets the labels of the metadata dst to src if dst has none, and
// reports whether it did.
func CopyLabels(dst map[string]any, src any) bool {
	labels, _ := src.(map[string]any)
	own, _ := dst["labels"].(map[string]any)
	if len(labels) == 0 || len(own) > 0 {
		return false
	}
	dst["labels"] = object.ShallowCopy(labels)
	return true
}

// RemoveAnnotations removes the named annotations. The fields of the object already
// hold their values.
func RemoveAnnotations(obj map[string]any, names []string) {
	meta, _ := obj["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if len(annotations) == 0 {
		return
	}
	for _, name := range names {
		object.Remove(annotations, name)
	}
	if len(annotations) == 0 {
		delete(meta, "annotations")
	}
}

// SameField reports whether the field is equal in both objects.
func SameField(a map[string]any, b object.View, name string) bool {
	return validation.Equal(a[name], b.At(name))
}

// SelectableField returns the selectable field with the value at the path.
func SelectableField(label string, path ...string) resource.Field {
	return resource.Field{Label: label, Value: func(obj map[string]any) string { return object.ViewOf(obj).Text(path...) }}
}

// WithDefault returns f with the value absent for objects that do not set the field.
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

// FieldLabelNotSupported is the FieldLabelError of most resources in the core group.
func FieldLabelNotSupported(label string) string { return "field label not supported: " + label }

// NoDefaults is the DefaultMetadata of kinds whose defaults do not depend on metadata.
func NoDefaults(map[string]any) {}

// IgnoresMetadata is the PrepareIgnoresMetadata of kinds whose Prepare never depends on metadata.
func IgnoresMetadata(map[string]any) bool { return true }

// NoErrors is the ValidateMetadata of kinds whose validation does not depend on metadata and status.
func NoErrors(_ map[string]any, _ object.View) validation.List { return nil }

// DefaultServiceReference sets the default port of the Service of a webhook or an
// APIService. service may be nil.
func DefaultServiceReference(service map[string]any) {
	if service != nil {
		object.SetDefault(service, "port", int64(443))
	}
}
