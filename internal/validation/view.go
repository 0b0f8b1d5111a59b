package validation

import (
	"encoding/base64"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/unversioned"
)

// AsGoType returns v as kube-apiserver prints it in an error: in the form of the
// Go type, such as "core.SecurityContext".
func AsGoType(typ string, v any) unversioned.Value {
	return unversioned.Value{Type: typ, Value: v}
}

// A View is a view of an object under validation, or of an object within it: its
// fields, its path, and the errors that were found. A View of an absent object has
// no fields.
//
// Objects are canonical: an optional field that was not sent is absent, and every
// field has the type that the API gives it. An empty list or map that was sent is
// present, the map as an object.EmptyMap.
//
// Methods that read a field return the zero value if it is absent or of another
// type. Methods that check a field add an error at its path.
type View struct {
	Obj  map[string]any
	Path *Path
	Errs *Errors
}

// Errors are the errors that were found in an object. The paths of its views are allocated
// here, several at a time.
type Errors struct {
	List
	first [firstPaths]Path
	used  int    // of first
	room  []Path // for the next paths
}

const (
	// firstPaths is how many paths are allocated with the Errors: as many as a small object needs.
	firstPaths = 8
	// roomForPaths is how many paths are allocated at a time after these: just over 512 bytes, up to
	// which the allocation of memory with pointers takes longer.
	roomForPaths = 17
)

// paths returns n new paths. The receiver may be nil.
func (e *Errors) paths(n int) []Path {
	if e == nil {
		return make([]Path, n)
	}
	if end := e.used + n; end <= firstPaths {
		paths := e.first[e.used:end:end]
		e.used = end
		return paths
	}
	if n > len(e.room) {
		e.room = make([]Path, max(n, roomForPaths))
	}
	paths := e.room[:n:n]
	e.room = e.room[n:]
	return paths
}

// Collect calls the rules in order and returns the errors that they add.
func Collect(obj map[string]any, path *Path, rules ...func(View)) List {
	errs := &Errors{}
	p := View{Obj: obj, Path: path, Errs: errs}
	for _, rule := range rules {
		rule(p)
	}
	return errs.List
}

// Of returns the view of an object that is stored, or of one within it, without a path. Its Obj is
// shared: as all rules, those that get it do not write to it.
func Of(obj object.View) View {
	return View{Obj: obj.SharedMembers()}
}

// Object returns the object, for functions that take stored objects too.
func (p View) Object() object.View { return object.ViewOf(p.Obj) }

// At returns the path of a field.
func (p View) At(name string) *Path {
	path := &p.Errs.paths(1)[0]
	*path = Path{parent: p.Path, step: stepChild, name: name}
	return path
}

// Key returns the path of an entry of an object that is a map.
func (p View) Key(key string) *Path {
	path := &p.Errs.paths(1)[0]
	*path = Path{parent: p.Path, step: stepKey, name: key}
	return path
}

// Has reports whether the field is present.
func (p View) Has(name string) bool { return p.Obj[name] != nil }

// String returns a field that is a string.
func (p View) String(name string) string {
	s, _ := p.Obj[name].(string)
	return s
}

// Bool returns a field that is a boolean.
func (p View) Bool(name string) bool {
	b, _ := p.Obj[name].(bool)
	return b
}

// Int returns a field that is an integer.
func (p View) Int(name string) int64 {
	n, _ := p.Obj[name].(int64)
	return n
}

// Strings returns a field that is a list of strings.
func (p View) Strings(name string) []string { return object.Strings(p.Obj, name) }

// Field returns the view of a field that is an object.
func (p View) Field(name string) View {
	m, _ := p.Obj[name].(map[string]any)
	return View{m, p.At(name), p.Errs}
}

// Lookup returns the view of a field that is an object, and whether it is present.
func (p View) Lookup(name string) (View, bool) {
	m, ok := p.Obj[name].(map[string]any)
	if !ok {
		return View{}, false
	}
	return View{m, p.At(name), p.Errs}, true
}

// IfPresent calls the rule with the view of a field that is an object, if it is
// present.
func (p View) IfPresent(name string, rule func(View)) {
	if m, ok := p.Lookup(name); ok {
		rule(m)
	}
}

// Contains reports whether an object in the list name has the text in the field
// member.
func (p View) Contains(name, member, text string) bool {
	for _, e := range p.Each(name) {
		if e.String(member) == text {
			return true
		}
	}
	return false
}

// Each iterates over the objects of a list field.
func (p View) Each(name string) iter.Seq2[int, View] {
	return func(yield func(int, View) bool) {
		list, _ := p.Obj[name].([]any)
		if len(list) == 0 {
			return
		}
		paths := p.Errs.paths(len(list))
		for i, e := range list {
			m, _ := e.(map[string]any)
			paths[i] = Path{parent: p.Path, step: stepItem, name: name, index: int32(i)}
			if !yield(i, View{m, &paths[i], p.Errs}) {
				return
			}
		}
	}
}

// Len returns the length of a field that is a list or a map.
func (p View) Len(name string) int {
	switch v := p.Obj[name].(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// Entries iterates over the entries of a map field in the order of the keys.
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

// SortedKeys returns the keys of m in order, nil if there are none.
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

// Add adds an error.
func (p View) Add(e *Error) { p.Errs.List = append(p.Errs.List, e) }

// AddList adds a list of errors.
func (p View) AddList(list List) { p.Errs.List = append(p.Errs.List, list...) }

// Declarative calls a rule whose errors are those of [Error.Declarative].
func (p View) Declarative(rule func(View)) {
	n := len(p.Errs.List)
	rule(p)
	p.Errs.List[n:].Declarative()
}

// NoErrorsSince reports whether no error was added since there were n.
func (p View) NoErrorsSince(n int) bool { return len(p.Errs.List) == n }

// Required adds a required error for a field.
func (p View) Required(name, detail string) { p.Add(Required(p.At(name), detail)) }

// Forbidden adds a forbidden error for a field.
func (p View) Forbidden(name, detail string) { p.Add(Forbidden(p.At(name), detail)) }

// Invalid adds an invalid error that quotes the value of a field.
func (p View) Invalid(name, detail string) {
	p.Add(Invalid(p.At(name), p.Obj[name], detail))
}

// InvalidString is Invalid for a string field: an absent one is quoted as "".
func (p View) InvalidString(name, detail string) {
	p.Add(Invalid(p.At(name), p.String(name), detail))
}

// InvalidNamed is InvalidString for a field whose Go type is a named string type
// or a pointer.
func (p View) InvalidNamed(name, detail string) {
	p.Add(Invalid(p.At(name), NamedString(p.String(name)), detail))
}

// Duplicate adds a duplicate error for a field.
func (p View) Duplicate(name string, value any) {
	p.Add(Duplicate(p.At(name), value))
}

// Require checks that a string, list or map is not empty, and reports whether it
// is not.
func (p View) Require(name string) bool {
	empty := true
	switch v := p.Obj[name].(type) {
	case string:
		empty = v == ""
	case []any:
		empty = len(v) == 0
	case map[string]any:
		empty = len(v) == 0
	}
	if empty {
		p.Required(name, "")
	}
	return !empty
}

// RequireDeclared is Require with an error of [Error.Declarative].
func (p View) RequireDeclared(name string) (ok bool) {
	p.Declarative(func(p View) { ok = p.Require(name) })
	return ok
}

// RequireEach is Require for several fields.
func (p View) RequireEach(names ...string) {
	for _, name := range names {
		p.Require(name)
	}
}

// Format checks the format of a string field, also if it is empty. The format
// function returns what is wrong.
func (p View) Format(name string, format func(string) []string) {
	p.formatted(name, p.String(name), format)
}

// formatted is Format for a field with a value.
func (p View) formatted(name, value string, format func(string) []string) {
	if messages := format(value); len(messages) > 0 {
		p.AddList(Each(p.At(name), value, messages))
	}
}

// RequireFormat is Require and, if the field is not empty, Format.
func (p View) RequireFormat(name string, format func(string) []string) {
	if value := p.String(name); value != "" {
		p.formatted(name, value, format)
	} else {
		p.Required(name, "")
	}
}

// FormatIfSet is Format for a field that is not empty.
func (p View) FormatIfSet(name string, format func(string) []string) {
	if value := p.String(name); value != "" {
		p.formatted(name, value, format)
	}
}

// OneOf checks that a field of a named string type has one of the values, and
// reports whether it has. The error lists the values in this order.
func (p View) OneOf(name string, values ...string) bool {
	return p.oneOf(name, p.String(name), values)
}

// oneOf is OneOf for a field with a value.
func (p View) oneOf(name, value string, values []string) bool {
	if slices.Contains(values, value) {
		return true
	}
	p.Add(NotSupported(p.At(name), NamedString(value), values))
	return false
}

// OneOfStrings is OneOf for a field of type string.
func (p View) OneOfStrings(name string, values ...string) bool {
	value := p.String(name)
	if slices.Contains(values, value) {
		return true
	}
	p.Add(NotSupported(p.At(name), value, values))
	return false
}

// RequireOneOf is Require and, if the field is not empty, OneOf.
func (p View) RequireOneOf(name string, values ...string) bool {
	if value := p.String(name); value != "" {
		return p.oneOf(name, value, values)
	}
	p.Required(name, "")
	return false
}

// RequireOneOfSince is RequireOneOf in releases with a behavior. In older ones an
// empty field is not one of the values.
func (p View) RequireOneOfSince(b behavior.Behavior, name string, values ...string) bool {
	if value := p.String(name); value != "" {
		return p.oneOf(name, value, values)
	}
	p.Add(Required(p.At(name), "").Before(b, Instead(NotSupported(p.At(name), NamedString(""), values))))
	return false
}

// OneOfIfSet is OneOf for a field that is present.
func (p View) OneOfIfSet(name string, values ...string) bool {
	return !p.Has(name) || p.OneOf(name, values...)
}

// NonNegative checks that integers are not negative.
func (p View) NonNegative(names ...string) {
	for _, name := range names {
		if n := p.Int(name); n < 0 {
			p.AddList(NonNegative(n, p.At(name)))
		}
	}
}

// Immutable checks that fields have their old values.
func (p View) Immutable(old object.View, names ...string) {
	for _, name := range names {
		if !Equal(p.Obj[name], old.At(name)) {
			p.Invalid(name, immutableRule)
		}
	}
}

// Positive checks that an integer is above 0.
func (p View) Positive(name string) {
	if n := p.Int(name); n <= 0 {
		p.Add(Invalid(p.At(name), n, NotPositive))
	}
}

// InRange checks that an integer is in [lo, hi].
func (p View) InRange(name string, lo, hi int) {
	n := p.Int(name)
	if messages := InRange(int(n), lo, hi); len(messages) > 0 {
		p.AddList(Each(p.At(name), n, messages))
	}
}

// Labels checks a field that is a map of labels.
func (p View) Labels(name string) {
	if labels := object.Map(p.Obj, name); len(labels) > 0 {
		p.AddList(Labels(labels, p.At(name)))
	}
}

// Annotations checks a field that is a map of annotations.
func (p View) Annotations(name string) {
	if annotations := object.Map(p.Obj, name); len(annotations) > 0 {
		p.AddList(Annotations(annotations, p.At(name)))
	}
}

// LabelSelector checks a field that is a label selector, if it is present.
func (p View) LabelSelector(name string, opts LabelSelectorOptions) {
	if selector, ok := p.Lookup(name); ok {
		p.AddList(LabelSelector(selector.Obj, opts, selector.Path))
	}
}

// Subdomain checks a DNS subdomain. It is a format for [View.Format].
func Subdomain(name string) []string { return SubdomainName(name, false) }

// NotPositive is the error detail of numbers and quantities that are not positive.
const NotPositive = "must be greater than zero"

// EachFormat checks the format of every string in a list.
func (p View) EachFormat(name string, format func(string) []string) {
	for i, s := range p.Strings(name) {
		if messages := format(s); len(messages) > 0 {
			p.AddList(Each(p.At(name).Index(i), s, messages))
		}
	}
}

// Seen holds the names, or other keys, of the items of a list.
type Seen map[string]bool

// Unique adds a duplicate error if n has the value of the field, records the value,
// and reports whether it is unique.
func (n Seen) Unique(p View, name string) bool {
	value := p.String(name)
	if n[value] {
		p.Duplicate(name, value)
		return false
	}
	n[value] = true
	return true
}

// CheckChanged calls a rule for fields below one that may not change, and has changed if changed is true:
// its errors are those of [List.Handwritten] then.
func (p View) CheckChanged(changed bool, rule func(View)) {
	n := len(p.Errs.List)
	rule(p)
	if changed {
		p.Errs.List[n:].Handwritten()
	}
}

// ImmutableDeclared is ImmutableAs with an error of [Error.Declarative], which does not quote the
// field.
func (p View) ImmutableDeclared(name, typ string, old object.View) {
	if !Equal(p.Obj[name], old.At(name)) {
		p.Add(Invalid(p.At(name), nil, "field is immutable").Before(behavior.DeclarativeErrors, Value(AsGoType(typ, p.Obj[name]))).Declarative())
	}
}

// ImmutableAs is Immutable for a field that the error quotes as the Go type.
func (p View) ImmutableAs(name, typ string, old object.View) {
	if !Equal(p.Obj[name], old.At(name)) {
		p.Add(Invalid(p.At(name), AsGoType(typ, p.Obj[name]), "field is immutable"))
	}
}

// Quantities iterates over a map of quantities in the order of the keys.
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

// NotNegative is the error detail of numbers that must not be negative.
const NotNegative = "must be a non-negative integer"

// Names checks metadata.generateName and metadata.name, where they are set. It is for rules
// that depend on the object, whose Strategy.Name is AnyName.
func (p View) Names(rule NameFunc) {
	meta := p.Field("metadata")
	meta.FormatIfSet("generateName", func(name string) []string { return rule(name, true) })
	meta.FormatIfSet("name", func(name string) []string { return rule(name, false) })
}

// Bytes returns a field that is base64.
func (p View) Bytes(name string) []byte {
	b, _ := base64.StdEncoding.DecodeString(p.String(name)) // decoding the object checked it
	return b
}

// IntOrPercentUpTo100 checks that a field is a non-negative integer or a percentage
// up to 100%.
func (p View) IntOrPercentUpTo100(name string) {
	p.IntOrPercent(name)
	p.PercentUpTo100(name)
}

// IntOrPercent checks that a field is a non-negative integer or a percentage.
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

// PercentUpTo100 checks that a percentage is at most 100%.
func (p View) PercentUpTo100(name string) {
	if n, ok := PercentValue(p.Obj[name]); ok && n > 100 {
		p.InvalidNamed(name, "must not be greater than 100%")
	}
}

// PercentValue returns the number before the percent sign, and whether v is a
// percentage.
func PercentValue(v any) (int, bool) {
	s, ok := v.(string)
	if !ok || len(Percent(s)) > 0 {
		return 0, false
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(s, "%")) // MaxInt on overflow
	return n, true
}

// HasInvalidLabelSelector reports whether the old object has an invalid label
// selector at the path. An update of such an object may have one, too.
func HasInvalidLabelSelector(old object.View, path ...string) bool {
	return len(LabelSelector(old.At(path...).SharedMembers(), LabelSelectorOptions{}, nil)) > 0
}
