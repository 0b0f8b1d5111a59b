package schema

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/validation"
)

// A failure is a constraint that a value violates.
type failure struct {
	// at is the path of the value within the validated value, nil for the latter.
	at *validation.Path
	// text is the message. Failures with equal texts are reported once.
	text string
	// report returns the error. path is the complete path of the value.
	report func(path *validation.Path, text string) *validation.Error
}

// A result is the result of validating a value.
type result struct {
	failures []failure
	// score selects the best of several alternatives that fail. It is the MatchCount
	// of kube-openapi and counts the same checks.
	score int
}

func (r *result) merge(other result) {
	r.score += other.score
	for _, f := range other.failures {
		r.add(f)
	}
}

func (r *result) add(f failure) {
	for _, known := range r.failures {
		if known.text == f.text {
			return
		}
	}
	r.failures = append(r.failures, f)
}

// addInvalid adds a failure of the value at a path. The message starts with the path.
func (r *result) addInvalid(at *validation.Path, value any, format string, args ...any) {
	r.add(failure{at, bodyMessage(at, format, args...), func(path *validation.Path, text string) *validation.Error {
		return validation.Invalid(path, value, text)
	}})
}

// addTypeError adds the failure of a value that has the type found.
func (r *result) addTypeError(at *validation.Path, wanted, found string) {
	r.add(failure{at, bodyMessage(at, "must be of type %s: %q", wanted, found), func(path *validation.Path, text string) *validation.Error {
		return validation.TypeInvalid(path, found, text)
	}})
}

// addFailure adds a failure whose error has its own message. keyword distinguishes it from
// other failures at the path.
func (r *result) addFailure(at *validation.Path, keyword string, report func(*validation.Path) *validation.Error) {
	r.add(failure{at, bodyMessage(at, "%s", keyword), func(path *validation.Path, _ string) *validation.Error { return report(path) }})
}

// addMessage adds a failure whose error has no field.
func (r *result) addMessage(format string, args ...any) {
	r.add(failure{nil, fmt.Sprintf(format, args...), func(path *validation.Path, text string) *validation.Error {
		return validation.Invalid(path, "", text)
	}})
}

// errors returns the errors. base is the path of the validated value.
func (r *result) errors(base *validation.Path) validation.List {
	var list validation.List
	for _, f := range r.failures {
		list = append(list, f.report(join(base, f.at), f.text))
	}
	return list
}

// join appends at to base.
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

// bodyMessage returns a message that starts with the path.
func bodyMessage(at *validation.Path, format string, args ...any) string {
	return pathText(at) + " in body " + fmt.Sprintf(format, args...)
}

func pathText(at *validation.Path) string {
	if at == nil {
		return ""
	}
	return at.String()
}
