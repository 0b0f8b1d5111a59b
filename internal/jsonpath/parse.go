package jsonpath

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// order compares two scalars of the same type. Booleans are only compared for
// equality.
func order(a, b any) (int, error) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), nil
		}
	case bool:
		if b, ok := b.(bool); ok {
			if a == b {
				return 0, nil
			}
			return 1, nil
		}
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b), nil
		}
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b), nil
		}
	}
	return 0, errors.New("incompatible types for comparison")
}

// Parse parses a path.
func Parse(text string) (*Path, error) {
	p := &parser{rest: text}
	if err := p.path(); err != nil {
		return nil, err
	}
	return &p.out, nil
}

// A parser parses a path.
type parser struct {
	rest string
	out  Path
}

func (p *parser) add(s step) { p.out.steps = append(p.out.steps, s) }

func (p *parser) path() error {
	for p.rest != "" {
		if err := p.step(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) step() error {
	switch c := p.rest[0]; {
	case strings.HasPrefix(p.rest, "[?("):
		return p.filter()
	case strings.HasPrefix(p.rest, ".."):
		return p.descent()
	case c == ' ' || c == '@' || c == '$':
		p.rest = p.rest[1:]
		return nil
	case c == '[':
		return p.brackets()
	case c == '"' || c == '\'':
		return p.quoted(c)
	case c == '.':
		p.rest = p.rest[1:]
		return p.field()
	case c == '+' || c == '-' || '0' <= c && c <= '9':
		return p.number()
	case isWord(c):
		word := p.take(func(c byte) bool { return isWord(c) })
		switch word {
		case "true", "false":
			p.add(constant(word == "true"))
		default:
			p.add(identifier(word))
		}
		return nil
	}
	return fmt.Errorf("unrecognized character in action: %q", p.rest[:1])
}

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// take consumes the longest prefix of accepted bytes.
func (p *parser) take(accept func(c byte) bool) string {
	i := 0
	for i < len(p.rest) && accept(p.rest[i]) {
		i++
	}
	taken := p.rest[:i]
	p.rest = p.rest[i:]
	return taken
}

// field parses a name. A backslash escapes a character that would end it.
func (p *parser) field() error {
	var name strings.Builder
	for p.rest != "" && !strings.ContainsRune(" .,[]$@{}()=!<>\n\r\t", rune(p.rest[0])) {
		if p.rest[0] == '\\' && len(p.rest) > 1 {
			p.rest = p.rest[1:]
		}
		name.WriteByte(p.rest[0])
		p.rest = p.rest[1:]
	}
	switch name.String() {
	case "*":
		p.add(wildcard)
	case "":
		if p.rest != "" && p.rest[0] != '[' && p.rest[0] != ' ' {
			return fmt.Errorf("unrecognized character in action: %q", p.rest[:1])
		}
	default:
		p.add(field(name.String()))
	}
	return nil
}

func (p *parser) descent() error {
	p.rest = p.rest[2:]
	if strings.HasPrefix(p.rest, "..") {
		return errors.New("invalid multiple recursive descent")
	}
	p.add(descend)
	if p.rest != "" && isWord(p.rest[0]) {
		return p.field()
	}
	return nil
}

func (p *parser) quoted(quote byte) error {
	for i := 1; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '\\':
			i++
		case quote:
			text := p.rest[1:i]
			p.rest = p.rest[i+1:]
			p.add(constant(strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`).Replace(text)))
			return nil
		}
	}
	return errors.New("unterminated quoted string")
}

func (p *parser) number() error {
	text := p.take(func(c byte) bool { return c == '+' || c == '-' || c == '.' || '0' <= c && c <= '9' })
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		p.add(constant(n))
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("cannot parse number %s", text)
	}
	p.add(constant(f))
	return nil
}

// slice matches an index, or up to three numbers separated by colons.
var slice = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-?\d*)(?:(:)(-?\d*)(?::(-?\d*))?)?$`) })

func (p *parser) brackets() error {
	end := strings.IndexByte(p.rest, ']')
	if end < 0 {
		return errors.New("unterminated array")
	}
	text := p.rest[1:end]
	p.rest = p.rest[end+1:]
	if parts := strings.Split(text, ","); len(parts) > 1 {
		var paths []*Path
		for _, part := range parts {
			path, err := Parse("[" + strings.Trim(part, " ") + "]")
			if err != nil {
				return err
			}
			paths = append(paths, path)
		}
		p.add(union(paths))
		return nil
	}
	if len(text) >= 2 && text[0] == '\'' && strings.IndexByte(text[1:], '\'') == len(text)-2 {
		key, err := Parse("." + text[1:len(text)-1])
		if err != nil {
			return err
		}
		p.out.steps = append(p.out.steps, key.steps...)
		return nil
	}
	if text == "*" {
		text = ":"
	}
	m := slice().FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("invalid array index %s", text)
	}
	var bounds [3]bound
	for i, digits := range []string{m[1], m[3], m[4]} {
		if digits == "" {
			continue
		}
		n, err := strconv.Atoi(digits)
		if err != nil {
			return fmt.Errorf("array index %s is not a number", digits)
		}
		bounds[i] = bound{n, true}
	}
	p.add(elements(bounds[0], bounds[1], bounds[2], m[2] == ""))
	return nil
}

// operators are the operators of filters, longer ones first.
var operators = []string{"==", "!=", "<=", ">=", "<", ">"}

func (p *parser) filter() error {
	end := closing(p.rest)
	if end < 0 || !strings.HasPrefix(p.rest[end:], ")]") {
		return errors.New("unterminated filter")
	}
	text := p.rest[len("[?("):end]
	p.rest = p.rest[end+len(")]"):]
	left, operator, right := text, "", ""
	for i := 0; i < len(text) && operator == ""; i++ {
		if c := text[i]; c == '\'' || c == '"' {
			if skip := strings.IndexByte(text[i+1:], c); skip >= 0 {
				i += skip + 1
			}
			continue
		}
		for _, o := range operators {
			if strings.HasPrefix(text[i:], o) {
				left, operator, right = text[:i], o, text[i+len(o):]
				break
			}
		}
	}
	l, err := Parse(strings.TrimSpace(left))
	if err != nil {
		return err
	}
	r, err := Parse(strings.TrimSpace(right))
	if err != nil {
		return err
	}
	p.add(filter(l, operator, r))
	return nil
}

// closing returns the position of the parenthesis that closes the one at the
// start of the text, -1 if there is none.
func closing(text string) int {
	depth := 0
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
