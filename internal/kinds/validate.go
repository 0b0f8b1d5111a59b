package kinds

import (
	"iter"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// The rules of validation are written with a few verbs on parts. A rule is a
// function of the part that it judges: it notes the mistakes that it finds and
// calls the rules of the parts within. Objects are canonical when a rule sees
// them, as they are for defaulting: an optional member that was not sent is
// absent, and every member has its type. Lists and maps that were sent empty are
// there, an object.EmptyMap for a map.

// A part is an object under validation or one inside it: what it holds, where it
// stands, and where the mistakes in it are noted. A part that is absent has no
// members.
type part struct {
	obj  map[string]any
	path *validation.Path
	errs *validation.List
}

// mistakes are what the rules, in order, find wrong with the object at path.
func mistakes(obj map[string]any, path *validation.Path, rules ...func(part)) validation.List {
	var errs validation.List
	p := part{obj: obj, path: path, errs: &errs}
	for _, rule := range rules {
		rule(p)
	}
	return errs
}

// at is the path of a member.
func (p part) at(name string) *validation.Path { return p.path.Child(name) }

func (p part) has(name string) bool { return p.obj[name] != nil }

// text is the string that a member has, "" if it is absent.
func (p part) text(name string) string {
	s, _ := p.obj[name].(string)
	return s
}

// flag is the boolean that a member has, false if it is absent.
func (p part) flag(name string) bool {
	b, _ := p.obj[name].(bool)
	return b
}

// integer is the number that a member has, 0 if it is absent.
func (p part) integer(name string) int64 {
	n, _ := p.obj[name].(int64)
	return n
}

func (p part) texts(name string) []string { return object.Strings(p.obj, name) }

// within is the part at a member.
func (p part) within(name string) part {
	m, _ := p.obj[name].(map[string]any)
	return part{m, p.at(name), p.errs}
}

// given is within, and whether the member is there.
func (p part) given(name string) (part, bool) {
	m, ok := p.obj[name].(map[string]any)
	if !ok {
		return part{}, false
	}
	return part{m, p.at(name), p.errs}, true
}

// ifGiven calls the rule on the part at a member, if it is there.
func (p part) ifGiven(name string, rule func(part)) {
	if m, ok := p.given(name); ok {
		rule(m)
	}
}

// lists reports whether an object of the list at a member has the text.
func (p part) lists(name, member, text string) bool {
	for _, e := range p.each(name) {
		if e.text(member) == text {
			return true
		}
	}
	return false
}

// each are the objects of the list at a member.
func (p part) each(name string) iter.Seq2[int, part] {
	return func(yield func(int, part) bool) {
		list, _ := p.obj[name].([]any)
		for i, e := range list {
			m, _ := e.(map[string]any)
			if !yield(i, part{m, p.path.Item(name, i), p.errs}) {
				return
			}
		}
	}
}

// size is the number of items in the list or entries in the map at a member.
func (p part) size(name string) int {
	switch v := p.obj[name].(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// entries are the keys and values of the map at a member, by key.
func (p part) entries(name string) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		m := object.Map(p.obj, name)
		for _, key := range sortedKeys(m) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

func sortedKeys(m map[string]any) []string {
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

// note adds a mistake.
func (p part) note(e *validation.Error) { *p.errs = append(*p.errs, e) }

// add adds the mistakes that a check outside the parts found.
func (p part) add(list validation.List) { *p.errs = append(*p.errs, list...) }

// sound reports whether nothing has been noted since there were n mistakes.
func (p part) sound(n int) bool { return len(*p.errs) == n }

func (p part) missing(name, detail string) { p.note(validation.Required(p.at(name), detail)) }
func (p part) forbid(name, detail string)  { p.note(validation.Forbidden(p.at(name), detail)) }

// invalid says what is wrong with the value of a member.
func (p part) invalid(name, detail string) {
	p.note(validation.Invalid(p.at(name), p.obj[name], detail))
}

// invalidText is invalid for a string, "" if it is absent.
func (p part) invalidText(name, detail string) {
	p.note(validation.Invalid(p.at(name), p.text(name), detail))
}

// invalidEnum is invalid for a string that is printed as JSON: one of a type of
// its own, or one behind a pointer.
func (p part) invalidEnum(name, detail string) {
	p.note(validation.Invalid(p.at(name), validation.NamedString(p.text(name)), detail))
}

func (p part) duplicate(name string, value any) {
	p.note(validation.Duplicate(p.at(name), value))
}

// needs requires a member to be a string, list or map that is not empty, and
// reports whether it is.
func (p part) needs(name string) bool {
	if p.text(name) != "" || p.size(name) > 0 {
		return true
	}
	p.missing(name, "")
	return false
}

// needsEach requires several members.
func (p part) needsEach(names ...string) {
	for _, name := range names {
		p.needs(name)
	}
}

// is checks the format of a string, which may be empty.
func (p part) is(name string, format func(string) []string) {
	value := p.text(name)
	if messages := format(value); len(messages) > 0 {
		p.add(validation.Each(p.at(name), value, messages))
	}
}

// needsToBe requires a string and checks its format.
func (p part) needsToBe(name string, format func(string) []string) {
	if p.needs(name) {
		p.is(name, format)
	}
}

// ifSet checks the format of a string that is not empty.
func (p part) ifSet(name string, format func(string) []string) {
	if p.text(name) != "" {
		p.is(name, format)
	}
}

// oneOf checks that a member is one of the values, which are told in this order.
func (p part) oneOf(name string, values ...string) bool {
	value := p.text(name)
	if slices.Contains(values, value) {
		return true
	}
	p.note(validation.NotSupported(p.at(name), validation.NamedString(value), values))
	return false
}

// among is oneOf for a string of no type of its own.
func (p part) among(name string, values ...string) bool {
	value := p.text(name)
	if slices.Contains(values, value) {
		return true
	}
	p.note(validation.NotSupported(p.at(name), value, values))
	return false
}

// needsOneOf requires a member and checks that it is one of the values.
func (p part) needsOneOf(name string, values ...string) bool {
	return p.needs(name) && p.oneOf(name, values...)
}

// ifOneOf is oneOf for a member that may be absent.
func (p part) ifOneOf(name string, values ...string) bool {
	return !p.has(name) || p.oneOf(name, values...)
}

// notNegative checks that a number, if there is one, is not below 0.
func (p part) notNegative(names ...string) {
	for _, name := range names {
		if n := p.integer(name); n < 0 {
			p.add(validation.NonNegative(n, p.at(name)))
		}
	}
}

// unchanged checks that members have the values they had.
func (p part) unchanged(old map[string]any, names ...string) {
	for _, name := range names {
		p.add(validation.ImmutableField(p.obj[name], old[name], p.at(name)))
	}
}

// positive checks that a number is above 0.
func (p part) positive(name string) {
	if n := p.integer(name); n <= 0 {
		p.note(validation.Invalid(p.at(name), n, notPositive))
	}
}

// between checks that a number is at least lo and at most hi.
func (p part) between(name string, lo, hi int) {
	n := p.integer(name)
	if messages := validation.InRange(int(n), lo, hi); len(messages) > 0 {
		p.add(validation.Each(p.at(name), n, messages))
	}
}

// labelSelector checks the label selector at a member, if there is one.
func (p part) labelSelector(name string, opts validation.LabelSelectorOptions) {
	if selector, ok := p.given(name); ok {
		p.add(validation.LabelSelector(selector.obj, opts, selector.path))
	}
}

// subdomain is the format of most names.
func subdomain(name string) []string { return validation.SubdomainName(name, false) }

// notPositive is what is wrong with numbers and quantities of 0 and below.
const notPositive = "must be greater than zero"

// eachText checks the format of every string in the list at a member.
func (p part) eachText(name string, format func(string) []string) {
	for i, s := range p.texts(name) {
		if messages := format(s); len(messages) > 0 {
			p.add(validation.Each(p.at(name).Index(i), s, messages))
		}
	}
}

// names are the names, or other keys, that items of a list have.
type names map[string]bool

// unique notes a member whose value another item has, and reports whether none
// has.
func (n names) unique(p part, name string) bool {
	value := p.text(name)
	if n[value] {
		p.duplicate(name, value)
		return false
	}
	n[value] = true
	return true
}

// immutable checks that a member is as it was, which is quoted as a Go type.
func (p part) immutable(name, typ string, old map[string]any) {
	if !validation.Equal(p.obj[name], old[name]) {
		p.note(validation.Invalid(p.at(name), internal(typ, p.obj[name]), "field is immutable"))
	}
}

// quantities are the quantities in the map at a member, by key.
func (p part) quantities(name string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for key, v := range p.entries(name) {
			q, _ := v.(string)
			if !yield(key, q) {
				return
			}
		}
	}
}
