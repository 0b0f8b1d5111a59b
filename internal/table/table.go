// Package table renders objects as the rows of a meta/v1 Table, which is what
// kubectl get prints.
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
	Priority    int    `json:"priority"` // 0 is always embedded, others in wide output
}

// A Layout defines how the objects of one kind are printed. It is immutable.
type Layout struct {
	Columns []Column
	// Cells returns an object's cells at a time, one for each column.
	Cells func(obj map[string]any, now time.Time) []any
	// Conditions returns the conditions of an object's row; nil for kinds
	// without conditions.
	Conditions func(obj map[string]any) []Condition
}

// A Condition is a property of a whole row.
type Condition struct {
	Type    string `json:"type"` // always Completed
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Default is the layout of kinds without their own: the name and the time of
// creation.
var Default = &Layout{
	Columns: []Column{
		{Name: "Name", Type: "string", Format: "name", Description: "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"},
		{Name: "Created At", Type: "date", Description: "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"},
	},
	Cells: func(obj map[string]any, _ time.Time) []any {
		created := object.String(obj, "metadata", "creationTimestamp")
		if created == "" {
			created = time.Time{}.UTC().Format(time.RFC3339)
		}
		return []any{object.String(obj, "metadata", "name"), created}
	},
}

// AppendColumns appends the column definitions as JSON.
func (l *Layout) AppendColumns(dst []byte) []byte { return appendJSON(dst, l.Columns) }

// AppendRow appends an object's row as JSON. embedded is the encoded object of
// the row, nil for none.
func (l *Layout) AppendRow(dst []byte, obj map[string]any, now time.Time, embedded []byte) []byte {
	dst = append(dst, `{"cells":`...)
	dst = appendJSON(dst, l.Cells(obj, now))
	if l.Conditions != nil {
		if c := l.Conditions(obj); len(c) > 0 {
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
		panic("table: a cell is no JSON: " + err.Error()) // unreachable: cells are strings, numbers and booleans
	}
	return append(dst, b...)
}
