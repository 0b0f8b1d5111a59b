package wire

import (
	"strconv"
	"strings"
)

// A TypeError says that a JSON value is not one the Go type at its place can
// hold. Its text is that of encoding/json's error of the same purpose.
type TypeError struct {
	Value  string // what was found: "string", "number 1.5", "object"
	Struct string // the struct around it, "DeploymentSpec"; "" outside any
	Field  string // its path from the top, "spec.replicas"; "" for the whole
	GoType string // what should have been there, "int32"
}

func (e *TypeError) Error() string {
	if e.Struct != "" || e.Field != "" {
		return "json: cannot unmarshal " + e.Value + " into Go struct field " + e.Struct + "." + e.Field + " of type " + e.GoType
	}
	return "json: cannot unmarshal " + e.Value + " into Go value of type " + e.GoType
}

// A Problem is what makes a FieldError.
type Problem string

// The problems a strict Decode reports.
const (
	UnknownField   Problem = "unknown field"
	DuplicateField Problem = "duplicate field"
)

// A FieldError is a member of a body that a strict Decode reports though it
// could decode the body.
type FieldError struct {
	Problem Problem
	Path    string // "spec.template.spec.containers[0].foo"
}

func (e FieldError) Error() string { return string(e.Problem) + " " + strconv.Quote(e.Path) }

// maxFieldErrors is how many FieldErrors one Decode reports at most.
const maxFieldErrors = 100

// A step is one step of the path to the value being decoded: a field of a
// struct, a key of a map or an index of a list.
type step struct {
	owner *node  // the struct, for a field
	field *field // nil for a key or an index
	key   string
	index int // -1 for a key
}

// report records a strict error about a member of the current object.
func (d *decoder) report(p Problem, member string) {
	if !d.strict || len(d.fieldErrors) == maxFieldErrors {
		return
	}
	var b strings.Builder
	for i, s := range d.path {
		switch {
		case s.field == nil && s.index >= 0:
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(s.index))
			b.WriteByte(']')
			continue
		case i > 0:
			b.WriteByte('.')
		}
		if s.field != nil {
			b.WriteString(s.field.name)
		} else {
			b.WriteString(s.key)
		}
	}
	if len(d.path) > 0 {
		b.WriteByte('.')
	}
	b.WriteString(member)
	e := FieldError{p, b.String()}
	for _, seen := range d.fieldErrors {
		if seen == error(e) {
			return
		}
	}
	d.fieldErrors = append(d.fieldErrors, e)
}

// mismatch records that the value at hand does not fit the Go type n. Decoding
// goes on, since an error of syntax further on would take precedence.
func (d *decoder) mismatch(value string, n *node) {
	d.save(d.inContext(&TypeError{Value: value, GoType: n.goType}))
}

// save records an error, unless there was one before.
func (d *decoder) save(err error) {
	if d.saved == nil {
		d.saved = err
	}
}

// inContext completes a TypeError by the place of the value being decoded.
func (d *decoder) inContext(err error) error {
	e, ok := err.(*TypeError)
	if !ok {
		return err
	}
	var names []string
	for _, s := range d.path[d.base:] {
		if s.field != nil {
			names = append(names, s.field.errorName)
			e.Struct = s.owner.name
		}
	}
	if e.Field != "" && len(names) > 0 {
		names = append(names, e.Field)
	}
	if len(names) > 0 {
		e.Field = strings.Join(names, ".")
	}
	return e
}
