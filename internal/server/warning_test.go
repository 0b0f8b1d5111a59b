package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Warnings that are too many together are cut short each, and end where they are
// too many even so.
func TestWarnings(t *testing.T) {
	long := func(i int) string { return fmt.Sprintf("%03d", i) + strings.Repeat("é", 297) }
	warned := func(n int) []string {
		h, w := http.Header{}, warnings{}
		for i := range n {
			w.add(h, long(i))
			w.add(h, long(i)) // once only
		}
		return h["Warning"]
	}
	quoted := func(text string) string { return `299 - "` + text + `"` }
	cut := func(text string) string { return string([]rune(text)[:256]) }

	whole := warned(13)
	assert.Len(t, whole, 13)
	assert.Equal(t, quoted(long(12)), whole[12])

	short := warned(14)
	assert.Len(t, short, 14)
	assert.Equal(t, quoted(cut(long(0))), short[0])
	assert.Equal(t, quoted(cut(long(13))), short[13])

	assert.Len(t, warned(40), 16)
}
