package core

import (
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/validation"
)

// prepareNamespace sets the phase and the kubernetes validateFinalizer of a new namespace.
// An update keeps the old spec: only the finalize subresource changes finalizers.
func prepareNamespace(obj map[string]any, old object.View) {
	if !old.IsNil() {
		object.Keep(obj, old, "spec")
		return
	}
	labelNamespace(obj)
	spec := object.EnsureMap(obj, "spec")
	finalizers := object.List(spec, "finalizers")
	if !slices.Contains(finalizers, any("kubernetes")) {
		spec["finalizers"] = append(finalizers, "kubernetes")
	}
	obj["status"] = map[string]any{"phase": "Active"}
}

// setNamespaceFinalizer sets the finalizer of a namespace that is not being deleted and
// has no list of finalizers: without it, the namespace-controller leaves the namespace.
func setNamespaceFinalizer(obj map[string]any) {
	if object.Value(obj, "metadata", "deletionTimestamp") == nil && object.Value(obj, "spec", "finalizers") == nil {
		object.EnsureMap(obj, "spec")["finalizers"] = []any{"kubernetes"}
	}
}

func defaultNamespace(obj map[string]any) {
	labelNamespace(obj)
	object.SetDefault(object.EnsureMap(obj, "status"), "phase", "Active")
}

// labelNamespace sets the label kubernetes.io/metadata.name.
func labelNamespace(obj map[string]any) {
	meta := object.Meta(obj)
	const label = "kubernetes.io/metadata.name"
	if name := object.String(meta, "name"); name != "" && object.String(meta, "labels", label) != name {
		object.Own(meta, "labels")[label] = name
	}
}

func terminatingStatus(namespace map[string]any) map[string]any {
	status := object.Copy(object.Map(namespace, "status"))
	if status == nil {
		status = map[string]any{}
	}
	status["phase"] = "Terminating"
	return status
}

var namespaceStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		NoUnsafeDeletion:         true,
		Name:                     validation.LabelName,
		Prepare:                  prepareNamespace,
		Default:                  defaultNamespace,
		Validate:                 validateNamespace,
		MarkTerminating:          func(obj map[string]any) { obj["status"] = terminatingStatus(obj) },
		ReadyToDelete:            func(obj map[string]any) bool { return len(object.List(obj, "spec", "finalizers")) == 0 },
		SetSystemFields:          setNamespaceFinalizer,
		SelectableFields:         []resource.Field{kind.SelectableField("status.phase", "status", "phase")},
		FieldLabelError:          kind.FieldLabelNotSupported,
	},
	Status: kind.Status{Validate: validateNamespaceStatus},
	Cells:  func(r table.Row) []any { return []any{r.Name(), r.String("status", "phase"), r.Age()} },
}
