package table

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/selector"
)

// The texts of cells without a value. Which one a cell has depends on the column.
const (
	None    = "<none>"
	Unset   = "<unset>"
	Unknown = "<unknown>"
)

// A Row is an object whose cells are printed at the time Now. Its methods read
// fields, or return the text of cells that many kinds have. They do not change the
// object.
type Row struct {
	Obj map[string]any
	Now time.Time
	// Minor is the minor number of the release that prints the row, 0 for the newest. The
	// layouts of built-in kinds set it.
	Minor int
	// Marked is whether the layout marks the object among those of a list. See [Layout.Marked].
	Marked bool
}

// Before reports whether a release without a behavior prints the row.
func (r Row) Before(b behavior.Behavior) bool { return !b.In(r.Minor) }

// String returns the string at the path, or "".
func (r Row) String(path ...string) string { return object.String(r.Obj, path...) }

// Has reports whether there is a value at the path.
func (r Row) Has(path ...string) bool { return object.Value(r.Obj, path...) != nil }

// Bool returns the boolean at the path, or false.
func (r Row) Bool(path ...string) bool { return object.Bool(r.Obj, path...) }

// Int returns the integer at the path, or 0.
func (r Row) Int(path ...string) int64 { return Int(r.Obj, path...) }

// Int returns the integer at the path, or 0.
func Int(obj map[string]any, path ...string) int64 {
	n, _ := object.Int(obj, path...)
	return n
}

// Or returns the string at the path, or the fallback if there is none or it is "".
func (r Row) Or(fallback string, path ...string) string { return cmp.Or(r.String(path...), fallback) }

// OrUnset returns the string at the path, which may be "", or [Unset] if there is
// none.
func (r Row) OrUnset(path ...string) string {
	if !r.Has(path...) {
		return Unset
	}
	return r.String(path...)
}

// Len returns the length of the list or map at the path.
func (r Row) Len(path ...string) int64 {
	switch v := object.Value(r.Obj, path...).(type) {
	case []any:
		return int64(len(v))
	case map[string]any:
		return int64(len(v))
	}
	return 0
}

// Objects returns the objects in the list at the path.
func (r Row) Objects(path ...string) []map[string]any {
	list := object.List(r.Obj, path...)
	out := make([]map[string]any, len(list))
	for i, e := range list {
		out[i], _ = e.(map[string]any)
	}
	return out
}

// Name returns the name of the object.
func (r Row) Name() string { return r.String("metadata", "name") }

// NameAndAge returns the cells of kinds that have no others.
func NameAndAge(r Row) []any { return []any{r.Name(), r.Age()} }

// Annotation returns the value of an annotation, or "".
func (r Row) Annotation(name string) string { return r.String("metadata", "annotations", name) }

// Deleted reports whether the object is being deleted.
func (r Row) Deleted() bool { return r.Has("metadata", "deletionTimestamp") }

// ClassName returns the name of a class. It marks the class as the default one if
// one of the annotations is "true".
func (r Row) ClassName(annotations ...string) string {
	return r.NameOfClass(object.ViewOf(r.Obj).IsDefaultClass(annotations...))
}

// NameOfClass returns the name of a class, marked if it is the default one.
func (r Row) NameOfClass(isDefault bool) string {
	if isDefault {
		return r.Name() + " (default)"
	}
	return r.Name()
}

// Age returns the time since the object was created.
func (r Row) Age() string { return r.Since("metadata", "creationTimestamp") }

// Since returns the time since the moment at the path.
func (r Row) Since(path ...string) string { return Since(r.Now, r.String(path...)) }

// Since returns the time from a moment to now, [Unknown] for a moment that is not a
// time.
func Since(now time.Time, moment string) string {
	t := ParseTime(moment)
	if t.IsZero() {
		return Unknown
	}
	return Duration(now.Sub(t))
}

// ParseTime returns the zero time for "" and for text that is not a time.
func ParseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Containers returns the names and the images of the containers of the pod
// specification at the path.
func (r Row) Containers(path ...string) (names, images string) {
	var n, i []string
	for _, c := range r.Objects(append(path, "containers")...) {
		n = append(n, object.String(c, "name"))
		i = append(i, object.String(c, "image"))
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

// Labels returns the map at the path in the form of a label selector, [None] if it
// is empty.
func (r Row) Labels(path ...string) string {
	m := object.Map(r.Obj, path...)
	if len(m) == 0 {
		return None
	}
	terms := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v, _ := m[k].(string)
		terms = append(terms, k+"="+v)
	}
	return strings.Join(terms, ",")
}

// Selector returns the label selector at the path as text, and reports whether it
// is valid.
func (r Row) Selector(path ...string) (s string, valid bool) {
	m := object.Map(r.Obj, path...)
	if m == nil {
		return "", true
	}
	l, err := selector.FromMap(m).Selector()
	if err != nil {
		return "", false
	}
	return l.String(), true
}

// SelectorCell returns the label selector at the path as text: [None] for an empty
// one, "<error>" for an invalid one.
func (r Row) SelectorCell(path ...string) string {
	s, valid := r.Selector(path...)
	if !valid {
		return "<error>"
	}
	return cmp.Or(s, None)
}

// HasCondition reports whether the first condition of a type is true.
func (r Row) HasCondition(typ string) bool {
	for _, c := range r.Objects("status", "conditions") {
		if object.String(c, "type") == typ {
			return object.String(c, "status") == "True"
		}
	}
	return false
}

// Condition returns the last condition of a type, or nil.
func (r Row) Condition(typ string) (cond map[string]any) {
	for _, c := range r.Objects("status", "conditions") {
		if object.String(c, "type") == typ {
			cond = c
		}
	}
	return cond
}

// JoinFirst joins the first elements of a list, at most limit, and adds the number
// of the others.
func JoinFirst(list []string, limit int, separator string) string {
	if len(list) <= limit {
		return strings.Join(list, separator)
	}
	return strings.Join(list[:limit], separator) + " + " + strconv.Itoa(len(list)-limit) + " more..."
}

// Fraction returns "n/of".
func Fraction(n, of int64) string {
	return strconv.FormatInt(n, 10) + "/" + strconv.FormatInt(of, 10)
}

// ScaleCells returns the cells of a Scale, of a built-in or a custom type.
func (r Row) ScaleCells() []any {
	return []any{r.Name(), r.Int("spec", "replicas"), r.Int("status", "replicas"), r.Age()}
}
