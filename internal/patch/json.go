package patch

import (
	"fmt"
	"sync"
	"sync/atomic"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/wire"
)

// maxOperations is the maximum number of operations in a JSON Patch.
const maxOperations = 10000

// maxCopied is how many bytes the copy operations of a JSON Patch may add, as in
// kube-apiserver. Each may double an object.
const maxCopied = 3 << 20

// limitCopies sets maxCopied, unless the program has set a limit of its own: the library has
// one for all patches.
var limitCopies = sync.OnceFunc(func() {
	atomic.CompareAndSwapInt64(&jsonpatch.AccumulatedCopySizeLimit, 0, maxCopied)
})

// A TooManyError is returned for a JSON Patch with more than 10,000 operations.
type TooManyError struct{ Operations int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, e.Operations)
}

// A JSONPatch is a parsed JSON Patch. It is immutable.
type JSONPatch struct {
	// FieldErrors are the unknown and duplicate fields of the operations, if
	// strict was set. Apply ignores such fields.
	FieldErrors []error

	operations jsonpatch.Patch
}

// ParseJSON parses a JSON Patch.
//
// Errors: *MalformedError, *TooManyError.
func ParseJSON(body []byte, strict bool) (*JSONPatch, error) {
	p := &JSONPatch{}
	if strict {
		fieldErrors, err := wire.CheckJSONPatch(body)
		if err != nil {
			return nil, &MalformedError{"error decoding patch: " + err.Error()}
		}
		for _, e := range fieldErrors {
			p.FieldErrors = append(p.FieldErrors, fmt.Errorf("json patch %w", e))
		}
	}
	var err error
	if p.operations, err = decodeOperations(body); err != nil {
		return nil, err
	}
	if len(p.operations) > maxOperations {
		return nil, &TooManyError{len(p.operations)}
	}
	return p, nil
}

// Apply applies the patch to the JSON text of an object and returns the changed
// text. It does not change doc.
//
// Errors: *InapplicableError.
//
// Differs from kube-apiserver: JSON patches that panic: the library that both
// servers use panics for some patches. Here they fail as inapplicable. Request:
// PATCH with [{"op": "replace", "path": ""}].
func (p *JSONPatch) Apply(doc []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, &InapplicableError{fmt.Errorf("panic: %v", r)}
		}
	}()
	limitCopies()
	if out, err = p.operations.Apply(doc); err != nil {
		return nil, &InapplicableError{err}
	}
	return out, nil
}

// JSON parses and applies a JSON Patch of any number of operations.
//
// Errors: *MalformedError, *InapplicableError.
func JSON(doc, body []byte) ([]byte, error) {
	operations, err := decodeOperations(body)
	if err != nil {
		return nil, err
	}
	return (&JSONPatch{operations: operations}).Apply(doc)
}

// decodeOperations decodes a JSON Patch. The error is a *MalformedError.
func decodeOperations(body []byte) (jsonpatch.Patch, error) {
	operations, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, &MalformedError{err.Error()}
	}
	return operations, nil
}
