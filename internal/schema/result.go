package schema

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/validation"
)

// A fault is one constraint that a value does not meet.
type fault struct {
	// at leads to the value from the one that is validated, which is nil.
	at *validation.Path
	// text says what is wrong. One text is reported once.
	text string
	// report makes the error, at the value's path from the top.
	report func(path *validation.Path, text string) *validation.Error
}

// A result is what came of validating one value.
type result struct {
	faults []fault
	// score counts the checks that were made, so that of several alternatives
	// that fail the one that fits best can be told. It is kube-openapi's
	// MatchCount, and what counts is what counts there.
	score int
}

func (r *result) merge(other result) {
	r.score += other.score
	for _, f := range other.faults {
		r.add(f)
	}
}

func (r *result) add(f fault) {
	for _, known := range r.faults {
		if known.text == f.text {
			return
		}
	}
	r.faults = append(r.faults, f)
}

// invalid adds a fault of the value found at a path. The format and its
// arguments continue a sentence that begins with the path.
func (r *result) invalid(at *validation.Path, value any, format string, args ...any) {
	r.add(fault{at, sentence(at, format, args...), func(path *validation.Path, text string) *validation.Error {
		return validation.Invalid(path, value, text)
	}})
}

// mistyped adds that the value at a path is of the type found.
func (r *result) mistyped(at *validation.Path, wanted, found string) {
	r.add(fault{at, sentence(at, "must be of type %s: %q", wanted, found), func(path *validation.Path, text string) *validation.Error {
		return validation.TypeInvalid(path, found, text)
	}})
}

// refused adds a fault whose error needs no sentence.
func (r *result) refused(at *validation.Path, keyword string, report func(*validation.Path) *validation.Error) {
	r.add(fault{at, sentence(at, "%s", keyword), func(path *validation.Path, _ string) *validation.Error { return report(path) }})
}

// whole adds a fault that names no field but in its text.
func (r *result) whole(format string, args ...any) {
	r.add(fault{nil, fmt.Sprintf(format, args...), func(path *validation.Path, text string) *validation.Error {
		return validation.Invalid(path, "", text)
	}})
}

// list makes the errors, where base is the path of the value validated.
func (r *result) list(base *validation.Path) validation.List {
	var list validation.List
	for _, f := range r.faults {
		list = append(list, f.report(join(base, f.at), f.text))
	}
	return list
}

// join is the path that continues base by at.
func join(base, at *validation.Path) *validation.Path {
	if at == nil {
		return base
	}
	name := at.String()
	if name[0] == '.' {
		name = name[1:]
	}
	if base == nil {
		return validation.NewPath(name)
	}
	return base.Child(name)
}

// sentence begins a text with the path.
func sentence(at *validation.Path, format string, args ...any) string {
	return pathText(at) + " in body " + fmt.Sprintf(format, args...)
}

func pathText(at *validation.Path) string {
	if at == nil {
		return ""
	}
	return at.String()
}
