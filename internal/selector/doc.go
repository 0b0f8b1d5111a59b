// Package selector parses and matches label selectors and field selectors as
// kube-apiserver v1.36 does: the same grammar, the same validation, the same
// messages, the same canonical form.
//
// A label selector is a comma-separated list of requirements that must all
// hold:
//
//	key               the label exists
//	!key              it does not
//	key = value       also key == value; key = is the empty value
//	key != value      holds for objects without the label, too
//	key in (a, b)     in () is the empty value
//	key notin (a, b)  holds for objects without the label, too
//	key > 5           the label exists and is a greater integer; also <
//
// A field selector knows equality only: field=value, field==value and
// field!=value, separated by commas. In a value a backslash escapes comma,
// equals sign and backslash; blanks count. Which fields exist is for the
// caller to decide, see [Fields.Transform].
//
// The values of this package are immutable and may be used by any number of
// goroutines. Matching allocates nothing.
package selector
