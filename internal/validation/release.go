package validation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/unversioned"
)

// A Release has the rules of a Kubernetes release and its feature gates.
type Release interface {
	// Minor returns the minor number of the release.
	Minor() int
	// Has reports whether the release has a behavior.
	Has(b behavior.Behavior) bool
	// Enabled reports whether a feature gate is on.
	Enabled(gate string) bool
}

// Checks report the errors of all releases, so that a rule stands at one place. The
// methods below mark what not all releases have, and [List.In] returns the errors of one.

// Since limits the error to releases from a minor number on.
func (e *Error) Since(minor int) *Error { return e.Before(minor, nil) }

// Until limits the error to releases before a minor number.
func (e *Error) Until(minor int) *Error {
	return e.unless(func(r Release) bool { return r != nil && r.Minor() < minor }, nil)
}

// Before replaces the error in releases before a minor number. The replacement for the
// oldest release must be given first. A nil replacement removes the error.
func (e *Error) Before(minor int, older *Error) *Error {
	return e.unless(func(r Release) bool { return r == nil || r.Minor() >= minor }, older)
}

// DetailBefore is Before with another detail.
func (e *Error) DetailBefore(minor int, detail string) *Error {
	older := *e
	older.variants, older.Detail = nil, detail
	return e.Before(minor, &older)
}

// ValueBefore is Before with another bad value.
func (e *Error) ValueBefore(minor int, value any) *Error {
	older := *e
	older.variants, older.BadValue = nil, value
	return e.Before(minor, &older)
}

// FieldBefore is Before with another field.
func (e *Error) FieldBefore(minor int, field string) *Error {
	older := *e
	older.variants, older.Field = nil, field
	return e.Before(minor, &older)
}

// WithGate replaces the error on servers that have a feature gate off. A nil replacement
// removes the error.
func (e *Error) WithGate(gate string, otherwise *Error) *Error {
	return e.unless(func(r Release) bool { return r == nil || r.Enabled(gate) }, otherwise)
}

// WithoutGate limits the error to servers that have a feature gate off.
func (e *Error) WithoutGate(gate string) *Error {
	return e.unless(func(r Release) bool { return r != nil && !r.Enabled(gate) }, nil)
}

// WithDiff appends the difference of two values of a type, as unversioned.Diff prints it in
// each release, to the detail.
func (e *Error) WithDiff(typ string, old, obj any) *Error {
	detail := e.Detail
	e.detailIn = func(minor int) string { return detail + unversioned.Diff(minor, typ, old, obj) }
	e.Detail = e.detailIn(0)
	return e
}

func (e *Error) unless(ok func(Release) bool, otherwise *Error) *Error {
	e.variants = append(e.variants, variant{func(r Release) bool { return !ok(r) }, otherwise})
	return e
}

// Until is [Error.Until] for all errors.
func (l List) Until(minor int) List { return l.each(func(e *Error) { e.Until(minor) }) }

// Since is [Error.Since] for all errors.
func (l List) Since(minor int) List { return l.each(func(e *Error) { e.Since(minor) }) }

// WithGate is [Error.WithGate] for all errors, which no other errors replace.
func (l List) WithGate(gate string) List { return l.each(func(e *Error) { e.WithGate(gate, nil) }) }

// WithoutGate is [Error.WithoutGate] for all errors.
func (l List) WithoutGate(gate string) List { return l.each(func(e *Error) { e.WithoutGate(gate) }) }

// each marks all errors. What is marked for all decides before what an error has itself.
func (l List) each(mark func(*Error)) List {
	for _, e := range l {
		own := e.variants
		e.variants = nil
		mark(e)
		e.variants = append(e.variants, own...)
	}
	return l
}

// A rewording is a text in the details of many errors. A * stands for any text, which
// stays.
type rewording struct {
	minor    int // the first release that has the new text
	now, was string
}

var rewordings = []rewording{
	{37, "x-kubernetes-list-type: set for items of type *", noText},
	{34, "*is ignored for headless services", noText},
	{35, "spec.trafficDistribution: *", noText},
	{35, "ResourceQuota * should be less than *", noText},
	{33, "*gitRepo: deprecated in v1.11, and disabled by default in v1.33+", "*gitRepo: deprecated in v1.11"},
	{33, "*: non-standard IP address * is invalid: use *", noText},
	{33, "*: non-standard CIDR value * is invalid: use *", noText},
	{33, "*: IPv6 address * should be in RFC 5952 canonical format *", noText},
	{33, "*: IPv6 CIDR value * should be in RFC 5952 canonical format *", noText},
	{33, "*: CIDR value * is ambiguous in this context *", noText},
	{36, "*: non-standard CIDR value * is invalid: use *", "*: non-standard CIDR value * will be considered invalid in a future Kubernetes release: use *"},
	{36, "*: non-standard IP address * is invalid: use *", "*: non-standard IP address * will be considered invalid in a future Kubernetes release: use *"},
	{33, "*: duplicate port name * with *, services and probes that select ports by name will use *", noText},
	{33, "*.preference.matchExpressions[*].values[*]: * is invalid, *", noText},
	{33, "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended", noText},
	{34, "unrecognized format *", noText},
	{35, "spec.serviceAccountTokenInSecrets is unset; *", noText},
	{36, "spec.externalIPs is deprecated and may no longer be implemented in some clusters", noText},
	{34, "when `hostUsers` is false", "when `pod.Spec.HostUsers` is false"},
	{34, "may not be more than 1 byte", "may not be more than 1 bytes"},
	{34, "must have at most 1 item", "must have at most 1 items"},
	{35, "*must be no more than * bytes", "*must be no more than * characters"},
	{35, "*a valid label key must consist of*", "*a qualified name must consist of*"},
}

// noText marks a warning that older releases do not give.
const noText = ""

// Warnings returns warnings as a release words them, without those that it does not give.
func Warnings(minor int, texts []string) []string {
	if minor >= newestRules {
		return texts
	}
	var out []string
	for _, text := range texts {
		if text = Reword(minor, text); text != noText {
			out = append(out, text)
		}
	}
	return out
}

// Reword returns a text as a release words it.
func Reword(minor int, text string) string {
	for _, r := range rewordings {
		if minor < r.minor {
			text = r.apply(text)
		}
	}
	return text
}

// apply returns the text with the parts between the stars of was, if now matches it.
func (r rewording) apply(text string) string {
	now, was := strings.Split(r.now, "*"), strings.Split(r.was, "*")
	if r.was == noText {
		was = make([]string, len(now))
	}
	rest, ok := strings.CutPrefix(text, now[0])
	if !ok {
		return text
	}
	out := was[0]
	for i, part := range now[1:] {
		at := strings.Index(rest, part)
		if i == len(now)-2 && strings.HasSuffix(rest, part) {
			at = len(rest) - len(part)
		}
		if at < 0 {
			return text
		}
		out += rest[:at] + was[i+1]
		rest = rest[at+len(part):]
	}
	switch {
	case rest != "":
		return text
	case r.was == noText:
		return noText
	}
	return out
}

// newestRules is the first release whose errors need no change of their texts.
const newestRules = 37

// uniqueSince is the first release that reports equal errors once.
const uniqueSince = 37

// goSyntaxUntil is the first release that prints values as JSON.
const goSyntaxUntil = 34

// In returns the errors of a release, nil for the newest, in an object of a group and kind.
// It does not change the list.
func (l List) In(r Release, group, kind string) List {
	if len(l) == 0 {
		return nil
	}
	var out List
	for _, e := range l {
		if e = e.in(r); e == nil {
			continue
		}
		if r != nil && (r.Minor() < newestRules || unversioned.HasOlderTypes(r.Minor())) {
			e = e.inOlder(r.Minor(), group, kind)
		}
		if r != nil && r.Minor() >= uniqueSince && slices.ContainsFunc(out, e.same) {
			continue
		}
		out = append(out, e)
	}
	return out
}

// same reports whether two errors have the same texts.
func (e *Error) same(other *Error) bool {
	return e.Reason == other.Reason && e.Field == other.Field && e.Body() == other.Body()
}

// inOlder returns the error with the texts of an older release.
func (e *Error) inOlder(minor int, group, kind string) *Error {
	older := *e
	if e.detailIn != nil {
		older.Detail = e.detailIn(minor)
	}
	older.Detail = Reword(minor, older.Detail)
	if v, ok := e.BadValue.(unversioned.Value); ok {
		v.Minor = minor
		older.BadValue = v
	}
	if minor < goSyntaxUntil {
		older.BadValue = inGoSyntax(&older, minor, group, kind)
	}
	return &older
}

// Quantities returns the list with quantities as they were parsed, which older releases
// print. sent returns the text in which a client sent a quantity in a field.
func (l List) Quantities(sent func(field, quantity string) string) List {
	out := l
	for i, e := range l {
		var value any
		switch v := e.BadValue.(type) {
		case unversioned.Quantity:
			v.Sent = sent(e.Field, v.Sent)
			value = v
		case quantities:
			value = v.parsed(func(key, quantity string) string { return sent(e.Field+"["+key+"]", quantity) })
		default:
			continue
		}
		if &out[0] == &l[0] {
			out = slices.Clone(l)
		}
		parsed := *e
		parsed.BadValue = value
		out[i] = &parsed
	}
	return out
}

// quantities is a bad value that is a map of quantities. It is printed once it is known how
// a client sent them.
type quantities unversioned.Value

// parsed returns the value with the quantities as they were parsed. sent returns the text
// in which a client sent the one with a key.
func (q quantities) parsed(sent func(key, quantity string) string) quantities {
	values, ok := q.Value.(map[string]any)
	if !ok {
		return q
	}
	out := make(map[string]any, len(values))
	for key, v := range values {
		text, ok := v.(string)
		if !ok {
			return q
		}
		out[key] = unversioned.Quantity{Sent: sent(key, text)}
	}
	q.Value = out
	return q
}

// in returns the error of a release, nil if the release does not have it.
func (e *Error) in(r Release) *Error {
	for _, v := range e.variants {
		if v.applies(r) {
			return v.Error
		}
	}
	return e
}

// goSyntax is a bad value that is printed already.
type goSyntax string

// inGoSyntax returns the bad value of an error as releases before v1.34 print it.
func inGoSyntax(e *Error, minor int, group, kind string) any {
	switch v := e.BadValue.(type) {
	case nil:
		typ, _, _ := unversioned.TypeAt(group, kind, e.Field)
		return goSyntax(unversioned.Value{Type: typ, Minor: minor}.GoSyntax())
	case string:
		if typ, _, _ := unversioned.TypeAt(group, kind, e.Field); unversioned.SameShape(typ, "t") {
			return goSyntax(unversioned.Value{Type: typ, Value: v, Minor: minor}.GoSyntax())
		}
		return v
	case goSyntax, quantities, unversioned.Quantity, bool, int, int32, int64, float32, float64, NoValue:
		return v
	case unversioned.Value:
		if text, ok := v.Value.(string); ok && v.Type == "q" {
			q := unversioned.Quantity{Sent: text}
			if strings.Contains(e.Detail, text) {
				q.Text = text
			}
			return q
		}
		typ, _, _ := unversioned.TypeAt(group, kind, e.Field)
		if strings.Contains(v.Type, "=") || !unversioned.SameShape(typ, v.Type) {
			typ = v.Type
		}
		if unversioned.SameShape(typ, "{}q") {
			return quantities{Type: typ, Value: v.Value, Minor: minor}
		}
		return goSyntax(unversioned.Value{Type: typ, Value: v.Value, Minor: minor}.GoSyntax())
	case NamedString:
		typ, key, keyType := unversioned.TypeAt(group, kind, e.Field)
		if key == string(v) {
			typ = keyType
		}
		if !unversioned.SameShape(typ, "s") && !unversioned.SameShape(typ, "o") {
			typ = "s"
		}
		return goSyntax(unversioned.Value{Type: typ, Value: string(v), Minor: minor}.GoSyntax())
	case map[string]any, object.EmptyMap, []any:
		typ, _, _ := unversioned.TypeAt(group, kind, e.Field)
		if typ == "" {
			return goSyntax(unversioned.Untyped(v))
		}
		return goSyntax(unversioned.Value{Type: typ, Value: v, Minor: minor}.GoSyntax())
	case fmt.Stringer:
		return goSyntax(v.String())
	}
	return goSyntax(fmt.Sprintf("%#v", e.BadValue))
}
