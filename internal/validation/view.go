package validation

import (
	"encoding/base64"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/unversioned"
)

// AsGoType is a part of an object as kube-apiserver quotes it in an error: in
// the form of the Go type of that name, such as "core.SecurityContext".
func AsGoType(typ string, v any) unversioned.Value {
	return unversioned.Value{Type: typ, Value: v}
}

// A View is an object under validation or one inside it: what it holds, where it
// stands, and where the mistakes in it are noted. A part that is absent has no
// members.
type View struct {
	Obj  map[string]any
	Path *Path
	Errs *List
}

// Collect are what the rules, in order, find wrong with the object at path.
func Collect(obj map[string]any, path *Path, rules ...func(View)) List {
	var errs List
	p := View{Obj: obj, Path: path, Errs: &errs}
	for _, rule := range rules {
		rule(p)
	}
	return errs
}

// At is the path of a member.
func (p View) At(name string) *Path { return p.Path.Child(name) }

func (p View) Has(name string) bool { return p.Obj[name] != nil }

// String is the string that a member has, "" if it is absent.
func (p View) String(name string) string {
	s, _ := p.Obj[name].(string)
	return s
}

// Bool is the boolean that a member has, false if it is absent.
func (p View) Bool(name string) bool {
	b, _ := p.Obj[name].(bool)
	return b
}

// Int is the number that a member has, 0 if it is absent.
func (p View) Int(name string) int64 {
	n, _ := p.Obj[name].(int64)
	return n
}

func (p View) Strings(name string) []string { return object.Strings(p.Obj, name) }

// Field is the part at a member.
func (p View) Field(name string) View {
	m, _ := p.Obj[name].(map[string]any)
	return View{m, p.At(name), p.Errs}
}

// Lookup is within, and whether the member is there.
func (p View) Lookup(name string) (View, bool) {
	m, ok := p.Obj[name].(map[string]any)
	if !ok {
		return View{}, false
	}
	return View{m, p.At(name), p.Errs}, true
}

// IfPresent calls the rule on the part at a member, if it is there.
func (p View) IfPresent(name string, rule func(View)) {
	if m, ok := p.Lookup(name); ok {
		rule(m)
	}
}

// Contains reports whether an object of the list at a member has the text.
func (p View) Contains(name, member, text string) bool {
	for _, e := range p.Each(name) {
		if e.String(member) == text {
			return true
		}
	}
	return false
}

// Each are the objects of the list at a member.
func (p View) Each(name string) iter.Seq2[int, View] {
	return func(yield func(int, View) bool) {
		list, _ := p.Obj[name].([]any)
		for i, e := range list {
			m, _ := e.(map[string]any)
			if !yield(i, View{m, p.Path.Item(name, i), p.Errs}) {
				return
			}
		}
	}
}

// Len is the number of items in the list or entries in the map at a member.
func (p View) Len(name string) int {
	switch v := p.Obj[name].(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// Entries are the keys and values of the map at a member, by key.
func (p View) Entries(name string) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		m := object.Map(p.Obj, name)
		for _, key := range SortedKeys(m) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

func SortedKeys(m map[string]any) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Add adds a mistake.
func (p View) Add(e *Error) { *p.Errs = append(*p.Errs, e) }

// AddList adds the mistakes that a check outside the parts found.
func (p View) AddList(list List) { *p.Errs = append(*p.Errs, list...) }

// NoErrorsSince reports whether nothing has been noted since there were n mistakes.
func (p View) NoErrorsSince(n int) bool { return len(*p.Errs) == n }

func (p View) Required(name, detail string) { p.Add(Required(p.At(name), detail)) }

func (p View) Forbidden(name, detail string) { p.Add(Forbidden(p.At(name), detail)) }

// Invalid says what is wrong with the value of a member.
func (p View) Invalid(name, detail string) {
	p.Add(Invalid(p.At(name), p.Obj[name], detail))
}

// InvalidString is invalid for a string, "" if it is absent.
func (p View) InvalidString(name, detail string) {
	p.Add(Invalid(p.At(name), p.String(name), detail))
}

// InvalidNamed is invalid for a string that is printed as JSON: one of a type of
// its own, or one behind a pointer.
func (p View) InvalidNamed(name, detail string) {
	p.Add(Invalid(p.At(name), NamedString(p.String(name)), detail))
}

func (p View) Duplicate(name string, value any) {
	p.Add(Duplicate(p.At(name), value))
}

// Require requires a member to be a string, list or map that is not empty, and
// reports whether it is.
func (p View) Require(name string) bool {
	if p.String(name) != "" || p.Len(name) > 0 {
		return true
	}
	p.Required(name, "")
	return false
}

// RequireEach requires several members.
func (p View) RequireEach(names ...string) {
	for _, name := range names {
		p.Require(name)
	}
}

// Format checks the format of a string, which may be empty.
func (p View) Format(name string, format func(string) []string) {
	value := p.String(name)
	if messages := format(value); len(messages) > 0 {
		p.AddList(Each(p.At(name), value, messages))
	}
}

// RequireFormat requires a string and checks its format.
func (p View) RequireFormat(name string, format func(string) []string) {
	if p.Require(name) {
		p.Format(name, format)
	}
}

// FormatIfSet checks the format of a string that is not empty.
func (p View) FormatIfSet(name string, format func(string) []string) {
	if p.String(name) != "" {
		p.Format(name, format)
	}
}

// OneOf checks that a member is one of the values, which are told in this order.
func (p View) OneOf(name string, values ...string) bool {
	value := p.String(name)
	if slices.Contains(values, value) {
		return true
	}
	p.Add(NotSupported(p.At(name), NamedString(value), values))
	return false
}

// OneOfStrings is oneOf for a string of no type of its own.
func (p View) OneOfStrings(name string, values ...string) bool {
	value := p.String(name)
	if slices.Contains(values, value) {
		return true
	}
	p.Add(NotSupported(p.At(name), value, values))
	return false
}

// RequireOneOf requires a member and checks that it is one of the values.
func (p View) RequireOneOf(name string, values ...string) bool {
	return p.Require(name) && p.OneOf(name, values...)
}

// OneOfIfSet is oneOf for a member that may be absent.
func (p View) OneOfIfSet(name string, values ...string) bool {
	return !p.Has(name) || p.OneOf(name, values...)
}

// NonNegative checks that a number, if there is one, is not below 0.
func (p View) NonNegative(names ...string) {
	for _, name := range names {
		if n := p.Int(name); n < 0 {
			p.AddList(NonNegative(n, p.At(name)))
		}
	}
}

// Immutable checks that members have the values they had.
func (p View) Immutable(old map[string]any, names ...string) {
	for _, name := range names {
		p.AddList(ImmutableField(p.Obj[name], old[name], p.At(name)))
	}
}

// Positive checks that a number is above 0.
func (p View) Positive(name string) {
	if n := p.Int(name); n <= 0 {
		p.Add(Invalid(p.At(name), n, NotPositive))
	}
}

// InRange checks that a number is at least lo and at most hi.
func (p View) InRange(name string, lo, hi int) {
	n := p.Int(name)
	if messages := InRange(int(n), lo, hi); len(messages) > 0 {
		p.AddList(Each(p.At(name), n, messages))
	}
}

// LabelSelector checks the label selector at a member, if there is one.
func (p View) LabelSelector(name string, opts LabelSelectorOptions) {
	if selector, ok := p.Lookup(name); ok {
		p.AddList(LabelSelector(selector.Obj, opts, selector.Path))
	}
}

// Subdomain is the format of most names.
func Subdomain(name string) []string { return SubdomainName(name, false) }

// NotPositive is what is wrong with numbers and quantities of 0 and below.
const NotPositive = "must be greater than zero"

// EachFormat checks the format of every string in the list at a member.
func (p View) EachFormat(name string, format func(string) []string) {
	for i, s := range p.Strings(name) {
		if messages := format(s); len(messages) > 0 {
			p.AddList(Each(p.At(name).Index(i), s, messages))
		}
	}
}

// Seen are the names, or other keys, that items of a list have.
type Seen map[string]bool

// Unique notes a member whose value another item has, and reports whether none
// has.
func (n Seen) Unique(p View, name string) bool {
	value := p.String(name)
	if n[value] {
		p.Duplicate(name, value)
		return false
	}
	n[value] = true
	return true
}

// ImmutableAs checks that a member is as it was, which is quoted as a Go type.
func (p View) ImmutableAs(name, typ string, old map[string]any) {
	if !Equal(p.Obj[name], old[name]) {
		p.Add(Invalid(p.At(name), AsGoType(typ, p.Obj[name]), "field is immutable"))
	}
}

// Quantities are the quantities in the map at a member, by key.
func (p View) Quantities(name string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for key, v := range p.Entries(name) {
			q, _ := v.(string)
			if !yield(key, q) {
				return
			}
		}
	}
}

const NotNegative = "must be a non-negative integer"

// Bytes are the bytes that a member has in base64.
func (p View) Bytes(name string) []byte {
	b, _ := base64.StdEncoding.DecodeString(p.String(name)) // decoding the object checked it
	return b
}

// IntOrPercentUpTo100 checks a number that is not negative, or a percentage of at most 100.
func (p View) IntOrPercentUpTo100(name string) {
	p.IntOrPercent(name)
	p.PercentUpTo100(name)
}

// IntOrPercent checks a number that is not negative, or any percentage.
func (p View) IntOrPercent(name string) {
	switch v := p.Obj[name].(type) {
	case int64:
		p.NonNegative(name)
	case string:
		if messages := Percent(v); len(messages) > 0 {
			p.AddList(Each(p.At(name), NamedString(v), messages))
		}
	}
}

// PercentUpTo100 checks that a percentage is none above 100.
func (p View) PercentUpTo100(name string) {
	if n, ok := PercentValue(p.Obj[name]); ok && n > 100 {
		p.InvalidNamed(name, "must not be greater than 100%")
	}
}

// PercentValue is the number before the percent sign.
func PercentValue(v any) (int, bool) {
	s, ok := v.(string)
	if !ok || len(Percent(s)) > 0 {
		return 0, false
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(s, "%")) // the largest number if it is too large
	return n, true
}

// HasInvalidLabelSelector reports whether a label selector that is stored would not be
// taken today. Others may be as wrong then.
func HasInvalidLabelSelector(old map[string]any, path ...string) bool {
	selector := object.Map(old, path...)
	return len(LabelSelector(selector, LabelSelectorOptions{}, nil)) > 0
}
