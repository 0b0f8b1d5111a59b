package schema

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A reader reads JSON sequentially. OpenAPI documents have hundreds of kilobytes, most of
// which is not needed, and the start of a server waits for them: the reader skips values
// without decoding them.
//
// The methods report false if the text is not what they expect. The reader cannot be used
// after that.
type reader struct {
	text string
	pos  int
}

// token consumes white space and returns the byte after it, 0 at the end.
func (r *reader) token() byte {
	for ; r.pos < len(r.text); r.pos++ {
		switch c := r.text[r.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// accept consumes c if it is the next token.
func (r *reader) accept(c byte) bool {
	if r.token() != c {
		return false
	}
	r.pos++
	return true
}

// object reads an object. It calls member for each member, which must read or skip the
// value.
func (r *reader) object(member func(name string) bool) bool {
	if !r.accept('{') {
		return false
	}
	if r.accept('}') {
		return true
	}
	for {
		var name string
		if !r.string(&name) || !r.accept(':') || !member(name) {
			return false
		}
		if !r.accept(',') {
			return r.accept('}')
		}
	}
}

// array reads an array. It calls element for each element, which must read or skip it.
func (r *reader) array(element func() bool) bool {
	if !r.accept('[') {
		return false
	}
	if r.accept(']') {
		return true
	}
	for {
		if !element() {
			return false
		}
		if !r.accept(',') {
			return r.accept(']')
		}
	}
}

// string reads a string.
func (r *reader) string(to *string) bool {
	if r.token() != '"' {
		return false
	}
	start := r.pos
	if !r.skipString() {
		return false
	}
	quoted := r.text[start:r.pos]
	if strings.IndexByte(quoted, '\\') < 0 {
		*to = quoted[1 : len(quoted)-1]
		return true
	}
	return json.Unmarshal([]byte(quoted), to) == nil
}

// strings reads an array of strings.
func (r *reader) strings(to *[]string) bool {
	return r.array(func() bool {
		var s string
		ok := r.string(&s)
		*to = append(*to, s)
		return ok
	})
}

// bool reads true or false.
func (r *reader) bool(to *bool) bool {
	r.token()
	start := r.pos
	r.skipWord()
	word := r.text[start:r.pos]
	*to = word == "true"
	return *to || word == "false"
}

// value reads any value. Numbers become int64 if possible, else float64.
func (r *reader) value(to *any) bool {
	switch r.token() {
	case '{':
		obj := map[string]any{}
		*to = obj
		return r.object(func(name string) bool {
			var v any
			ok := r.value(&v)
			obj[name] = v
			return ok
		})
	case '[':
		list := []any{}
		ok := r.array(func() bool {
			var v any
			ok := r.value(&v)
			list = append(list, v)
			return ok
		})
		*to = list
		return ok
	case '"':
		var s string
		ok := r.string(&s)
		*to = s
		return ok
	}
	start := r.pos
	r.skipWord()
	word := r.text[start:r.pos]
	if i, err := strconv.ParseInt(word, 10, 64); err == nil {
		*to = i
		return json.Valid([]byte(word)) // +1 and 01 are not valid
	}
	return json.Unmarshal([]byte(word), to) == nil
}

// skip skips a value. It counts brackets and does not detect errors between them.
func (r *reader) skip() bool {
	for depth := 0; ; {
		switch r.token() {
		case 0:
			return false
		case '"':
			if !r.skipString() {
				return false
			}
		case '{', '[':
			r.pos++
			depth++
		case '}', ']':
			r.pos++
			depth--
		case ',', ':':
			if depth == 0 {
				return false
			}
			r.pos++
			continue
		default:
			r.skipWord()
		}
		if depth <= 0 {
			return depth == 0
		}
	}
}

// skipWord skips a number, true, false or null.
func (r *reader) skipWord() {
	for ; r.pos < len(r.text); r.pos++ {
		switch r.text[r.pos] {
		case ' ', '\t', '\r', '\n', ',', ':', '"', '{', '[', '}', ']':
			return
		}
	}
}

// skipString skips a string.
func (r *reader) skipString() bool {
	for r.pos++; r.pos < len(r.text); r.pos++ {
		switch r.text[r.pos] {
		case '"':
			r.pos++
			return true
		case '\\':
			r.pos++
		}
	}
	return false
}
