package patch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/kubefake/kubefake/internal/object"
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
	// strict was set. They are ignored when the patch is applied.
	FieldErrors []error

	body  []byte
	edits []any // the operations in generic form, nil if they cannot be applied in it
}

// ParseJSON parses a JSON Patch. It keeps body, which must not change.
//
// Errors: *MalformedError, *TooManyError.
func ParseJSON(body []byte, strict bool) (*JSONPatch, error) {
	p := &JSONPatch{body: body}
	edits, fieldErrors, err := wire.DecodeJSONPatch(body)
	n := len(edits)
	switch {
	case err != nil && strict:
		return nil, &MalformedError{"error decoding patch: " + err.Error()}
	case err != nil: // perhaps a path that is not a string
		operations, err := decodeOperations(body)
		if err != nil {
			return nil, err
		}
		n = len(operations)
	case len(fieldErrors) > 0 && strict:
		for _, e := range fieldErrors {
			p.FieldErrors = append(p.FieldErrors, fmt.Errorf("json patch %w", e))
		}
	case len(fieldErrors) == 0 && n <= maxEdits:
		p.edits = edits
	}
	if n > maxOperations {
		return nil, &TooManyError{n}
	}
	return p, nil
}

// ApplyText applies the patch to the JSON text of an object and returns the changed
// text. It does not change doc.
//
// Errors: *InapplicableError.
//
// Differs from kube-apiserver: JSON patches that panic: the library that both
// servers use panics for some patches. Here they fail as inapplicable. Request:
// PATCH with [{"op": "replace", "path": ""}].
func (p *JSONPatch) ApplyText(doc []byte) ([]byte, error) {
	operations, err := decodeOperations(p.body)
	if err != nil {
		return nil, err
	}
	if steps := commonSteps(operations); len(steps) >= manySteps {
		return applyBelow(steps, operations, doc)
	}
	return applyOperations(operations, doc)
}

// JSON parses and applies a JSON Patch of any number of operations.
//
// Errors: *MalformedError, *InapplicableError.
func JSON(doc, body []byte) ([]byte, error) { return (&JSONPatch{body: body}).ApplyText(doc) }

func applyOperations(operations jsonpatch.Patch, doc []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, &InapplicableError{fmt.Errorf("panic: %v", r)}
		}
	}()
	limitCopies()
	if out, err = operations.Apply(doc); err != nil {
		return nil, &InapplicableError{err}
	}
	return out, nil
}

// manySteps is the number of steps from which on applyBelow is worth its work.
const manySteps = 16

// applyBelow applies operations whose paths begin with the same steps to the value there. The time
// of the library is quadratic in the depth of what it changes: it decodes and encodes each level
// again with all that is below it.
func applyBelow(steps []string, operations jsonpatch.Patch, doc []byte) ([]byte, error) {
	root := parseText(doc)
	at, n := root, 0
	for _, step := range steps {
		below := at.child(step)
		if below == nil || below.members == nil && below.items == nil {
			break
		}
		at.raw = nil
		at, n = below, n+1
	}
	if n == 0 {
		return applyOperations(operations, doc)
	}
	cut := make(jsonpatch.Patch, len(operations))
	for i, op := range operations {
		cut[i] = maps.Clone(op)
		for _, name := range pointers(op) {
			path, _ := pointerOf(op, name) // commonSteps has found it
			rest, _ := json.Marshal("/" + strings.Join(path[n:], "/"))
			raw := json.RawMessage(rest)
			cut[i][name] = &raw
		}
	}
	changed, err := applyOperations(cut, at.raw)
	if err != nil {
		return nil, err
	}
	*at = text{raw: changed}
	return root.append(nil), nil
}

// child returns the member or element at a step of a path, nil if there is none or it is null.
func (t *text) child(step string) *text {
	if t.members != nil {
		return t.members[unescapeStep.Replace(step)]
	}
	i, err := strconv.Atoi(step)
	if err != nil || i < 0 || i >= len(t.items) || strconv.Itoa(i) != step {
		return nil
	}
	return t.items[i]
}

// commonSteps returns the first steps that the paths of all operations have in common, without
// the last step of any.
func commonSteps(operations jsonpatch.Patch) (common []string) {
	for i, op := range operations {
		for j, name := range pointers(op) {
			path, ok := pointerOf(op, name)
			if !ok {
				return nil
			}
			steps := path[:len(path)-1]
			if i == 0 && j == 0 {
				common = steps
			}
			n := 0
			for n < len(common) && n < len(steps) && common[n] == steps[n] {
				n++
			}
			common = common[:n]
		}
	}
	return common
}

// pointers returns the names of the members of an operation that are paths.
func pointers(op jsonpatch.Operation) []string {
	if kind := op.Kind(); kind == "move" || kind == "copy" {
		return []string{"path", "from"}
	}
	return []string{"path"}
}

// pointerOf returns the steps of a path of an operation.
func pointerOf(op jsonpatch.Operation, name string) (steps []string, ok bool) {
	var pointer string
	if op[name] == nil || json.Unmarshal(*op[name], &pointer) != nil {
		return nil, false
	}
	pointer, ok = strings.CutPrefix(pointer, "/")
	return strings.Split(pointer, "/"), ok
}

// decodeOperations decodes a JSON Patch. The error is a *MalformedError.
func decodeOperations(body []byte) (jsonpatch.Patch, error) {
	operations, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, &MalformedError{err.Error()}
	}
	return operations, nil
}

// maxEdits is the number of operations above which copying what each of them changes takes
// longer than encoding and decoding the object.
const maxEdits = 32

// Apply is ApplyText for an object in generic form. It does not change obj. The
// result is a copy that shares with obj what the patch does not change, and other values
// with the patch.
//
// It reports false if ApplyText has to be used: for a patch that does not apply, and for one
// with moves and copies, many operations, rare paths, numbers that are not int64, nulls, or
// strings whose text matters.
func (p *JSONPatch) Apply(obj map[string]any) (patched map[string]any, ok bool) {
	if p.edits == nil {
		return nil, false
	}
	var v any = obj
	for _, e := range p.edits {
		e := edit(e.(map[string]any))
		path, ok := strings.CutPrefix(object.String(e, "path"), "/")
		if !ok || !e.isPlain(p.body) {
			return nil, false
		}
		if v, ok = e.apply(v, path); !ok {
			return nil, false
		}
	}
	if object.Same(v, obj) {
		v = maps.Clone(obj)
	}
	return v.(map[string]any), true
}

// An edit is an operation of a JSON Patch in generic form.
type edit map[string]any

const (
	addValue     = "add"
	removeValue  = "remove"
	replaceValue = "replace"
	testValue    = "test"
)

// isPlain reports whether the result of the operation depends only on its generic form. A test
// compares texts.
func (e edit) isPlain(body []byte) bool {
	value, hasValue := e["value"]
	switch e["op"] {
	case removeValue:
		return true
	case addValue, replaceValue:
		return hasValue && object.All(value, plain)
	case testValue:
		return hasValue && bytes.IndexByte(body, '\\') < 0 && object.All(value, plainText)
	}
	return false
}

// plainText reports whether a value has one text, unless that has an escape in it.
func plainText(name string, v any) bool {
	switch v := v.(type) {
	case string:
		return wire.IsPrintableASCII(v) && len(wire.AppendString(nil, v)) == len(v)+len(`""`)
	case int64:
		return v != 0 // may be -0
	case bool, map[string]any, []any:
		return true
	}
	return false
}

// unescapeStep replaces the escapes in a step of a path.
var unescapeStep = strings.NewReplacer("~1", "/", "~0", "~")

// apply returns a value with the change at a path below it, whose first step is without its
// slash: v itself if it does not change.
func (e edit) apply(v any, path string) (changed any, ok bool) {
	step, path, more := strings.Cut(path, "/")
	step = unescapeStep.Replace(step)
	switch v := v.(type) {
	case map[string]any:
		return e.applyToMember(v, step, path, more)
	case []any:
		if step == "-" && !more && e["op"] == addValue {
			return append(slices.Clip(v), e["value"]), true
		}
		if i, err := strconv.Atoi(step); err == nil && i >= 0 {
			return e.applyToElement(v, i, path, more)
		}
	}
	return nil, false
}

// applyToMember is apply for a member of an object, or, with more, for what is below it.
func (e edit) applyToMember(obj map[string]any, name, path string, more bool) (changed any, ok bool) {
	was, had := obj[name]
	now := e["value"]
	switch {
	case more:
		if now, ok = e.apply(was, path); !ok {
			return nil, false
		}
	case e["op"] == testValue:
		return obj, had && object.Equal(was, now)
	case e["op"] == removeValue:
		if !had {
			return nil, false
		}
		out := maps.Clone(obj)
		delete(out, name)
		return out, true
	}
	if had && object.Identical(was, now) {
		return obj, true
	}
	out := maps.Clone(obj)
	out[name] = now
	return out, true
}

// applyToElement is apply for an element of a list, or, with more, for what is below it.
func (e edit) applyToElement(list []any, i int, path string, more bool) (changed any, ok bool) {
	if i == len(list) && !more && e["op"] == addValue {
		return append(slices.Clip(list), e["value"]), true
	}
	if i >= len(list) {
		return nil, false
	}
	now := e["value"]
	switch {
	case more:
		if now, ok = e.apply(list[i], path); !ok {
			return nil, false
		}
	case e["op"] == testValue:
		return list, object.Equal(list[i], now)
	case e["op"] == removeValue:
		return append(append(make([]any, 0, len(list)-1), list[:i]...), list[i+1:]...), true
	case e["op"] == addValue:
		return slices.Insert(slices.Clip(list), i, now), true
	}
	if object.Identical(list[i], now) {
		return list, true
	}
	out := slices.Clone(list)
	out[i] = now
	return out, true
}
