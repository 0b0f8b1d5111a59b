package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/validation"
)

var (
	errPathEnd     = errors.New("unexpected end of JSON path")
	errPathNoField = errors.New("does not refer to a valid field")
)

// Descend returns the path and the schema of the field at a JSON path such as
// ".spec.replicas". With brackets, the form "['name']" is allowed too. Elements of arrays
// cannot be addressed.
func (s *Schema) Descend(jsonPath string, brackets bool) (*validation.Path, *Schema, error) {
	var path *validation.Path
	tokens := pathTokens{jsonPath}
	for token, ok := tokens.next(); ok; token, ok = tokens.next() {
		quoted := token == "["
		switch {
		case quoted && !brackets:
			return nil, nil, errors.New("array notation is not allowed")
		case !quoted && token != ".":
			return nil, nil, fmt.Errorf("expected [ or . but got: %s", token)
		}
		name, ok := tokens.next()
		if !ok {
			return nil, nil, errPathEnd
		}
		if quoted {
			var err error
			if name, err = unquote(name); err != nil {
				return nil, nil, err
			}
		}
		switch {
		case s != nil && s.Properties != nil:
			path, s = path.Child(name), s.Properties[name]
			if s == nil {
				return nil, nil, errPathNoField
			}
		case s != nil && s.Additional != nil:
			path, s = path.Key(name), s.Additional
		default:
			return nil, nil, errPathNoField
		}
		if !quoted {
			continue
		}
		switch end, ok := tokens.next(); {
		case !ok:
			return nil, nil, errPathEnd
		case end != "]":
			return nil, nil, fmt.Errorf("expected ] but got %s", end)
		}
	}
	return path, s, nil
}

// pathTokens splits a JSON path into dots, brackets and names.
type pathTokens struct{ rest string }

func (t *pathTokens) next() (token string, ok bool) {
	if t.rest == "" {
		return "", false
	}
	n := len(t.rest)
	if t.rest[0] == '\'' {
		for i := 1; i < n; i++ {
			if t.rest[i] == '\'' && t.rest[i-1] != '\\' {
				n = i + 1
				break
			}
		}
	} else if i := strings.IndexAny(t.rest, ".[]"); i >= 0 {
		n = max(i, 1)
	}
	token, t.rest = t.rest[:n], t.rest[n:]
	return token, true
}

// escapes has the characters that may follow a backslash, and their meanings.
var escapes = map[rune]rune{
	'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\'': '\'', '\\': '\\',
}

// unquote returns the name in single quotes.
func unquote(token string) (string, error) {
	if len(token) < 2 || token[0] != '\'' || token[len(token)-1] != '\'' {
		return "", fmt.Errorf("expected single quoted string but got %s", token)
	}
	var b strings.Builder
	escaped := false
	for _, c := range token[1 : len(token)-1] {
		if !escaped && c == '\\' {
			escaped = true
			continue
		}
		if escaped {
			r, ok := escapes[c]
			if !ok {
				return "", fmt.Errorf("invalid string literal: invalid escape char \\%c", c)
			}
			c = r
		}
		b.WriteRune(c)
		escaped = false
	}
	return b.String(), nil
}
