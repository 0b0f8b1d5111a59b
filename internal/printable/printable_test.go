package printable_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/printable"
)

func TestEscapes(t *testing.T) {
	for _, row := range []struct{ name, in, line, text string }{
		{"empty", "", "", ""},
		{"plain", `spec.replicas 1 → 5, "ä" \x 日本`, `spec.replicas 1 → 5, "ä" \x 日本`, `spec.replicas 1 → 5, "ä" \x 日本`},
		{"ESC and BEL", "\x1b]0;title\a", `\x1b]0;title\a`, `\x1b]0;title\a`},
		{"lines", "a\r\nb\tc\n", `a\r\nb\tc\n`, "a\\r\nb\tc\n"},
		{"NUL and DEL", "\x00\x7f", `\x00\x7f`, `\x00\x7f`},
		{"C1 control", "\u009b31m", `\u009b31m`, `\u009b31m`},
		{"byte of a C1 control", "\x9b31m", `\x9b31m`, `\x9b31m`},
		{"directions", "\u202eabc\u2066", `\u202eabc\u2066`, `\u202eabc\u2066`},
		{"line separators", "a\u2028b\u0085", `a\u2028b\u0085`, `a\u2028b\u0085`},
		{"invisible", "a\u200bb\ufeff", `a\u200bb\ufeff`, `a\u200bb\ufeff`},
		{"tag", "\U000e0041", `\U000e0041`, `\U000e0041`},
		{"invalid UTF-8", "a\xff\xc3", `a\xff\xc3`, `a\xff\xc3`},
		{"replacement character", "a\ufffd", "a\ufffd", "a\ufffd"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.line, printable.Line(row.in))
			assert.Equal(t, row.text, printable.Text(row.in))
		})
	}
}

func TestWriter(t *testing.T) {
	const text = "a\tä\x1b日本\u202e\n\xff"
	for size := 1; size <= len(text); size++ {
		var b strings.Builder
		w := printable.Writer(&b)
		for rest := text; rest != ""; {
			part := rest[:min(size, len(rest))]
			rest = rest[len(part):]
			n, err := w.Write([]byte(part))
			require.NoError(t, err)
			assert.Equal(t, len(part), n)
		}
		assert.Equal(t, "a\tä\\x1b日本\\u202e\n\\xff", b.String(), size)
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, in string) {
		line := printable.Line(in)
		assert.True(t, utf8.ValidString(line))
		assert.Equal(t, -1, strings.IndexFunc(line, func(r rune) bool { return !strconv.IsPrint(r) }), "%q", line)
		assert.Equal(t, line, printable.Line(line))
	})
}
