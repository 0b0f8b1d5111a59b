// Package printable makes text that others wrote safe to print. A name, a message or a
// header can have bytes that move the cursor of a terminal, change its title, reverse the
// direction of the text, or begin a new line that looks like one of this program.
package printable

import (
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Line returns text for a part of one line. It replaces each rune that [strconv.IsPrint]
// does not accept by its escape sequence in Go: \n, \x1b, \u202e. Invalid UTF-8 becomes \xff.
func Line(text string) string { return escape(text, "") }

// Text returns text of several lines: Line, except that newlines and tabs stay.
func Text(text string) string { return escape(text, "\n\t") }

// Writer returns a writer that writes to w what [Text] returns for each text that is written to
// it. A rune may be split between two writes.
func Writer(w io.Writer) io.Writer { return &writer{w: w} }

// Unwrap returns the writer to which a writer of [Writer] writes, for text that has colors or is
// escaped already, and another writer as it is.
func Unwrap(w io.Writer) io.Writer {
	if p, ok := w.(*writer); ok {
		return p.w
	}
	return w
}

type writer struct {
	w io.Writer

	mu   sync.Mutex // guards rest, and writes
	rest []byte     // the beginning of a rune
}

// Write implements [io.Writer].
func (w *writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := append(w.rest, b...)
	whole := len(all) - partialRune(all)
	w.rest = append([]byte(nil), all[whole:]...)
	if _, err := io.WriteString(w.w, Text(string(all[:whole]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// partialRune returns how many bytes at the end of b are the beginning of a rune.
func partialRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// escape replaces what is not printable, except the runes of keep.
func escape(text, keep string) string {
	i := indexUnprintable(text, keep)
	if i < 0 {
		return text
	}
	b := make([]byte, 0, len(text)+16)
	for i >= 0 {
		b = append(b, text[:i]...)
		_, size := utf8.DecodeRuneInString(text[i:])
		quoted := strconv.Quote(text[i : i+size])
		b = append(b, quoted[1:len(quoted)-1]...)
		text = text[i+size:]
		i = indexUnprintable(text, keep)
	}
	return string(append(b, text...))
}

// indexUnprintable returns the index of the first rune to escape, -1 if there is none.
func indexUnprintable(text, keep string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
		if !strconv.IsPrint(r) && !strings.ContainsRune(keep, r) {
			return i
		}
	}
	return -1
}
