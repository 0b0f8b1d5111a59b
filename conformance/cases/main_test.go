package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	for _, row := range []struct {
		name, dir string
		cases     []string
		different int
		err       string
	}{
		{"alike", "testdata", []string{"alike"}, 0, ""},
		{"different", "testdata", []string{"alike", "different"}, 1, ""},
		{"no such case", "testdata", []string{"alike", "other"}, 0, "no case other in testdata"},
		{"a script that fails", "testdata", nil, 0, "broken: exit status 3"},
		{"no cases", "testdata/alike", nil, 0, "no folder of testdata/alike has a requests.sh"},
	} {
		t.Run(row.name, func(t *testing.T) {
			different, err := run(t.Context(), row.dir, "http://example.com", row.cases)
			if row.err != "" {
				assert.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.different, different)
		})
	}
}

func TestCompare(t *testing.T) {
	for _, row := range []struct{ name, want, got, difference string }{
		{"equal", "a\nb\n", "a\nb\n", ""},
		{"other", "a\nb\n", "a\nc\n", "  line 2\n  - b\n  + c\n"},
		{"more", "a\n", "a\nb\n", "  line 2\n  - \n  + b\n"},
		{"less", "a\nb\n", "a\n", "  line 2\n  - b\n  + \n"},
		{"no end of the line", "a\n", "a", "  line 1\n  - a\n  + a\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.difference, compare(row.want, row.got))
		})
	}
}
