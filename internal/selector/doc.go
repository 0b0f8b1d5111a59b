// Package selector parses and matches label selectors and field selectors as
// kube-apiserver v1.36 does: the same grammar, validation, messages and
// canonical form.
//
// A label selector is a comma-separated list of requirements, all of which must
// match:
//
//	key               the label exists
//	!key              the label does not exist
//	key = value       also key == value; key = is the empty value
//	key != value      matches objects without the label, too
//	key in (a, b)     in () is the empty value
//	key notin (a, b)  matches objects without the label, too
//	key > 5           the label exists and is a greater integer; also <
//
// A field selector supports equality only: field=value, field==value and
// field!=value, separated by commas. In a value a backslash escapes comma,
// equals sign and backslash; blanks are significant. The caller checks which
// fields exist, see [Fields.Transform].
//
// The values of this package are immutable and safe for concurrent use.
// Matching does not allocate.
package selector
