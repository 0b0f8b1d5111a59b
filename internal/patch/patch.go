// Package patch applies patches to objects: JSON Patch (RFC 6902), JSON Merge
// Patch (RFC 7386) and strategic merge patch. Server-side apply is in package
// fieldmanager.
//
// JSON Patch and JSON Merge Patch use the library that kube-apiserver uses, so
// that corner cases agree. They work on the JSON text of an object and do not
// know its type. A strategic merge patch takes from the schema of the kind
// which lists are merged, and by which key.
//
// Results are not yet valid objects of their kind: the caller decodes them.
package patch

// The media types of patches.
const (
	JSONType      = "application/json-patch+json"
	MergeType     = "application/merge-patch+json"
	StrategicType = "application/strategic-merge-patch+json"
	ApplyType     = "application/apply-patch+yaml"
	ApplyCBORType = "application/apply-patch+cbor"
)

// A MalformedError is returned for a patch that is invalid regardless of the
// object.
type MalformedError struct{ Message string }

func (e *MalformedError) Error() string { return e.Message }

// An InapplicableError is returned for a valid patch that does not apply to the
// object: a path is missing, or a test failed.
type InapplicableError struct{ Err error }

func (e *InapplicableError) Error() string { return e.Err.Error() }

func (e *InapplicableError) Unwrap() error { return e.Err }
