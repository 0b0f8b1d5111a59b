package table

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// Placeholders for missing values.
const (
	none    = "<none>"
	unset   = "<unset>"
	unknown = "<unknown>"
)

// A row is an object that is printed at a time.
type row struct {
	obj map[string]any
	now time.Time
}

func (r row) name() string               { return r.str("metadata", "name") }
func (r row) str(path ...string) string  { return object.String(r.obj, path...) }
func (r row) has(path ...string) bool    { return object.Value(r.obj, path...) != nil }
func (r row) bool(path ...string) bool   { return object.Bool(r.obj, path...) }
func (r row) list(path ...string) []any  { return object.List(r.obj, path...) }
func (r row) deleted() bool              { return r.has("metadata", "deletionTimestamp") }
func (r row) annotation(n string) string { return r.str("metadata", "annotations", n) }

// num returns the integer at the path, or 0.
func (r row) num(path ...string) int64 { return num(r.obj, path...) }

func num(obj map[string]any, path ...string) int64 {
	n, _ := object.Int(obj, path...)
	return n
}

// or returns the string at the path, or the fallback if there is none.
func (r row) or(fallback string, path ...string) string { return or(r.str(path...), fallback) }

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// size returns the length of the list or map at the path.
func (r row) size(path ...string) int64 {
	switch v := object.Value(r.obj, path...).(type) {
	case []any:
		return int64(len(v))
	case map[string]any:
		return int64(len(v))
	}
	return 0
}

// age returns the time since the object was created.
func (r row) age() string { return r.since("metadata", "creationTimestamp") }

// since returns the time since the moment at the path.
func (r row) since(path ...string) string { return since(r.now, r.str(path...)) }

// since formats the time from a moment to now.
func since(now time.Time, moment string) string {
	t := parseTime(moment)
	if t.IsZero() {
		return unknown
	}
	return Duration(now.Sub(t))
}

// parseTime returns the zero time for "" and text that is not a time.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// containers returns the names and the images of the containers of a pod
// specification.
func (r row) containers(spec ...string) (names, images string) {
	var n, i []string
	for _, c := range objects(r.list(append(spec, "containers")...)) {
		n = append(n, object.String(c, "name"))
		i = append(i, object.String(c, "image"))
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

// objects returns the objects in a list.
func objects(list []any) []map[string]any {
	out := make([]map[string]any, len(list))
	for i, e := range list {
		out[i], _ = e.(map[string]any)
	}
	return out
}

// labels formats the map at the path as a selector.
func (r row) labels(path ...string) string {
	m := object.Map(r.obj, path...)
	if len(m) == 0 {
		return none
	}
	terms := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v, _ := m[k].(string)
		terms = append(terms, k+"="+v)
	}
	return strings.Join(terms, ",")
}

// selector formats the label selector at the path.
func (r row) selector(path ...string) (s string, valid bool) {
	m := object.Map(r.obj, path...)
	if m == nil {
		return "", true
	}
	l, err := selector.FromMap(m).Selector()
	if err != nil {
		return "", false
	}
	return l.String(), true
}

// selectorCell formats the selector at the path, with placeholders for an empty
// and an invalid one.
func (r row) selectorCell(path ...string) string {
	s, valid := r.selector(path...)
	if !valid {
		return "<error>"
	}
	return or(s, none)
}

// holds reports whether the first condition of a type is true.
func (r row) holds(typ string) bool {
	for _, c := range objects(r.list("status", "conditions")) {
		if object.String(c, "type") == typ {
			return object.String(c, "status") == "True"
		}
	}
	return false
}

// condition returns the last condition of a type, or nil.
func (r row) condition(typ string) (cond map[string]any) {
	for _, c := range objects(r.list("status", "conditions")) {
		if object.String(c, "type") == typ {
			cond = c
		}
	}
	return cond
}

// joinFirst joins the first elements of a list and adds the number of the
// others.
func joinFirst(list []string, limit int, separator string) string {
	if len(list) <= limit {
		return strings.Join(list, separator)
	}
	return strings.Join(list[:limit], separator) + " + " + strconv.Itoa(len(list)-limit) + " more..."
}

// fraction returns "n/of".
func fraction(n, of int64) string { return itoa(n) + "/" + itoa(of) }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// boolText formats a boolean as kubectl does.
func boolText(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
