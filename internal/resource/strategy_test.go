package resource

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTimesOfMetadataValidation(t *testing.T) {
	for _, tt := range []struct {
		name          string
		checks        MetadataValidation
		whole         bool
		update, asNew int
	}{
		{"as an update", MetadataUpdate, true, 1, 0},
		{"a status as an update", MetadataUpdate, false, 1, 0},
		{"as new, too", MetadataUpdateAndCreate, true, 1, 1},
		{"a status of such", MetadataUpdateAndCreate, false, 1, 0},
		{"once", MetadataNone, true, 0, 0},
		{"only as new", MetadataCreate, true, 0, 1},
		{"a status of such, too", MetadataCreate, false, 0, 0},
		{"twice as new", MetadataCreateTwice, true, 0, 2},
		{"a status of a volume", MetadataCreateTwice, false, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			update, asNew := tt.checks.Times(tt.whole)
			assert.Equal(t, [2]int{tt.update, tt.asNew}, [2]int{update, asNew})
		})
	}
}
