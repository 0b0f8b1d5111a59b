package table

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestLayouts checks that every printer returns a cell for each column, for an
// object without members. The object of a bookmark has none.
func TestLayouts(t *testing.T) {
	assert.Len(t, layouts(), len(printers), "each printer has columns and each kind with columns has a printer")
	for kind, l := range layouts() {
		t.Run(kind, func(t *testing.T) {
			cells := l.Cells(map[string]any{}, time.Now())
			if kind == "networking.k8s.io/IPAddress" {
				cells = cells[:2] // its age has no column
			}
			assert.Len(t, cells, len(l.Columns))
			for _, c := range l.Columns {
				assert.NotContains(t, c.Description, "@name")
			}
		})
	}
}
