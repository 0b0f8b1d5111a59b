package story

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/printable"
)

const (
	maxFields = 3  // in a line
	maxString = 60 // bytes of a string in a line
	maxValue  = 90 // bytes of another value in a line, from which members are omitted
)

// brief describes the changes of a revision on one line.
func (r *Revision) brief() string {
	if len(r.Changes) == 0 {
		return ""
	}
	c := &r.Changes[0]
	line := c.Target.String()
	if c.Type != journal.Modified {
		if c.Type != usualType[r.Verb] {
			line += " " + string(c.Type)
		}
	} else if fields := briefFields(c.Fields); fields != "" {
		line += ": " + fields
	}
	switch more := len(r.Changes) - 1 + r.Omitted; {
	case more == 1 && r.Omitted == 0 && r.Changes[1].Resource != c.Resource: // as in "services default/a and ipaddresses ..."
		line += " and " + r.Changes[1].Target.String()
	case more > 0:
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}

// usualType is the change type that a verb usually makes; brief omits it.
var usualType = map[string]journal.ChangeType{
	"create": journal.Added, "store": journal.Added, "delete": journal.Deleted, "remove": journal.Deleted, "deletecollection": journal.Deleted,
}

// derivedMembers are the members that change because others do.
var derivedMembers = []string{"generation", "observedGeneration", "uid", "creationTimestamp", "deletionGracePeriodSeconds", "lastTransitionTime", "lastUpdateTime", "lastProbeTime", "lastHeartbeatTime"}

// derived reports whether the field of a path changes because others do.
func derived(path string) bool { return slices.Contains(derivedMembers, lastMember(path)) }

func lastMember(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// briefFields describes the most important fields. Those that are derived are omitted if there
// are others.
func briefFields(fields []Field) string {
	var all []Field
	for _, f := range fields {
		if !derived(f.Path) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		all = fields
	}
	slices.SortStableFunc(all, func(a, b Field) int { return cmp.Compare(a.rank(), b.rank()) })
	more := len(all) - maxFields
	if more <= 1 {
		more = 0
	}
	var b strings.Builder
	last := ""
	for i, f := range all[:len(all)-more] {
		if i > 0 {
			b.WriteString(", ")
		}
		if parent := f.element(); parent != "" && parent == last {
			f.Path = f.Path[len(parent):] // .reason after status.conditions[type=Ready].status
		} else {
			last = parent
		}
		b.WriteString(f.String())
	}
	if more > 0 {
		fmt.Fprintf(&b, ", %d more", more)
	}
	return b.String()
}

// element returns the path of the list element that has the field as a member; "" if the field
// is a member of another object.
func (f Field) element() string {
	if i := strings.LastIndexByte(f.Path, '.'); i > 0 && f.Path[i-1] == ']' {
		return f.Path[:i]
	}
	return ""
}

// rank orders the fields of a line: how an object is comes before why, and metadata is last.
func (f Field) rank() int {
	part, _, _ := strings.Cut(f.Path, ".")
	name := lastMember(f.Path)
	switch {
	case part == "metadata":
		return 400
	case part != "status":
		return 0
	case name == "phase":
		return 100
	case strings.HasPrefix(f.Path, "status.conditions[type=Ready]"), strings.HasPrefix(f.Path, "status.conditions[type=Available]"):
		return 101 + memberRank(name)
	case strings.HasPrefix(f.Path, "status.conditions["):
		return 300 + memberRank(name)
	}
	switch f.New.(type) {
	case map[string]any, []any:
		return 250
	}
	return 200
}

// members orders the members of an object in a line. Those that are not in it are before message.
var members = append([]string{"type", "name", "kind", "status", "reason", "", "message"}, derivedMembers...)

func memberRank(name string) int {
	if i := slices.Index(members, name); i >= 0 {
		return i
	}
	return slices.Index(members, "")
}

// String returns the field as "spec.replicas 1 → 3".
func (f Field) String() string {
	switch {
	case f.Old == nil:
		return f.Path + " = " + brief(f.withoutKey(f.New))
	case f.New == nil:
		return f.Path + " removed"
	}
	oldList, ok1 := f.Old.([]any)
	newList, ok2 := f.New.([]any)
	if ok1 && ok2 && !(isShort(f.Old, maxValue) && isShort(f.New, maxValue)) {
		return f.Path + briefElements(oldList, newList)
	}
	return f.Path + " " + brief(f.Old) + " → " + brief(f.New)
}

// withoutKey returns the value of a list element without the member that the path has.
func (f Field) withoutKey(v any) any {
	obj, ok := v.(map[string]any)
	i := strings.LastIndexByte(f.Path, '[')
	key, _, isElement := strings.Cut(f.Path[i+1:], "=")
	if !ok || i < 0 || !isElement || len(obj) < 2 {
		return v
	}
	out := make(map[string]any, len(obj))
	for name, e := range obj {
		if name != key {
			out[name] = e
		}
	}
	return out
}

// briefElements describes the elements that two long lists do not share: " + a, 2 more, − b".
func briefElements(old, new []any) string {
	var parts []string
	for _, side := range []struct {
		sign     string
		elements []any
	}{{"+", missing(new, old)}, {"−", missing(old, new)}} {
		if n := len(side.elements); n > 0 {
			parts = append(parts, side.sign+" "+brief(side.elements[0]))
			if n > 1 {
				parts = append(parts, fmt.Sprintf("%d more", n-1))
			}
		}
	}
	if parts == nil {
		return " in another order"
	}
	return " " + strings.Join(parts, ", ")
}

// missing returns the elements of a list that another one has not.
func missing(list, other []any) []any {
	count := map[string]int{}
	for _, e := range other {
		count[encode(e)]++
	}
	var out []any
	for _, e := range list {
		text := encode(e)
		if count[text]--; count[text] < 0 {
			out = append(out, e)
		}
	}
	return out
}

// brief returns a value as text, like YAML in one line. It cuts a long string, and omits members
// of a long object and elements of a long list.
func brief(v any) string {
	var b strings.Builder
	writeBrief(&b, v)
	return b.String()
}

func writeBrief(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(briefString(v))
	case map[string]any:
		b.WriteByte('{')
		for i, name := range briefMembers(v) {
			if i > 0 {
				b.WriteString(", ")
			}
			if b.Len() > maxValue {
				b.WriteString("…")
				break
			}
			b.WriteString(briefString(name) + ": ")
			writeBrief(b, v[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			if b.Len() > maxValue {
				fmt.Fprintf(b, "%d more", len(v)-i)
				break
			}
			writeBrief(b, e)
		}
		b.WriteByte(']')
	default:
		b.WriteString(encode(v))
	}
}

// briefMembers returns the names of the members of an object that a line has: those that are
// not derived, unless all are.
func briefMembers(v map[string]any) []string {
	names := union(v, nil)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(memberRank(a), memberRank(b)) })
	i := slices.IndexFunc(names, derived)
	if i > 0 {
		names = names[:i]
	}
	return names
}

// briefString quotes a string that would be mistaken for something else, and cuts a long one.
func briefString(text string) string {
	rest := ""
	if len(text) > maxString {
		text, rest = strings.ToValidUTF8(text[:maxString], ""), "…"
	}
	if text == "" || strings.ContainsAny(text, " ,\"{}[]") || printable.Line(text) != text {
		quoted := strconv.Quote(text)
		return quoted[:len(quoted)-1] + rest + `"`
	}
	return text + rest
}

// isShort reports whether a value has at most max bytes as JSON.
func isShort(v any, max int) bool { return len(encode(v)) <= max }

// encode returns a value as JSON.
func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("story: a decoded value does not encode: " + err.Error()) // unreachable: it came from JSON
	}
	return string(b)
}
