package table_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/table"
)

func TestRow(t *testing.T) {
	layout := &table.Layout{
		Columns: []table.Column{{Name: "A", Type: "string"}, {Name: "B", Type: "integer", Priority: 1}},
		Cells:   func(obj map[string]any, now time.Time) []any { return []any{obj["a"], now.Second()} },
	}
	assert.Equal(t, `[{"name":"A","type":"string","format":"","description":"","priority":0},{"name":"B","type":"integer","format":"","description":"","priority":1}]`,
		string(layout.AppendColumns(nil)))
	obj := map[string]any{"a": "none"}
	now := time.Unix(7, 0)
	assert.Equal(t, `{"cells":["none",7],"object":null}`, string(layout.AppendRow(nil, obj, now, nil)))
	assert.Equal(t, `x{"cells":["none",7],"object":{"k":1}}`, string(layout.AppendRow([]byte("x"), obj, now, []byte(`{"k":1}`))))
}

func TestDefault(t *testing.T) {
	obj := map[string]any{"metadata": map[string]any{"name": "a", "creationTimestamp": "2026-01-02T03:04:05Z"}}
	assert.Equal(t, []any{"a", "2026-01-02T03:04:05Z"}, table.Default.Cells(obj, time.Now()))
	assert.Equal(t, []any{"", "0001-01-01T00:00:00Z"}, table.Default.Cells(map[string]any{}, time.Now()), "a bookmark has neither name nor creationTimestamp")
	assert.Len(t, table.Default.Columns, 2)
}
