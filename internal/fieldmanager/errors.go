package fieldmanager

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// missingKey matches an element without a key in the errors of structured-merge-diff v4.
var missingKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`associative list with keys has an element that omits key field "[^"]*" \(and doesn't have default value\)$`)
})

// percent stands for % in values whose errors are formatted: structured-merge-diff v4 takes
// the text of a value for a format.
const percent = "\uff05"

// withoutVerbs returns v with percent for % in all strings.
func withoutVerbs(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "%", percent)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutVerbs(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = withoutVerbs(e)
		}
		return out
	}
	return v
}

// withKeys returns v with null for the keys that elements of lists lack, if they have
// another key. structured-merge-diff v4 refuses elements without a key. It adds the names of
// the keys to added.
func (s *resolvedType) withKeys(v any, added map[string]bool) any {
	switch v := v.(type) {
	case []any:
		if s == nil || s.list == nil {
			return v
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = s.list.withKeys(s.list.element.withKeys(e, added), added)
		}
		return out
	case map[string]any:
		if s == nil || s.object == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for name, e := range v {
			t := s.object.typeOf(name)
			out[name] = t.withKeys(e, added)
		}
		return out
	}
	return v
}

func (l *listType) withKeys(element any, added map[string]bool) any {
	obj, ok := element.(map[string]any)
	if l.atomic || !ok || !slices.ContainsFunc(l.keys, func(k keyField) bool { _, set := obj[k.name]; return set || k.absent != nil }) {
		return element
	}
	obj = maps.Clone(obj)
	for _, k := range l.keys {
		if _, set := obj[k.name]; !set && k.absent == nil {
			obj[k.name] = nil
			added[k.name] = true
		}
	}
	return obj
}

// withoutNullKeys returns a text that names elements without the keys that withKeys has added.
func withoutNullKeys(text string, added map[string]bool) string {
	if len(added) == 0 {
		return text
	}
	var names []string
	for name := range added {
		names = append(names, regexp.QuoteMeta(name))
	}
	nullKey := regexp.MustCompile(`([[,])(?:` + strings.Join(names, "|") + `)=null(?:,|(\]))`)
	for {
		shorter := nullKey.ReplaceAllString(text, "$1$2")
		if shorter == text {
			return strings.ReplaceAll(text, ",]", "]")
		}
		text = shorter
	}
}

// describe returns the error of [typed.ParseableType.FromUnstructured] with the texts of
// structured-merge-diff v6, which kube-apiserver has since release 1.34. added are the keys that
// withKeys has added.
func (c *compiled) describe(err error, added map[string]bool) error {
	var errs typed.ValidationErrors
	if !errors.As(err, &errs) {
		return err
	}
	errs = slices.Clone(errs)
	for i, e := range errs {
		text := strings.ReplaceAll(e.ErrorMessage, percent, "%")
		if at := missingKey().FindStringIndex(text); at != nil {
			if list := c.types.listAt(e.Path); list != nil {
				text = fmt.Sprintf("%sassociative list with keys has an element that omits all key fields %q (and doesn't have default values for any key fields)", text[:at[0]], list.keys)
			}
		}
		path := strings.ReplaceAll(e.Path, percent, "%")
		errs[i].Path, errs[i].ErrorMessage = withoutNullKeys(path, added), withoutNullKeys(text, added)
	}
	return errs
}

// listAt returns the type of the list at a path like .spec.containers[name="c"].ports, nil
// if there is none.
func (s *resolvedType) listAt(path string) *listType {
	for path != "" && s != nil {
		end := strings.IndexAny(path[1:], ".[") + 1
		if path[0] == '[' {
			if s.list == nil {
				return nil
			}
			s, end = s.list.element, strings.IndexByte(path, ']')+1
		} else {
			if s.object == nil {
				return nil
			}
			name := path[1:]
			if end > 0 {
				name = path[1:end]
			}
			s = s.object.typeOf(name)
		}
		if end == 0 {
			break
		}
		path = path[end:]
	}
	if s == nil {
		return nil
	}
	return s.list
}

// ErrNoVersion is wrapped by the error of Kind.Convert for an API version that
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
