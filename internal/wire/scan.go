package wire

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// peek returns the next byte, 0 at the end. No token begins with 0.
func (d *decoder) peek() byte {
	if d.pos < len(d.src) {
		return d.src[d.pos]
	}
	return 0
}

// space consumes white space.
func (d *decoder) space() {
	for d.pos < len(d.src) {
		switch d.src[d.pos] {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return
		}
	}
}

// literal consumes a word. It reports whether the word was there.
func (d *decoder) literal(word string) bool {
	if !strings.HasPrefix(d.src[d.pos:], word) {
		return false
	}
	d.pos += len(word)
	return true
}

// number consumes a number and returns its text.
func (d *decoder) number() (literal string, ok bool) {
	start := d.pos
	if d.peek() == '-' {
		d.pos++
	}
	if d.peek() == '0' {
		d.pos++
	} else if !d.digits() {
		return "", false
	}
	if d.peek() == '.' {
		d.pos++
		if !d.digits() {
			return "", false
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		d.pos++
		if c := d.peek(); c == '+' || c == '-' {
			d.pos++
		}
		if !d.digits() {
			return "", false
		}
	}
	return d.src[start:d.pos], true
}

// digits consumes digits. It reports whether there were any.
func (d *decoder) digits() bool {
	start := d.pos
	for c := d.peek(); '0' <= c && c <= '9'; c = d.peek() {
		d.pos++
	}
	return d.pos > start
}

// string consumes a quoted string and returns its value. The value is a part of
// the source unless the string contains escapes or invalid UTF-8.
func (d *decoder) string() (s string, ok bool) {
	src := d.src
	start := d.pos + 1
	ascii := true
	for i := start + plainPrefix(src[start:]); i < len(src); i += 1 + plainPrefix(src[i+1:]) {
		switch c := src[i]; {
		case c == '"':
			d.pos = i + 1
			s = src[start:i]
			if !ascii && !utf8.ValidString(s) {
				s = string([]rune(s)) // a replacement character for each invalid byte
			}
			return s, true
		case c == '\\':
			if !ascii {
				i = start // the bytes before may be invalid
			}
			return d.escaped(start, i)
		case c < ' ':
			return "", false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return "", false
}

// escaped is string for a string that starts at start, is ASCII up to i and
// contains backslashes after that.
func (d *decoder) escaped(start, i int) (s string, ok bool) {
	src := d.src
	var b strings.Builder
	b.Grow(i - start + indexQuote(src[i:]))
	b.WriteString(src[start:i])
	for i < len(src) {
		run := i
		i += plainPrefix(src[i:])
		b.WriteString(src[run:i])
		switch {
		case i == len(src):
		case src[i] == '"':
			d.pos = i + 1
			return b.String(), true
		case src[i] == '\\':
			r, size, ok := unescape(src[i:])
			if !ok {
				return "", false
			}
			b.WriteRune(r)
			i += size
		case src[i] < ' ':
			return "", false
		default:
			r, size := utf8.DecodeRuneInString(src[i:])
			b.WriteRune(r)
			i += size
		}
	}
	return "", false
}

// indexQuote returns the index of the quote that ends a string, the length of s if there
// is none.
func indexQuote(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return len(s)
}

// skipString consumes a quoted string. It reports false where string does.
func (d *decoder) skipString() bool {
	src := d.src
	for i := d.pos + 1; i < len(src); {
		i += plainPrefix(src[i:])
		if i == len(src) {
			break
		}
		switch c := src[i]; {
		case c == '"':
			d.pos = i + 1
			return true
		case c == '\\':
			_, size, ok := unescape(src[i:])
			if !ok {
				return false
			}
			i += size
		case c < ' ':
			return false
		default:
			i++
		}
	}
	return false
}

// unescape decodes the escape at the start of s.
func unescape(s string) (r rune, size int, ok bool) {
	if len(s) < 2 {
		return 0, 0, false
	}
	if s[1] == 'u' {
		return unescapeRune(s)
	}
	at := strings.IndexByte(`"\/bfnrt`, s[1])
	if at < 0 {
		return 0, 0, false
	}
	return rune("\"\\/\b\f\n\r\t"[at]), 2, true
}

// unescapeRune decodes the \u escape at the start of s, or the two escapes of a
// surrogate pair. Half a pair is a replacement character.
func unescapeRune(s string) (r rune, size int, ok bool) {
	r, ok = hexRune(s)
	if !ok || !utf16.IsSurrogate(r) {
		return r, 6, ok
	}
	if low, ok := hexRune(s[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12, true
		}
	}
	return utf8.RuneError, 6, true
}

// hexRune decodes the \uXXXX at the start of s.
func hexRune(s string) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for _, c := range []byte(s[2:6]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
