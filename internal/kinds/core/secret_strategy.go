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

// emptyNilBytes returns a ReadBack that replaces the nulls in a map of bytes. kube-apiserver stores
// a key without a value for each, and reads no bytes.
func emptyNilBytes(field string) func(obj map[string]any) bool {
	return func(obj map[string]any) bool {
		var own map[string]any
		for key, v := range object.Map(obj, field) {
			if v != nil {
				continue
			}
			if own == nil {
				own = object.Own(obj, field)
			}
			own[key] = ""
		}
		return own != nil
	}
}

var secretStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		Default:                  defaultSecret,
		ReadBack:                 emptyNilBytes("data"),
		Validate:                 validateSecret,
		WarningsOnWrite:          warnSecret,
		SelectableFields:         []resource.Field{kind.SelectableField("type", "type")},
		FieldLabelError:          kind.FieldLabelNotSupported,
	},
	Cells: func(r table.Row) []any { return []any{r.Name(), r.String("type"), r.Len("data"), r.Age()} },
}
