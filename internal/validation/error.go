package validation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/unversioned"
)

// A Reason is the type of an error, as in the causes of a Status.
type Reason string

// The reasons. TypeInvalid has the same text as Invalid in messages.
const (
	ReasonNotFound     Reason = "FieldValueNotFound"
	ReasonRequired     Reason = "FieldValueRequired"
	ReasonDuplicate    Reason = "FieldValueDuplicate"
	ReasonInvalid      Reason = "FieldValueInvalid"
	ReasonNotSupported Reason = "FieldValueNotSupported"
	ReasonForbidden    Reason = "FieldValueForbidden"
	ReasonTooLong      Reason = "FieldValueTooLong"
	ReasonTooMany      Reason = "FieldValueTooMany"
	ReasonTypeInvalid  Reason = "FieldValueTypeInvalid"
	ReasonInternal     Reason = "InternalError"
)

var reasonText = map[Reason]string{
	ReasonNotFound:     "Not found",
	ReasonRequired:     "Required value",
	ReasonDuplicate:    "Duplicate value",
	ReasonInvalid:      "Invalid value",
	ReasonNotSupported: "Unsupported value",
	ReasonForbidden:    "Forbidden",
	ReasonTooLong:      "Too long",
	ReasonTooMany:      "Too many",
	ReasonTypeInvalid:  "Invalid value",
	ReasonInternal:     "Internal error",
}

// An Error is an error about one field.
type Error struct {
	Reason Reason
	Field  string // a formatted Path
	// BadValue is quoted in the message, except with the reasons Required,
	// Forbidden, TooLong and Internal.
	BadValue any
	Detail   string // may be empty
	// Tolerated marks an error in a part that an update did not change. It does
	// not fail the update; the client gets a warning.
	Tolerated bool

	declarative bool // see Declarative
	handwritten bool // see Handwritten

	// detailIn returns the detail in a release, nil if it is the same in all.
	detailIn func(minor int) string

	// variants are what the error is elsewhere than in the newest release. The first
	// that applies counts.
	variants []variant
}

// A variant replaces an error, or removes it if Error is nil.
type variant struct {
	applies func(Release) bool
	*Error
}

func newError(reason Reason, path *Path, value any, detail string) *Error {
	return &Error{Reason: reason, Field: path.String(), BadValue: value, Detail: detail}
}

// A NamedString is a string with its own Go type in the API, such as a UID or
// an enumeration. As a BadValue it is formatted as JSON: "\u003ca\u003e". A plain
// string is quoted as in Go: "<a>".
type NamedString string

// NoValue is the BadValue of an error that quotes none; nil would be printed as
// null.
type NoValue struct{}

// Error returns the field and the body: "spec.replicas: Invalid value: -1: must
// be greater than or equal to 0".
func (e *Error) Error() string {
	return e.Field + ": " + e.Body()
}

// Body returns the message without the field: the message of a cause.
//
// A string as bad value is quoted as in Go. Any other value is formatted as
// JSON: nil is null, and pointers are dereferenced.
func (e *Error) Body() string {
	var b strings.Builder
	b.WriteString(reasonText[e.Reason])
	switch e.Reason {
	case ReasonRequired, ReasonForbidden, ReasonTooLong, ReasonInternal:
	default:
		if e.BadValue != (NoValue{}) {
			b.WriteString(": ")
			b.WriteString(printed(e.BadValue))
		}
	}
	if e.Detail != "" {
		b.WriteString(": ")
		b.WriteString(e.Detail)
	}
	return b.String()
}

func printed(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case int64, int32, float64, float32, bool:
		return fmt.Sprint(v)
	case goSyntax:
		return string(v)
	case unversioned.Quantity:
		return v.GoSyntax()
	case quantities:
		return unversioned.Value(v).GoSyntax()
	}
	text, err := json.Marshal(v)
	if err == nil {
		return string(text)
	}
	if v, ok := v.(fmt.Stringer); ok {
		return v.String()
	}
	return fmt.Sprintf("%#v", v)
}

// NotFound reports a reference to a missing object.
func NotFound(path *Path, value any) *Error {
	return newError(ReasonNotFound, path, value, "")
}

// Required reports a missing value. The detail may be empty.
func Required(path *Path, detail string) *Error {
	return newError(ReasonRequired, path, "", detail)
}

// Duplicate reports a value that must be unique.
func Duplicate(path *Path, value any) *Error {
	return newError(ReasonDuplicate, path, value, "")
}

// Invalid reports a value that breaks the rule in detail.
func Invalid(path *Path, value any, detail string) *Error {
	return newError(ReasonInvalid, path, value, detail)
}

// Inconsistent reports a value that contradicts itself or the rest of the
// object, without quoting it.
func Inconsistent(path *Path, detail string) *Error {
	return Invalid(path, NoValue{}, detail)
}

// TypeInvalid reports a value of another type than the schema declares.
func TypeInvalid(path *Path, value any, detail string) *Error {
	return newError(ReasonTypeInvalid, path, value, detail)
}

// NotSupported reports a value that is not in an enumeration. The message lists
// the supported values in the given order; there may be none.
func NotSupported(path *Path, value any, supported []string) *Error {
	detail := ""
	if len(supported) > 0 {
		quoted := make([]string, len(supported))
		for i, s := range supported {
			quoted[i] = strconv.Quote(s)
		}
		detail = "supported values: " + strings.Join(quoted, ", ")
	}
	return newError(ReasonNotSupported, path, value, detail)
}

// Forbidden reports a value that must not be set here. detail is the reason.
func Forbidden(path *Path, detail string) *Error {
	return newError(ReasonForbidden, path, "", detail)
}

// TooLong reports a value of more than limit bytes, without quoting it. The
// message omits a negative limit.
func TooLong(path *Path, limit int) *Error {
	detail := "value is too long"
	if limit >= 0 {
		detail = "may not be more than " + count(limit, "byte")
	}
	return newError(ReasonTooLong, path, "<value omitted>", detail)
}

// TooMany reports a list of more than limit items. The message omits a negative
// actual or limit.
func TooMany(path *Path, actual, limit int) *Error {
	detail := "has too many items"
	if limit >= 0 {
		detail = "must have at most " + count(limit, "item")
	}
	var value any = NoValue{}
	if actual >= 0 {
		value = actual
	}
	return newError(ReasonTooMany, path, value, detail)
}

// Internal reports an error that the request did not cause. err must not be
// nil.
func Internal(path *Path, err error) *Error {
	return newError(ReasonInternal, path, err, err.Error())
}

func count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.Itoa(n) + " " + unit + "s"
}

// A List has all errors, in the order of the checks. An empty list means that
// the object is valid.
type List []*Error

// Message returns the text for a Status: a single error, or all of them as "[a,
// b]", each distinct text once. It is empty for an empty list.
func (l List) Message() string {
	seen := make(map[string]bool, len(l))
	var texts []string
	for _, e := range l {
		if text := e.Error(); !seen[text] {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// Among returns the errors of l that other has too: at the same field, for the same reason.
func (l List) Among(other List) (out List) {
	for _, e := range l {
		if slices.ContainsFunc(other, func(o *Error) bool { return o.Field == e.Field && o.Reason == e.Reason }) {
			out = append(out, e)
		}
	}
	return out
}

// Split returns the errors that fail the request, and the texts of those that
// are tolerated.
func (l List) Split() (failing List, tolerated []string) {
	if !slices.ContainsFunc(l, func(e *Error) bool { return e.Tolerated }) {
		return l, nil
	}
	for _, e := range l {
		if e.Tolerated {
			tolerated = append(tolerated, e.Error())
			continue
		}
		failing = append(failing, e)
	}
	return failing, tolerated
}

// Each returns an Invalid error for each message that a format check returned
// for value.
func Each[T any](path *Path, value T, messages []string) List {
	var list List
	for _, m := range messages {
		list = append(list, Invalid(path, value, m))
	}
	return list
}
