package core

import (
	"encoding/base64"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

// defaultSecret sets the type and moves stringData into data.
func defaultSecret(obj map[string]any) {
	object.SetDefault(obj, "type", "Opaque")
	text := object.Map(obj, "stringData")
	delete(obj, "stringData")
	if len(text) == 0 {
		return
	}
	data := object.Own(obj, "data")
	for key := range text {
		data[key] = base64.StdEncoding.EncodeToString([]byte(object.String(text, key)))
	}
}

var secretStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		Default:                  defaultSecret,
		Validate:                 validateSecret,
		WarningsOnWrite:          warnSecret,
		SelectableFields:         []resource.Field{kind.SelectableField("type", "type")},
		FieldLabelError:          kind.FieldLabelNotSupported,
	},
	Cells: func(r table.Row) []any { return []any{r.Name(), r.String("type"), r.Len("data"), r.Age()} },
}
