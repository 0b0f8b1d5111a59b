// Package patch changes an object by a patch, in the three ways in which the
// patch alone says what to change; the fourth, server-side apply, remembers who
// owns what and is a package of its own.
//
// JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386) are those of the library
// that kube-apiserver uses, so that their corner cases agree. They work on the
// text of an object and know nothing of its type. A strategic merge patch knows
// which lists are merged, and by which key, from the schema of the kind.
//
// What a patch makes is not yet an object of its kind: the caller decodes it.
package patch

// The media types of patches.
const (
	JSONType      = "application/json-patch+json"
	MergeType     = "application/merge-patch+json"
	StrategicType = "application/strategic-merge-patch+json"
	ApplyType     = "application/apply-patch+yaml"
	ApplyCBORType = "application/apply-patch+cbor"
)

// A MalformedError says that the patch itself makes no sense.
type MalformedError struct{ Message string }

func (e *MalformedError) Error() string { return e.Message }

// An InapplicableError says that the patch makes sense, but not for this
// object: a path is missing, or a test failed.
type InapplicableError struct{ Err error }

func (e *InapplicableError) Error() string { return e.Err.Error() }

func (e *InapplicableError) Unwrap() error { return e.Err }
