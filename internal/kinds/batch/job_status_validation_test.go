package batch

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseIndexes(t *testing.T) {
	for _, row := range []struct {
		text string
		want indexes
		err  string
	}{
		{"", nil, ""},
		{"0,2-4", indexes{{0, 0}, {2, 4}}, ""},
		{"1-2-3", nil, `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`},
		{"3-3", nil, `non-increasing order, previous: 3, current: 3`},
		{"9", nil, `too large index: "9"`},
		{"4,2", indexes{{4, 4}, {2, 2}}, `non-increasing order, previous: 4, current: 2`},
	} {
		t.Run(row.text, func(t *testing.T) {
			got, err := parseIndexes(row.text, 9)
			assert.Equal(t, row.want, got)
			if row.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, row.err)
			}
		})
	}
}
