package jsonpath

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Parse parses a path. Its errors have the texts of kubectl's.
func Parse(text string) (*Path, error) {
	p := parser{rest: text + "}"}
	steps, err := p.action()
	if err != nil {
		return nil, err
	}
	out := &Path{steps: steps}
	for {
		// A path may close the braces around it and open further ones. What is in them is no part
		// of the result.
		i := strings.IndexByte(p.rest, '{')
		if i < 0 {
			return out, nil
		}
		p.rest = p.rest[i+1:]
		steps, err := p.action()
		if err != nil {
			return nil, err
		}
		out.further = append(out.further, &Path{steps: steps})
	}
}

// parsePart parses a path within another one.
func parsePart(text string) (*Path, error) {
	p, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return &Path{steps: p.steps}, nil
}

// A parser parses what is between two braces.
type parser struct {
	rest  string
	steps []step
	// descends is set while the last step is a descent.
	descends bool
}

func (p *parser) add(s ...step) {
	p.steps = append(p.steps, s...)
	p.descends = false
}

// take removes and returns the longest prefix of accepted characters.
func (p *parser) take(accept func(r rune) bool) string {
	end := strings.IndexFunc(p.rest, func(r rune) bool { return !accept(r) })
	if end < 0 {
		end = len(p.rest)
	}
	taken := p.rest[:end]
	p.rest = p.rest[end:]
	return taken
}

// action parses up to the brace that closes the action.
func (p *parser) action() ([]step, error) {
	p.steps, p.descends = nil, false
	for {
		if rest, closed := strings.CutPrefix(p.rest, "}"); closed {
			p.rest = rest
			return p.steps, nil
		}
		if err := p.step(); err != nil {
			return nil, err
		}
	}
}

func (p *parser) step() error {
	if rest, ok := strings.CutPrefix(p.rest, "[?("); ok {
		p.rest = rest
		return p.filter()
	}
	if rest, ok := strings.CutPrefix(p.rest, ".."); ok {
		p.rest = rest
		return p.descent()
	}
	before := p.rest
	r, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	switch {
	case size == 0 || isEndOfLine(r):
		return errors.New("unclosed action")
	case r == ' ' || r == '@' || r == '$':
		return nil
	case r == '[':
		return p.brackets()
	case r == '"' || r == '\'':
		return p.quoted(r)
	case r == '.':
		p.field()
		return nil
	case r == '+' || r == '-' || unicode.IsDigit(r):
		p.rest = before
		return p.number()
	case isAlphanumeric(r):
		p.rest = before
		p.identifier()
		return nil
	default:
		return fmt.Errorf("unrecognized character in action: %#U", r)
	}
}

func isEndOfLine(r rune) bool { return r == '\r' || r == '\n' }

func isAlphanumeric(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// isTerminator reports whether a character ends a name.
func isTerminator(r rune) bool {
	return isEndOfLine(r) || strings.ContainsRune(" \t.,[]$@{}", r)
}

// identifier parses a word that no dot precedes.
func (p *parser) identifier() {
	word := p.take(func(r rune) bool { return !isTerminator(r) })
	switch word {
	case "true", "false":
		p.add(constant(word == "true"))
	default:
		p.add(identifier(word))
	}
}

// field parses a name. A backslash escapes a character that would end it.
func (p *parser) field() {
	end, escaped := len(p.rest), false
	for i, r := range p.rest {
		if !escaped && isTerminator(r) {
			end = i
			break
		}
		escaped = !escaped && r == '\\'
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	if name == "*" {
		p.add(wildcard)
	} else {
		p.add(field(strings.ReplaceAll(name, `\`, "")))
	}
}

func (p *parser) descent() error {
	if p.descends {
		return errors.New("invalid multiple recursive descent")
	}
	p.add(descend)
	if r, _ := utf8.DecodeRuneInString(p.rest); isAlphanumeric(r) {
		p.field()
		return nil
	}
	p.descends = true
	return nil
}

// quoted parses a text whose first quote is removed already.
func (p *parser) quoted(quote rune) error {
	var previous rune
	for i, r := range p.rest {
		switch {
		case r == '\n':
			return errors.New("unterminated quoted string")
		case r == quote && previous != '\\':
			text, ok := unquote(p.rest[:i], byte(quote))
			if !ok {
				return fmt.Errorf("unquote string %c%s error invalid syntax", quote, p.rest[:i+1])
			}
			p.rest = p.rest[i+1:]
			p.add(literal(text))
			return nil
		}
		previous = r
	}
	return errors.New("unterminated quoted string")
}

// unquote returns a text without the escapes of Go's strings.
func unquote(text string, quote byte) (string, bool) {
	var out strings.Builder
	for text != "" {
		r, multibyte, rest, err := strconv.UnquoteChar(text, quote)
		if err != nil {
			return "", false
		}
		text = rest
		if r < utf8.RuneSelf || !multibyte {
			out.WriteByte(byte(r))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String(), true
}

func (p *parser) number() error {
	sign := ""
	if p.rest[0] == '+' || p.rest[0] == '-' {
		sign, p.rest = p.rest[:1], p.rest[1:]
	}
	text := sign + p.take(func(r rune) bool { return r == '.' || unicode.IsDigit(r) })
	if n, err := strconv.Atoi(text); err == nil {
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
var slice = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-?\d*)(:-?\d*)?(:-?\d*)?$`) })

// brackets parses what is between two brackets, of which the first is removed already.
func (p *parser) brackets() error {
	end := strings.IndexAny(p.rest, "]\n")
	if end < 0 || p.rest[end] != ']' {
		return errors.New("unterminated array")
	}
	text := p.rest[:end]
	p.rest = p.rest[end+1:]
	if parts := strings.Split(text, ","); len(parts) > 1 {
		return p.union(parts)
	}
	if len(text) >= 2 && text[0] == '\'' && strings.IndexByte(text[1:], '\'') == len(text)-2 {
		key, err := parsePart("." + text[1:len(text)-1])
		if err != nil {
			return err
		}
		p.add(key.steps...)
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
	for i, digits := range m[1:] {
		digits = strings.TrimPrefix(digits, ":")
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

func (p *parser) union(parts []string) error {
	var paths []*Path
	for _, part := range parts {
		path, err := parsePart("[" + strings.Trim(part, " ") + "]")
		if err != nil {
			return err
		}
		paths = append(paths, path)
	}
	p.add(union(paths))
	return nil
}

// comparison matches two operands and the operator between them.
var comparison = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^!<>=]+)([!<>=]+)(.+?)$`) })

// filter parses up to the end of a filter.
func (p *parser) filter() error {
	text, err := p.filterText()
	if err != nil {
		return err
	}
	operands := []string{text, "", ""}
	if m := comparison().FindStringSubmatch(text); m != nil {
		operands = m[1:]
	}
	left, err := parsePart(operands[0])
	if err != nil {
		return err
	}
	right, err := parsePart(operands[2])
	if err != nil {
		return err
	}
	p.add(filter(left, operands[1], right))
	return nil
}

// filterText removes and returns what is in the parentheses of a filter. A parenthesis in the first
// quoted text does not close them.
func (p *parser) filterText() (string, error) {
	var pair, previous rune
	opened, closed := false, false
	for i, r := range p.rest {
		switch {
		case r == '\n':
			return "", errors.New("unterminated filter")
		case (r == '"' || r == '\'') && !opened:
			opened, pair = true, r
		case r == pair && opened && previous != '\\':
			closed = true
		case r == ')' && opened == closed:
			rest, ok := strings.CutPrefix(p.rest[i:], ")]")
			if !ok {
				return "", errors.New("unclosed array expect ]")
			}
			text := p.rest[:i]
			p.rest = rest
			return text, nil
		}
		previous = r
	}
	return "", errors.New("unterminated filter")
}
