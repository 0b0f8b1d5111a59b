package validation

import (
	"cmp"
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
	// Privileged reports whether Pods may have privileged containers.
	Privileged() bool
}

// has reports whether a release, nil for the newest, has a behavior.
func has(r Release, b behavior.Behavior) bool { return r == nil || r.Has(b) }

// Checks report the errors of all releases, so that a rule stands at one place. The
// methods below mark what not all releases have, and [List.In] returns the errors of one.

// Since limits the error to releases with a behavior.
func (e *Error) Since(b behavior.Behavior) *Error {
	return e.unless(func(r Release) bool { return has(r, b) }, nil)
}

// Until limits the error to releases without a behavior.
func (e *Error) Until(b behavior.Behavior) *Error {
	return e.unless(func(r Release) bool { return !has(r, b) }, nil)
}

// Before changes the error in releases without a behavior. What the oldest release has must
// be given first.
func (e *Error) Before(b behavior.Behavior, older Wording) *Error {
	out := *e
	out.variants = nil
	older(&out)
	return e.unless(func(r Release) bool { return has(r, b) }, &out)
}

// A Wording is what an error is in older releases.
type Wording func(*Error)

// Detail is an error with another detail.
func Detail(detail string) Wording { return func(e *Error) { e.Detail = detail } }

// Value is an error with another bad value.
func Value(value any) Wording { return func(e *Error) { e.BadValue = value } }

// Field is an error with another field.
func Field(field string) Wording { return func(e *Error) { e.Field = field } }

// Instead is another error.
func Instead(of *Error) Wording { return func(e *Error) { *e = *of } }

// WithGate replaces the error on servers that have a feature gate off. A nil replacement
// removes the error.
func (e *Error) WithGate(gate string, otherwise *Error) *Error {
	return e.unless(func(r Release) bool { return r == nil || r.Enabled(gate) }, otherwise)
}

// WithoutGate limits the error to servers that have a feature gate off.
func (e *Error) WithoutGate(gate string) *Error {
	return e.unless(func(r Release) bool { return r != nil && !r.Enabled(gate) }, nil)
}

// WithoutPrivileged limits the error to servers without privileged containers.
func (e *Error) WithoutPrivileged() *Error {
	return e.unless(func(r Release) bool { return r != nil && !r.Privileged() }, nil)
}

// Declarative marks an error of kube-apiserver's declarative validation, which is generated from the
// tags of Go types. In releases with [behavior.DeclarativeErrors] it follows all other errors of the
// object.
func (e *Error) Declarative() *Error {
	e.declarative = true
	return e
}

// Declarative is [Error.Declarative] for all errors.
func (l List) Declarative() List {
	for _, e := range l {
		e.Declarative()
	}
	return l
}

// Handwritten marks errors below a field that may not change, but has: declarative validation stops at
// the field, so that the errors of handwritten validation remain in their places and words.
func (l List) Handwritten() List {
	for _, e := range l {
		e.handwritten, e.declarative = true, false
		for _, v := range e.variants {
			if v.Error != nil {
				v.Error.declarative = false
			}
		}
	}
	return l
}

// A handwrittenRelease is a release without declarative validation.
type handwrittenRelease struct{ Release }

func (r handwrittenRelease) Has(b behavior.Behavior) bool {
	return b != behavior.DeclarativeErrors && has(r.Release, b)
}

func (r handwrittenRelease) Enabled(gate string) bool {
	return r.Release == nil || r.Release.Enabled(gate)
}

func (r handwrittenRelease) Privileged() bool { return r.Release == nil || r.Release.Privileged() }

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
func (l List) Until(b behavior.Behavior) List { return l.each(func(e *Error) { e.Until(b) }) }

// Since is [Error.Since] for all errors.
func (l List) Since(b behavior.Behavior) List { return l.each(func(e *Error) { e.Since(b) }) }

// WithGate is [Error.WithGate] for all errors, which no other errors replace.
func (l List) WithGate(gate string) List { return l.each(func(e *Error) { e.WithGate(gate, nil) }) }

// WithoutGate is [Error.WithoutGate] for all errors.
func (l List) WithoutGate(gate string) List { return l.each(func(e *Error) { e.WithoutGate(gate) }) }

// Unless limits all errors to servers that have none of the other errors.
func (l List) Unless(other List) List {
	if len(other) == 0 {
		return l
	}
	none := func(r Release) bool {
		return !slices.ContainsFunc(other, func(e *Error) bool { return e.in(r) != nil })
	}
	return l.each(func(e *Error) { e.unless(none, nil) })
}

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
	since    behavior.Behavior // of releases that have the new text
	now, was string
}

var rewordings = []rewording{
	{behavior.WarnsOfSets, "x-kubernetes-list-type: set for items of type *", noText},
	{behavior.WarnsOfHeadlessFields, "*is ignored for headless services", noText},
	{behavior.WarnsOfTrafficDistribution, "spec.trafficDistribution: *", noText},
	{behavior.WarnsOfQuotas, "ResourceQuota * should be less than *", noText},
	{behavior.GitRepoDisabled, "*gitRepo: deprecated in v1.11, and disabled by default in v1.33+", "*gitRepo: deprecated in v1.11"},
	{behavior.WarnsOfAddresses, "*: non-standard IP address * is invalid: use *", noText},
	{behavior.WarnsOfAddresses, "*: non-standard CIDR value * is invalid: use *", noText},
	{behavior.WarnsOfAddresses, "*: IPv6 address * should be in RFC 5952 canonical format *", noText},
	{behavior.WarnsOfAddresses, "*: IPv6 CIDR value * should be in RFC 5952 canonical format *", noText},
	{behavior.WarnsOfAddresses, "*: CIDR value * is ambiguous in this context *", noText},
	{behavior.RefusesAddresses, "*: non-standard CIDR value * is invalid: use *", "*: non-standard CIDR value * will be considered invalid in a future Kubernetes release: use *"},
	{behavior.RefusesAddresses, "*: non-standard IP address * is invalid: use *", "*: non-standard IP address * will be considered invalid in a future Kubernetes release: use *"},
	{behavior.WarnsOfPortNames, "*: duplicate port name * with *, services and probes that select ports by name will use *", noText},
	{behavior.ValidatesAffinityValues, "*.preference.matchExpressions[*].values[*]: * is invalid, *", noText},
	{behavior.WarnsOfUnlimitedHistory, "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended", noText},
	{behavior.WarnsOfFormats, "unrecognized format *", noText},
	{behavior.WarnsOfCSITokens, "spec.serviceAccountTokenInSecrets is unset; *", noText},
	{behavior.DeprecatesExternalIPs, "spec.externalIPs is deprecated and may no longer be implemented in some clusters", noText},
	{behavior.PlainDetails, "when `hostUsers` is false", "when `pod.Spec.HostUsers` is false"},
	{behavior.PlainDetails, "may not be more than 1 byte", "may not be more than 1 bytes"},
	{behavior.PlainDetails, "must have at most 1 item", "must have at most 1 items"},
	{behavior.LengthsInBytes, "*must be no more than * bytes", "*must be no more than * characters"},
	{behavior.LabelKeyTexts, "*a valid label key must consist of*", "*a qualified name must consist of*"},
}

// noText marks a warning that older releases do not give.
const noText = ""

// lastRewording is the newest behavior of rewordings.
var lastRewording = slices.MaxFunc(rewordings, func(a, b rewording) int { return cmp.Compare(a.since, b.since) }).since

// Warnings returns warnings as a release words them, without those that it does not give.
func Warnings(r Release, texts []string) []string {
	if has(r, lastRewording) {
		return texts
	}
	var out []string
	for _, text := range texts {
		if text = Reword(r, text); text != noText {
			out = append(out, text)
		}
	}
	return out
}

// Reword returns a text as a release, nil for the newest, words it.
func Reword(r Release, text string) string {
	for _, w := range rewordings {
		if !has(r, w.since) {
			text = w.apply(text)
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

// In returns the errors of a release, nil for the newest, in an object of a group and kind.
// It does not change the list.
func (l List) In(r Release, group, kind string) List {
	l = l.Repeated(r, group, kind)
	if r == nil || !r.Has(behavior.UniqueErrors) {
		return l
	}
	var out List
	for _, e := range l {
		if !slices.ContainsFunc(out, e.same) {
			out = append(out, e)
		}
	}
	return out
}

// Repeated is In for a kind whose errors are reported as often as they are found in all releases.
func (l List) Repeated(r Release, group, kind string) List {
	if len(l) == 0 {
		return nil
	}
	var out List
	for _, e := range l {
		if e = e.in(r); e == nil {
			continue
		}
		if r != nil && (!r.Has(lastRewording) || unversioned.HasOlderTypes(r.Minor())) {
			e = e.inOlder(r, group, kind)
		}
		out = append(out, e)
	}
	if has(r, behavior.DeclarativeErrors) {
		return out.declarativeLast(group, kind)
	}
	return out
}

// declarativeLast returns the list with the errors of declarative validation at the end, in the order of
// the fields of the Go types. Those of a list or a union stand before those of what is in it.
func (l List) declarativeLast(group, kind string) List {
	var out, last List
	positions, known := map[*Error][]int{}, true
	for _, e := range l {
		if !e.declarative {
			out = append(out, e)
			continue
		}
		last = append(last, e)
		field := e.Field
		switch e.Reason {
		case ReasonDuplicate: // of a list
			field = field[:max(0, strings.LastIndexByte(field, '['))]
		case ReasonForbidden: // of a union
			field = field[:max(0, strings.LastIndexByte(field, '.'))]
		}
		position, ok := unversioned.Position(group, kind, field)
		positions[e], known = position, known && ok
	}
	if known {
		slices.SortStableFunc(last, func(a, b *Error) int {
			return cmp.Or(slices.Compare(positions[a], positions[b]), cmp.Compare(rank(a), rank(b)))
		})
	}
	return append(out, last...)
}

// rank returns the order in which the rules of a field are checked: the number of its characters
// comes last. A length in bytes belongs to a format.
func rank(e *Error) int {
	if e.Reason == ReasonTooLong && strings.HasSuffix(e.Detail, "characters") {
		return 1
	}
	return 0
}

// same reports whether two errors have the same texts.
func (e *Error) same(other *Error) bool {
	return e.Reason == other.Reason && e.Field == other.Field && e.Body() == other.Body()
}

// inOlder returns the error with the texts of an older release.
func (e *Error) inOlder(r Release, group, kind string) *Error {
	older, minor := *e, r.Minor()
	if e.detailIn != nil {
		older.Detail = e.detailIn(minor)
	}
	older.Detail = Reword(r, older.Detail)
	if v, ok := e.BadValue.(unversioned.Value); ok {
		v.Minor = minor
		older.BadValue = v
	}
	if !r.Has(behavior.GoValuesAsJSON) {
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
	if e.handwritten {
		r = handwrittenRelease{r}
	}
	for _, v := range e.variants {
		if v.applies(r) {
			return v.Error
		}
	}
	return e
}

// goSyntax is a bad value that is printed already.
type goSyntax string

// inGoSyntax returns the bad value of an error as releases without [behavior.GoValuesAsJSON] print it.
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
		if keyType != "" && key == string(v) {
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
