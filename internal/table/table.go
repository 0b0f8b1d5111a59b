// Package table renders objects as the rows of a meta/v1 Table, which is what
// `kubectl get` prints.
//
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables.
package table

import (
	"encoding/json"
	"time"

	"github.com/kubefake/kubefake/internal/object"
)

// A Column describes a column of cells.
type Column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`   // string, integer, number, boolean or date
	Format      string `json:"format"` // name for the column of names
	Description string `json:"description"`
	Priority    int    `json:"priority"` // 0 is always shown, others in wide output
}

// A Layout defines how the objects of one type are printed. It is immutable.
type Layout struct {
	// Stored is set if the functions below read objects in the storage version, and not in
	// the version of the request.
	Stored bool
	// NullRows makes the rows of an empty list null.
	NullRows bool
	// Columns returns the columns. The caller must not change them.
	Columns func() []Column
	// Cells returns the cells of an object, one for each column.
	Cells func(r Row) []any
	// Conditions returns the conditions of an object's row; nil for types without
	// conditions.
	Conditions func(obj map[string]any) []Condition
	// Compare orders the rows of a list. nil keeps the order of the list.
	Compare func(a, b map[string]any) int
	// Marked returns the index of the object of a list whose [Row.Marked] is set, -1 if there is
	// none; nil for types that mark none.
	Marked func(objs []object.View) int
}

// A Condition is a property of a whole row.
type Condition struct {
	Type    string `json:"type"` // always Completed
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Default is the layout of types without their own: the name and the time of
// creation.
var Default = &Layout{
	NullRows: true,
	Columns:  func() []Column { return defaultColumns },
	Cells: func(r Row) []any {
		return []any{r.Name(), r.Or(time.Time{}.UTC().Format(time.RFC3339), "metadata", "creationTimestamp")}
	},
}

var defaultColumns = []Column{
	{Name: "Name", Type: "string", Format: "name", Description: "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"},
	{Name: "Created At", Type: "date", Description: "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"},
}

// AppendColumns appends the column definitions as JSON.
func (l *Layout) AppendColumns(dst []byte) []byte { return appendJSON(dst, l.Columns()) }

// AppendRow appends a row as JSON. embedded is the encoded object of the row, nil
// for none.
func (l *Layout) AppendRow(dst []byte, r Row, embedded []byte) []byte {
	dst = append(dst, `{"cells":`...)
	dst = appendJSON(dst, l.Cells(r))
	if l.Conditions != nil {
		if c := l.Conditions(r.Obj); len(c) > 0 {
			dst = append(dst, `,"conditions":`...)
			dst = appendJSON(dst, c)
		}
	}
	dst = append(dst, `,"object":`...)
	if embedded == nil {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, embedded...)
	}
	return append(dst, '}')
}

func appendJSON(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("table: a cell does not encode: " + err.Error()) // unreachable: cells are strings, numbers and booleans
	}
	return append(dst, b...)
}
