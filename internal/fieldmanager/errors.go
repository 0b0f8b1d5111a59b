package fieldmanager

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	smd "sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// errors returns what does not match the type in a value, in the words of structured-merge-diff v6,
// which kube-apiserver has since release 1.34: the errors of the known fields of an object in the
// order of their names, then the first field that is not declared. kube-apiserver finds them in the
// order of a Go map, and none after a field that is not declared. Lists may have two elements of one
// key if duplicates is set.
func (s *resolvedType) errors(v any, duplicates bool) typed.ValidationErrors {
	if s.empty() {
		return invalid("schema error: no type found matching: inlined type")
	}
	if v == nil {
		return nil
	}
	switch as := variantOf(s, v); {
	case as == mapVariant || as == anyVariant && s.object != nil:
		return s.object.errors(v, duplicates)
	case as == scalarVariant || as == anyVariant && s.scalar != nil:
		return scalarErrors(*s.scalar, v)
	}
	return s.list.errors(v, duplicates)
}

func invalid(format string, args ...any) typed.ValidationErrors {
	return typed.ValidationErrors{{ErrorMessage: fmt.Sprintf(format, args...)}}
}

// formatAgain gives errors the texts of structured-merge-diff v4: it takes the text about a value
// that is no map or no list for a format, in which the value may have verbs such as %d.
func formatAgain(errs typed.ValidationErrors) {
	for i, e := range errs {
		if strings.HasPrefix(e.ErrorMessage, "expected map") || strings.HasPrefix(e.ErrorMessage, "expected list") {
			errs[i].ErrorMessage = fmt.Sprintf(e.ErrorMessage, []any{}...)
		}
	}
}

// at adds a step to the beginning of the paths of errors.
func at(step string, errs typed.ValidationErrors) typed.ValidationErrors {
	for i := range errs {
		errs[i].Path = step + errs[i].Path
	}
	return errs
}

// A wrapped value is printed as one of structured-merge-diff is.
type wrapped struct{ Value any }

// goSyntax returns a value in Go syntax.
func goSyntax(v any) string {
	text := fmt.Sprintf("%#v", wrapped{v})
	return "&value.valueUnstructured" + text[strings.IndexByte(text, '{'):]
}

func scalarErrors(s smd.Scalar, v any) typed.ValidationErrors {
	switch {
	case allows(s, v):
		return nil
	case s == smd.Numeric:
		return invalid("expected numeric (int or float), got %T", v)
	case s == smd.String:
		return invalid("expected string, got %s", goSyntax(v))
	case s == smd.Boolean:
		return invalid("expected boolean, got %v", &wrapped{v})
	}
	return invalid("expected any scalar, got %v", &wrapped{v})
}

func (m *mapType) errors(v any, duplicates bool) (errs typed.ValidationErrors) {
	members, ok := v.(map[string]any)
	if !ok {
		return invalid("expected map, got %v", &wrapped{v})
	}
	var undeclared typed.ValidationErrors
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if s := m.typeOf(name); !s.empty() {
			errs = append(errs, at("."+name, s.errors(members[name], duplicates))...)
		} else if undeclared == nil {
			undeclared = at("."+name, invalid("field not declared in schema"))
		}
	}
	return append(errs, undeclared...)
}

func (l *listType) errors(v any, duplicates bool) (errs typed.ValidationErrors) {
	list, ok := v.([]any)
	if !ok {
		return invalid("expected list, got %v", &wrapped{v})
	}
	seen := map[pathStep]bool{}
	for i, v := range list {
		if l.atomic {
			errs = append(errs, at(fmt.Sprintf("[%d]", i), l.element.errors(v, duplicates))...)
			continue
		}
		if text := l.keyError(v); text != "" {
			return append(errs, invalid("element %d: %s", i, text)...)
		}
		step, err := l.step(v)
		if err != nil {
			panic("fieldmanager: " + err.Error()) // unreachable: the element has keys
		}
		if seen[step] && !duplicates {
			errs = append(errs, invalid("duplicate entries for key %s", stepText(step))...)
		}
		seen[step] = true
		errs = append(errs, at(stepText(step), l.element.errors(v, duplicates))...)
	}
	return errs
}

// keyError returns why an element of an associative list cannot be identified, or "".
func (l *listType) keyError(v any) string {
	switch v.(type) {
	case nil:
		if len(l.keys) > 0 {
			return "associative list with keys may not have a null element"
		}
		return "associative list without keys has an element that's an explicit null"
	case map[string]any:
		if len(l.keys) == 0 {
			return "associative list without keys has an element that's a map type"
		}
	case []any:
		if len(l.keys) == 0 {
			return "not supported: associative list with lists as elements"
		}
		return "associative list with keys may not have non-map elements"
	default:
		if len(l.keys) > 0 {
			return "associative list with keys may not have non-map elements"
		}
	}
	switch {
	case l.hasKeys(v):
		return ""
	case l.partial:
		return fmt.Sprintf("associative list with keys has an element that omits all key fields %q (and doesn't have default values for any key fields)", l.keys)
	}
	obj := v.(map[string]any)
	missing := slices.IndexFunc(l.keys, func(k keyField) bool { return k.of(obj) == absent })
	return fmt.Sprintf("associative list with keys has an element that omits key field %q (and doesn't have default value)", l.keys[missing].name)
}

// ErrNoVersion is wrapped by the error of a [ConvertFunc] for an API version that
// the kind does not have.
var ErrNoVersion = errors.New("no such version")

// A RequestError is returned for a configuration that cannot be applied to any
// object. The response is 400 Bad Request.
type RequestError struct{ Message string }

func (e *RequestError) Error() string { return e.Message }

// A ConflictError is returned for a configuration that changes fields of other
// managers.
type ConflictError struct {
	// Conflicts has at least one element. Conflicts are sorted by manager,
	// those of one manager in the order of its field set.
	Conflicts []Conflict
}

// A Conflict is a field that another manager owns.
type Conflict struct {
	// Owner describes the manager and, where it matters, the subresource and
	// version of its entry:
	//
	//	"scaler" with subresource "scale" using apps/v1
	Owner string
	// Field is the path of the field, such as
	//
	//	.spec.template.spec.containers[name="c"].image
	Field string
}

// String returns the message of the cause in a Status.
func (c Conflict) String() string { return "conflict with " + c.Owner }

// Error returns the message of the Status.
func (e *ConflictError) Error() string {
	if len(e.Conflicts) == 1 {
		c := e.Conflicts[0]
		return fmt.Sprintf("Apply failed with 1 conflict: %v: %s", c, c.Field)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Apply failed with %d conflicts:", len(e.Conflicts))
	separator := " "
	for i, c := range e.Conflicts {
		if i == 0 || c.Owner != e.Conflicts[i-1].Owner {
			b.WriteString(separator + "conflicts with " + c.Owner + ":")
			separator = "\n"
		}
		b.WriteString("\n- " + c.Field)
	}
	return b.String()
}

// conflictError converts the conflicts that structured-merge-diff reports,
// whose managers are unordered.
func (o owners) conflictError(conflicts merge.Conflicts) *ConflictError {
	entries := make(map[string]*entry, len(o))
	for _, e := range o {
		entries[e.id()] = e
	}
	slices.SortStableFunc(conflicts, func(a, b merge.Conflict) int {
		return cmp.Compare(a.Manager, b.Manager)
	})
	e := &ConflictError{Conflicts: make([]Conflict, len(conflicts))}
	for i, c := range conflicts {
		e.Conflicts[i] = Conflict{Owner: entries[c.Manager].owner(), Field: c.Path.String()}
	}
	return e
}

// without returns the conflicts whose fields are not in set.
func without(conflicts merge.Conflicts, set *fieldpath.Set) merge.Conflicts {
	return slices.DeleteFunc(slices.Clone(conflicts), func(c merge.Conflict) bool {
		return set.Has(c.Path)
	})
}
