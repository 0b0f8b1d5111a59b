package crd

import (
	"cmp"

	"github.com/kubefake/kubefake/internal/jsonpath"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// defaultColumns are the printer columns of a version that declares none.
var defaultColumns = []any{map[string]any{
	"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
	"description": table.Default.Columns()[1].Description,
}}

// scaleLayout is the table layout of the Scale of a custom resource.
var scaleLayout = &table.Layout{
	Columns: func() []table.Column {
		name, age := table.Default.Columns()[0], table.Default.Columns()[1]
		return []table.Column{
			name,
			{Name: "Desired", Type: "integer", Description: "Number of desired replicas"},
			{Name: "Available", Type: "integer", Description: "Number of actual replicas"},
			{Name: "Age", Type: "date", Description: age.Description},
		}
	},
	Cells: table.Row.ScaleCells,
}

// layout returns the table layout of the version. If the path of a column cannot be
// parsed, that column and those after it are omitted.
func (v *version) layout() *table.Layout {
	specs := v.spec.At("additionalPrinterColumns").SharedItems()
	if len(specs) == 0 {
		specs = defaultColumns
	}
	columns := []table.Column{table.Default.Columns()[0]}
	var paths []*jsonpath.Path
	for c := range object.Each(specs) {
		path, err := jsonpath.Parse(object.String(c, "jsonPath"))
		if err != nil {
			break
		}
		paths = append(paths, path)
		priority, _ := object.Int(c, "priority")
		columns = append(columns, table.Column{
			Name: object.String(c, "name"), Type: object.String(c, "type"), Format: object.String(c, "format"),
			Description: cmp.Or(object.String(c, "description"), "Custom resource definition column (in JSONPath format): "+object.String(c, "jsonPath")),
			Priority:    int(priority),
		})
	}
	return &table.Layout{
		Columns: func() []table.Column { return columns },
		Cells: func(r table.Row) []any {
			cells := []any{r.Name()}
			for i, path := range paths {
				cells = append(cells, cell(columns[i+1].Type, path, r))
			}
			return cells
		},
	}
}

// cell returns the cell of a column of a type: the first value at a path, or nil if there
// is none or it has another type.
func cell(typ string, path *jsonpath.Path, r table.Row) any {
	found, err := path.Find(r.Obj)
	if err != nil || len(found) == 0 {
		return nil
	}
	v := found[0]
	switch typ {
	case "string":
		if v == nil {
			return "<no value>"
		}
		return jsonpath.Text(v)
	case "integer":
		switch v := v.(type) {
		case int64:
			return v
		case float64:
			return int64(v)
		}
	case "number":
		switch v := v.(type) {
		case int64:
			return float64(v)
		case float64:
			return v
		}
	case "boolean":
		if b, ok := v.(bool); ok {
			return b
		}
	case "date":
		if s, ok := v.(string); ok {
			return table.Age(s, r.Now)
		}
	}
	return nil
}
