package storage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFieldValues(t *testing.T) {
	for _, row := range []struct {
		name   string
		values []string
	}{
		{"none", nil},
		{"one", []string{"a"}},
		{"empty", []string{"", "", "a", ""}},
		{"lengths of one byte and of two", []string{strings.Repeat("a", 127), strings.Repeat("b", 128), strings.Repeat("c", 1<<14-1)}},
		{"a length of three bytes", []string{"a", strings.Repeat("b", 1<<14), "c"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			joined := JoinFields(row.values)
			for i, want := range row.values {
				assert.Equal(t, want, joined.At(i))
			}
			assert.Panics(t, func() { joined.At(len(row.values)) })
		})
	}
}
