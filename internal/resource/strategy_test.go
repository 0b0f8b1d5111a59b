package resource

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTimesOfMetaChecks(t *testing.T) {
	for _, tt := range []struct {
		name          string
		checks        MetaChecks
		whole         bool
		update, asNew int
	}{
		{"as an update", MetaAsUpdate, true, 1, 0},
		{"a status as an update", MetaAsUpdate, false, 1, 0},
		{"as new, too", MetaAsNew, true, 1, 1},
		{"a status of such", MetaAsNew, false, 1, 0},
		{"once", MetaOnce, true, 0, 0},
		{"only as new", MetaOnlyAsNew, true, 0, 1},
		{"a status of such, too", MetaOnlyAsNew, false, 0, 0},
		{"twice as new", MetaTwiceAsNew, true, 0, 2},
		{"a status of a volume", MetaTwiceAsNew, false, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			update, asNew := tt.checks.Times(tt.whole)
			assert.Equal(t, [2]int{tt.update, tt.asNew}, [2]int{update, asNew})
		})
	}
}
