package wire

import (
	"strconv"
	"strings"
)

// A TypeError reports a JSON value that does not fit the Go type of its field.
// Its text is that of encoding/json's UnmarshalTypeError.
type TypeError struct {
	Value  string // the value in the body: "string", "number 1.5", "object"
	Struct string // the enclosing struct, "DeploymentSpec"; "" if there is none
	Field  string // the path from the root, "spec.replicas"; "" for the root
	GoType string // the expected type, "int32"
}

func (e *TypeError) Error() string {
	if e.Struct != "" || e.Field != "" {
		return "json: cannot unmarshal " + e.Value + " into Go struct field " + e.Struct + "." + e.Field + " of type " + e.GoType
	}
	return "json: cannot unmarshal " + e.Value + " into Go value of type " + e.GoType
}

// A Problem is the reason of a FieldError.
type Problem string

// The problems that strict decoding reports.
const (
	UnknownField   Problem = "unknown field"
	DuplicateField Problem = "duplicate field"
)

// A FieldError reports an unknown or duplicate member of a body.
type FieldError struct {
	Problem Problem
	Path    string // "spec.template.spec.containers[0].foo"
}

func (e FieldError) Error() string { return string(e.Problem) + " " + strconv.Quote(e.Path) }

// maxFieldErrors is the maximum number of FieldErrors of one document.
const maxFieldErrors = 100

// A step is one step of the path to the current value: a field of a struct, a
// key of a map or an index of a list.
type step struct {
	owner *node  // the struct of a field
	field *field // nil for a key or an index
	key   string
	index int // -1 for a key
}

// report records a FieldError about a member of the current object.
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

// mismatch records that the current value does not fit the Go type n. Decoding
// continues, because a later syntax error takes precedence.
func (d *decoder) mismatch(value string, n *node) {
	if d.saved != nil {
		return // of the errors, the first is returned
	}
	d.save(d.inContext(&TypeError{Value: value, GoType: n.goType}))
}

// save records an error, unless there was one before.
func (d *decoder) save(err error) {
	if d.saved == nil {
		d.saved = err
	}
}

// inContext adds the position of the current value to a TypeError.
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
