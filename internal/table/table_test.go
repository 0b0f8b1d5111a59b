package table_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/table"
)

func TestRow(t *testing.T) {
	layout := &table.Layout{
		Columns: func() []table.Column {
			return []table.Column{{Name: "A", Type: "string"}, {Name: "B", Type: "integer", Priority: 1}}
		},
		Cells: func(r table.Row) []any { return []any{r.Obj["a"], r.Now.Second()} },
	}
	assert.Equal(t, `[{"name":"A","type":"string","format":"","description":"","priority":0},{"name":"B","type":"integer","format":"","description":"","priority":1}]`,
		string(layout.AppendColumns(nil)))
	row := table.Row{Obj: map[string]any{"a": "none"}, Now: time.Unix(7, 0)}
	assert.Equal(t, `{"cells":["none",7],"object":null}`, string(layout.AppendRow(nil, row, nil)))
	assert.Equal(t, `x{"cells":["none",7],"object":{"k":1}}`, string(layout.AppendRow([]byte("x"), row, []byte(`{"k":1}`))))
}

func TestDefault(t *testing.T) {
	obj := map[string]any{"metadata": map[string]any{"name": "a", "creationTimestamp": "2026-01-02T03:04:05Z"}}
	assert.Equal(t, []any{"a", "2026-01-02T03:04:05Z"}, table.Default.Cells(table.Row{Obj: obj}))
	assert.Equal(t, []any{"", "0001-01-01T00:00:00Z"}, table.Default.Cells(table.Row{}), "a bookmark has neither name nor creationTimestamp")
	assert.Len(t, table.Default.Columns(), 2)
}
