package kindtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/wire"
)

// A CellsRow expects the cells of the [TableRow] of an object.
type CellsRow = struct {
	Name, Object string
	Want         []any
}

// TestCells checks the cells of objects in a Table.
func TestCells(t *testing.T, name string, rows []CellsRow) {
	typ := TypeOf(t, name)
	for _, r := range rows {
		t.Run(r.Name, func(t *testing.T) {
			assert.Equal(t, r.Want, typ.Layout.Cells(TableRow(t, r.Object)))
		})
	}
}

// TableRow returns the row of an object in YAML at 2026-01-02T04:04:05Z. It sets the
// name of the object to "a" and its creationTimestamp to an hour before that time.
func TableRow(t testing.TB, text string) table.Row {
	t.Helper()
	body, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	obj, _, err := wire.DecodeUntyped(body, wire.DecodeOptions{})
	require.NoError(t, err)
	object.Set(obj, "a", "metadata", "name")
	object.Set(obj, "2026-01-02T03:04:05Z", "metadata", "creationTimestamp")
	return table.Row{Obj: obj, Now: time.Date(2026, 1, 2, 4, 4, 5, 0, time.UTC)}
}
