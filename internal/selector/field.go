package selector

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Fields is a field selector. The zero value selects everything.
type Fields struct {
	requirements []FieldRequirement
}

// A FieldRequirement compares a field with a value. Operator is [Equals] or
// [NotEquals].
type FieldRequirement struct {
	Field    string
	Operator Operator
	Value    string
}

// ParseFields parses a field selector, such as the fieldSelector parameter of a
// list. Terms are sorted as text. Empty terms, and terms that compare the empty
// field with the empty value, are dropped: "", "," and "=" all select
// everything.
//
// The error has kube-apiserver's message about the first invalid term in sorted
// order.
func ParseFields(s string) (Fields, error) {
	terms := splitTerms(s)
	slices.Sort(terms)
	var requirements []FieldRequirement
	for _, term := range terms {
		if term == "" {
			continue
		}
		r, ok := splitTerm(term)
		if !ok {
			return Fields{}, fmt.Errorf("invalid selector: '%s'; can't understand '%s'", s, term)
		}
		var err error
		if r.Value, err = unescape(r.Value); err != nil {
			return Fields{}, fmt.Errorf("invalid field selector: %w", err)
		}
		if r.Field != "" || r.Value != "" {
			requirements = append(requirements, r)
		}
	}
	return Fields{requirements}, nil
}

// splitTerms splits s at unescaped commas.
func splitTerms(s string) []string {
	var terms []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ',':
			terms = append(terms, s[start:i])
			start = i + 1
		}
	}
	return append(terms, s[start:])
}

// splitTerm splits a term at its first operator. The value is still escaped.
func splitTerm(term string) (FieldRequirement, bool) {
	field, value, ok := strings.Cut(term, "=")
	if !ok {
		return FieldRequirement{}, false
	}
	if before, negated := strings.CutSuffix(field, "!"); negated {
		return FieldRequirement{before, NotEquals, value}, true
	}
	return FieldRequirement{field, Equals, strings.TrimPrefix(value, "=")}, true
}

// unescape removes the backslashes of a value.
func unescape(value string) (string, error) {
	if !strings.ContainsAny(value, `\,=`) {
		return value, nil
	}
	var b strings.Builder
	escaped := false
	for _, c := range value {
		special := c == '\\' || c == ',' || c == '='
		switch {
		case escaped && !special:
			return "", fmt.Errorf(`invalid escape sequence: \%c`, c)
		case !escaped && c == '\\':
			escaped = true
			continue
		case !escaped && special:
			// kube-apiserver prints the character's number.
			return "", fmt.Errorf("unescaped character in value: %d", c)
		}
		b.WriteRune(c)
		escaped = false
	}
	if escaped {
		return "", errors.New(`invalid escape sequence: \`)
	}
	return b.String(), nil
}

var escaper = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `=`, `\=`)

// Transform returns a selector whose fields and values are the results of fn,
// called for each requirement in order. fn returns an error for an unknown
// field, another name for an alias, and two empty strings to drop a
// requirement. Transform stops at the first error and returns it unchanged.
func (s Fields) Transform(fn func(field, value string) (newField, newValue string, err error)) (Fields, error) {
	var requirements []FieldRequirement
	for _, r := range s.requirements {
		field, value, err := fn(r.Field, r.Value)
		if err != nil {
			return Fields{}, err
		}
		if field != "" || value != "" {
			requirements = append(requirements, FieldRequirement{field, r.Operator, value})
		}
	}
	return Fields{requirements}, nil
}

// Empty reports whether s selects everything.
func (s Fields) Empty() bool {
	return len(s.requirements) == 0
}

// Matches reports whether s selects an object whose fields get returns. A field
// that the object lacks is "".
func (s Fields) Matches(get func(field string) string) bool {
	for _, r := range s.requirements {
		if (get(r.Field) == r.Value) != (r.Operator == Equals) {
			return false
		}
	}
	return true
}

// RequiresExactMatch returns the value that field must have for s to match, if
// s has such a requirement. It returns the first of several; the selector then
// matches nothing unless they agree.
func (s Fields) RequiresExactMatch(field string) (value string, ok bool) {
	for _, r := range s.requirements {
		if r.Field == field && r.Operator == Equals {
			return r.Value, true
		}
	}
	return "", false
}

// Requirements returns the requirements of s in order. The caller must not
// change the slice.
func (s Fields) Requirements() []FieldRequirement {
	return s.requirements
}

// String returns the canonical form of s: field=value or field!=value, values
// escaped, separated by commas. Parsing it gives a selector of the same
// requirements, in the order of their canonical forms.
func (s Fields) String() string {
	var b strings.Builder
	for i, r := range s.requirements {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(r.Field)
		b.WriteString(string(r.Operator))
		b.WriteString(escaper.Replace(r.Value))
	}
	return b.String()
}
