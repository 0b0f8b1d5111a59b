package events

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// referenceFields returns the selectable fields of an object reference.
func referenceFields(member string) (fields []resource.Field) {
	for _, name := range []string{"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"} {
		fields = append(fields, kind.SelectableField(member+"."+name, member, name))
	}
	return fields
}

var eventStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:             resource.MetadataNone,
		AllowUnconditionalUpdate:       true,
		AllowCreateOnUpdate:            true,
		NoWatchCache:                   true,
		HasTTL:                         true,
		DefaultGarbageCollectionPolicy: resource.GarbageCollectionUnsupported,
		Name:                           validation.PathSegmentName,
		Validate:                       validateEvent,
		SelectableFields: append(referenceFields("involvedObject"),
			kind.SelectableField("reason", "reason"),
			kind.SelectableField("reportingComponent", "reportingComponent"),
			resource.Field{Label: "source", Value: func(obj map[string]any) string {
				if s := object.String(obj, "source", "component"); s != "" {
					return s
				}
				return object.String(obj, "reportingComponent")
			}},
			kind.SelectableField("type", "type"),
		),
		FieldLabelError: kind.FieldLabelNotSupported,
	},
	Cells: eventCells,
}
