package selector

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A LabelSet is a set of labels that a selector is matched against.
type LabelSet interface {
	// Lookup returns the value of a label and whether the label is set.
	Lookup(key string) (value string, ok bool)
}

// A Map is the LabelSet of a plain map. A nil Map has no labels.
type Map map[string]string

var _ LabelSet = Map(nil)

// Lookup implements [LabelSet].
func (m Map) Lookup(key string) (value string, ok bool) {
	value, ok = m[key]
	return value, ok
}

// Labels is a label selector. The zero value selects everything.
type Labels struct {
	// requirements are sorted by key; those with the same key are in the order
	// of the text.
	requirements []Requirement
	nothing      bool
}

// Nothing returns the selector that matches no object.
func Nothing() Labels {
	return Labels{nothing: true}
}

// Empty reports whether s selects everything.
func (s Labels) Empty() bool {
	return len(s.requirements) == 0 && !s.nothing
}

// Matches reports whether s selects an object with the given labels.
func (s Labels) Matches(labels LabelSet) bool {
	for i := range s.requirements {
		if !s.requirements[i].matches(labels) {
			return false
		}
	}
	return !s.nothing
}

// Requirements returns the requirements of s, sorted by key. It is empty for
// [Nothing] as well as for the selector of everything. The caller must not
// change the slice.
func (s Labels) Requirements() []Requirement {
	return s.requirements
}

// String returns the canonical form of s: requirements sorted by key, values
// sorted, blanks only around "in" and "notin". Parsing it returns an equal
// selector, except for [Nothing], which has no text form and returns "".
func (s Labels) String() string {
	var b strings.Builder
	for i := range s.requirements {
		if i > 0 {
			b.WriteByte(',')
		}
		s.requirements[i].write(&b)
	}
	return b.String()
}

// newLabels returns a selector. It takes ownership of requirements.
func newLabels(requirements []Requirement) Labels {
	slices.SortStableFunc(requirements, func(a, b Requirement) int { return cmp.Compare(a.Key, b.Key) })
	return Labels{requirements: requirements}
}

// A Requirement is one condition of a label selector. The zero value is
// invalid.
type Requirement struct {
	Key      string
	Operator Operator
	// Values has any number of elements for In and NotIn, none for Exists and
	// DoesNotExist, one otherwise.
	Values []string

	// bound is Values[0] as an integer, for GreaterThan and LessThan.
	bound int64
}

// newRequirement checks a requirement. The error lists every problem, each with
// its path below a selector: key, values, values[0], values[0][key].
func newRequirement(key string, op Operator, values []string) (Requirement, error) {
	r := Requirement{Key: key, Operator: op, Values: values}
	var invalid problems
	if texts := keyProblems(key); len(texts) > 0 {
		invalid.add("key", key, strings.Join(texts, "; "))
	}
	switch op {
	case In, NotIn:
		if len(values) == 0 {
			invalid.addList("values", values, "for 'in', 'notin' operators, values set can't be empty")
		}
	case Exists, DoesNotExist:
		if len(values) > 0 {
			invalid.addList("values", values, "values set must be empty for exists and does not exist")
		}
	case GreaterThan, LessThan:
		var err error
		if r.bound, err = strconv.ParseInt(values[0], 10, 64); err != nil {
			invalid.add("values[0]", values[0], "for 'Gt', 'Lt' operators, the value must be an integer")
		}
	}
	for i, v := range values {
		if texts := valueProblems(v); len(texts) > 0 {
			invalid.add("values["+strconv.Itoa(i)+"]["+key+"]", v, strings.Join(texts, "; "))
		}
	}
	return r, invalid.err()
}

func (r *Requirement) matches(labels LabelSet) bool {
	value, ok := labels.Lookup(r.Key)
	switch r.Operator {
	case Equals, DoubleEquals, In:
		return ok && slices.Contains(r.Values, value)
	case NotEquals, NotIn:
		return !ok || !slices.Contains(r.Values, value)
	case Exists:
		return ok
	case DoesNotExist:
		return !ok
	case GreaterThan, LessThan:
		if !ok {
			return false
		}
		n, isInt := parseInt(value)
		return isInt && (r.Operator == GreaterThan && n > r.bound || r.Operator == LessThan && n < r.bound)
	default:
		return false
	}
}

// parseInt is strconv.ParseInt without its allocation of an error for text that
// does not look like an integer.
func parseInt(s string) (int64, bool) {
	digits := strings.TrimLeft(s, "+-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// String returns the canonical form of r.
func (r Requirement) String() string {
	var b strings.Builder
	r.write(&b)
	return b.String()
}

func (r *Requirement) write(b *strings.Builder) {
	if r.Operator == DoesNotExist {
		b.WriteByte('!')
	}
	b.WriteString(r.Key)
	switch r.Operator {
	case Equals, DoubleEquals, NotEquals:
		b.WriteString(string(r.Operator))
		b.WriteString(r.Values[0])
	case GreaterThan:
		b.WriteByte('>')
		b.WriteString(r.Values[0])
	case LessThan:
		b.WriteByte('<')
		b.WriteString(r.Values[0])
	case In, NotIn:
		values := r.Values
		if !slices.IsSorted(values) {
			values = slices.Sorted(slices.Values(values))
		}
		b.WriteByte(' ')
		b.WriteString(string(r.Operator))
		b.WriteString(" (")
		b.WriteString(strings.Join(values, ","))
		b.WriteByte(')')
	}
}
