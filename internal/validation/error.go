package validation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Reason is the kind of a mistake, as the causes of a Status carry it.
type Reason string

// The reasons. TypeInvalid reads like Invalid in messages.
const (
	ReasonNotFound     Reason = "FieldValueNotFound"
	ReasonRequired     Reason = "FieldValueRequired"
	ReasonDuplicate    Reason = "FieldValueDuplicate"
	ReasonInvalid      Reason = "FieldValueInvalid"
	ReasonNotSupported Reason = "FieldValueNotSupported"
	ReasonForbidden    Reason = "FieldValueForbidden"
	ReasonTooLong      Reason = "FieldValueTooLong"
	ReasonTooShort     Reason = "FieldValueTooShort"
	ReasonTooMany      Reason = "FieldValueTooMany"
	ReasonTooFew       Reason = "FieldValueTooFew"
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
	ReasonTooShort:     "Too short",
	ReasonTooMany:      "Too many",
	ReasonTooFew:       "Too few",
	ReasonTypeInvalid:  "Invalid value",
	ReasonInternal:     "Internal error",
}

// An Error is one mistake in one field.
type Error struct {
	Reason Reason
	Field  string // a Path, printed
	// BadValue is quoted in the message, except for the reasons whose text
	// speaks for itself: Required, Forbidden, TooLong, TooShort and Internal.
	BadValue any
	Detail   string // may be empty
	// Tolerated is whether the mistake is in what an update leaves as it was. It
	// is not held against the object, and its client is warned of it.
	Tolerated bool
}

func newError(reason Reason, path *Path, value any, detail string) *Error {
	return &Error{Reason: reason, Field: path.String(), BadValue: value, Detail: detail}
}

// A NamedString is a string of which the API makes a type of its own, such as a
// UID or an enumeration. As a BadValue it is printed as JSON prints it, where a
// plain string is quoted as Go does: "\u003ca\u003e" and "<a>".
type NamedString string

// NoValue is the BadValue of an error that has none to quote, where nil would
// print as null.
type NoValue struct{}

// Error is the field and the body: "spec.replicas: Invalid value: -1: must be
// greater than or equal to 0".
func (e *Error) Error() string {
	return e.Field + ": " + e.Body()
}

// Body is the message without the field: the message of a cause.
//
// A bad value that is a string is quoted as Go quotes it. Any other is printed
// as JSON, so that nil is null and a pointer is what it points to.
func (e *Error) Body() string {
	var b strings.Builder
	b.WriteString(reasonText[e.Reason])
	switch e.Reason {
	case ReasonRequired, ReasonForbidden, ReasonTooLong, ReasonTooShort, ReasonInternal:
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

// NotFound reports a reference to something that does not exist.
func NotFound(path *Path, value any) *Error {
	return newError(ReasonNotFound, path, value, "")
}

// Required reports a missing value. The detail may be empty.
func Required(path *Path, detail string) *Error {
	return newError(ReasonRequired, path, "", detail)
}

// Duplicate reports a value that another one must differ from.
func Duplicate(path *Path, value any) *Error {
	return newError(ReasonDuplicate, path, value, "")
}

// Invalid reports a value that breaks a rule, which the detail states.
func Invalid(path *Path, value any, detail string) *Error {
	return newError(ReasonInvalid, path, value, detail)
}

// Inconsistent reports a value whose parts contradict each other or the rest of
// the object, without quoting it.
func Inconsistent(path *Path, detail string) *Error {
	return Invalid(path, NoValue{}, detail)
}

// TypeInvalid reports a value of another type than the schema gives the field.
func TypeInvalid(path *Path, value any, detail string) *Error {
	return newError(ReasonTypeInvalid, path, value, detail)
}

// NotSupported reports a value that is not one of an enumeration. The supported
// ones are listed in the order given; the list may be empty.
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

// Forbidden reports a value that may not be set here, for a reason the detail
// states.
func Forbidden(path *Path, detail string) *Error {
	return newError(ReasonForbidden, path, "", detail)
}

// TooLong reports a value of more than limit bytes, without quoting it. A
// negative limit is left unsaid.
func TooLong(path *Path, limit int) *Error {
	return tooLong(path, limit, "byte")
}

// TooLongCharacters is TooLong for a limit in characters.
func TooLongCharacters(path *Path, limit int) *Error {
	return tooLong(path, limit, "character")
}

func tooLong(path *Path, limit int, unit string) *Error {
	detail := "value is too long"
	if limit >= 0 {
		detail = "may not be more than " + count(limit, unit)
	}
	return newError(ReasonTooLong, path, "<value omitted>", detail)
}

// TooShort reports a value of fewer than limit characters. A negative limit is
// left unsaid.
func TooShort(path *Path, value string, limit int) *Error {
	detail := "value is too short"
	if limit >= 0 {
		detail = "must be at least " + count(limit, "character")
	}
	return newError(ReasonTooShort, path, value, detail)
}

// TooMany reports a list of more than limit items. A negative actual or limit
// is left unsaid.
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

// TooFew reports a list of fewer than limit items. A negative limit is left
// unsaid.
func TooFew(path *Path, actual, limit int) *Error {
	detail := "has too few items"
	if limit >= 0 {
		detail = "must have at least " + count(limit, "item")
	}
	return newError(ReasonTooFew, path, actual, detail)
}

// Internal reports a failure that the request did not cause. The error must not
// be nil.
func Internal(path *Path, err error) *Error {
	return newError(ReasonInternal, path, err, err.Error())
}

func count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.Itoa(n) + " " + unit + "s"
}

// A List holds every mistake found, in the order of the checks. The empty list
// means that the object is valid.
type List []*Error

// Message is the text of a Status for the list: the error alone, or all of them
// as "[a, b]", each distinct text once. It is empty for an empty list.
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

// Held returns the errors that are held against the object, and the texts of
// those that are tolerated.
func (l List) Held() (held List, tolerated []string) {
	if !slices.ContainsFunc(l, func(e *Error) bool { return e.Tolerated }) {
		return l, nil
	}
	for _, e := range l {
		if e.Tolerated {
			tolerated = append(tolerated, e.Error())
			continue
		}
		held = append(held, e)
	}
	return held, tolerated
}

// Each returns one Invalid error for each of the messages that a format check
// gave for value.
func Each[T any](path *Path, value T, messages []string) List {
	var list List
	for _, m := range messages {
		list = append(list, Invalid(path, value, m))
	}
	return list
}
