package selector

import (
	"fmt"
	"slices"
	"strings"
)

// ParseLabels parses a label selector, such as the labelSelector parameter of a
// list. Blanks between tokens are ignored. The empty string selects everything.
//
// The error has kube-apiserver's message. It is about the first invalid
// requirement, with all problems of its key and values.
func ParseLabels(s string) (Labels, error) {
	p := parser{rest: s}
	p.advance()
	var requirements []Requirement
	for p.token != "" {
		if !p.token.isWord() && p.token != "!" {
			return Labels{}, fmt.Errorf("found '%s', expected: !, identifier, or 'end of string'", p.token)
		}
		r, err := p.requirement()
		if err != nil {
			return Labels{}, fmt.Errorf("unable to parse requirement: %w", err)
		}
		requirements = append(requirements, r)
		if p.token == "" {
			break
		}
		if p.token != "," {
			return Labels{}, fmt.Errorf("found '%s', expected: ',' or 'end of string'", p.token)
		}
		p.advance()
		if !p.token.isWord() && p.token != "!" {
			return Labels{}, fmt.Errorf("found '%s', expected: identifier after ','", p.token)
		}
	}
	return newLabels(requirements), nil
}

// A token is a word or one of the symbols ! = == != > < ( ) and comma. The
// empty token is the end of the input. The words "in" and "notin" are operators
// where an operator is expected, and names everywhere else.
type token string

func (t token) isWord() bool {
	return t != "" && !isSymbol(t[0])
}

func isSymbol(c byte) bool {
	return strings.IndexByte("=!(),><", c) >= 0
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

// A parser looks one token ahead.
type parser struct {
	token token
	rest  string
}

// advance reads the next token. A NUL byte ends a token and is skipped; at the
// start of a token it ends the input.
func (p *parser) advance() {
	s := p.rest
	for s != "" && isBlank(s[0]) {
		s = s[1:]
	}
	if s == "" || s[0] == 0 {
		p.token, p.rest = "", ""
		return
	}
	n := 1
	if isSymbol(s[0]) {
		if strings.HasPrefix(s, "==") || strings.HasPrefix(s, "!=") {
			n = 2
		}
	} else {
		for n < len(s) && s[n] != 0 && !isSymbol(s[n]) && !isBlank(s[n]) {
			n++
		}
	}
	p.token, p.rest = token(s[:n]), s[n:]
	p.rest = strings.TrimPrefix(p.rest, "\x00")
}

// take returns the current token and advances.
func (p *parser) take() token {
	t := p.token
	p.advance()
	return t
}

func (p *parser) requirement() (Requirement, error) {
	negated := p.token == "!"
	if negated {
		p.advance()
	}
	if !p.token.isWord() {
		return Requirement{}, fmt.Errorf("found '%s', expected: identifier", p.token)
	}
	key := string(p.take())
	if texts := keyProblems(key); len(texts) > 0 {
		// kube-apiserver prints the path to the key, which is nil.
		var invalid problems
		invalid.add("<nil>", key, strings.Join(texts, "; "))
		return Requirement{}, invalid.err()
	}
	if negated {
		return newRequirement(key, DoesNotExist, nil)
	}
	if p.token == "" || p.token == "," {
		return newRequirement(key, Exists, nil)
	}
	op, err := p.operator()
	if err != nil {
		return Requirement{}, err
	}
	var values []string
	if op == In || op == NotIn {
		values, err = p.values()
	} else {
		values, err = p.value()
	}
	if err != nil {
		return Requirement{}, err
	}
	return newRequirement(key, op, values)
}

func (p *parser) operator() (Operator, error) {
	switch t := p.take(); t {
	case "in", "notin", "=", "==", "!=":
		return Operator(t), nil
	case ">":
		return GreaterThan, nil
	case "<":
		return LessThan, nil
	default:
		return "", fmt.Errorf("found '%s', expected: in, notin, =, ==, !=, gt, lt", t)
	}
}

// value parses the operand of an operator. A missing operand is the empty
// value.
func (p *parser) value() ([]string, error) {
	if p.token == "" || p.token == "," {
		return []string{""}, nil
	}
	t := p.take()
	if !t.isWord() {
		return nil, fmt.Errorf("found '%s', expected: identifier", t)
	}
	return []string{string(t)}, nil
}

// values parses a parenthesized list and returns it sorted and without
// duplicates. A missing value before, between or after commas is the empty
// value.
func (p *parser) values() ([]string, error) {
	if t := p.take(); t != "(" {
		return nil, fmt.Errorf("found '%s' expected: '('", t)
	}
	if !p.token.isWord() && p.token != "," && p.token != ")" {
		return nil, fmt.Errorf("found '%s', expected: ',', ')' or identifier", p.token)
	}
	var values []string
	for {
		value := ""
		if p.token.isWord() {
			value = string(p.take())
			if p.token != "," && p.token != ")" {
				return nil, fmt.Errorf("found '%s', expected: ',' or ')'", p.token)
			}
		} else if p.token != "," && p.token != ")" {
			return nil, fmt.Errorf("found '%s', expected: ',', or identifier", p.token)
		}
		values = append(values, value)
		if p.take() == ")" {
			slices.Sort(values)
			return slices.Compact(values), nil
		}
	}
}
