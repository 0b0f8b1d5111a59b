package manifests

import "slices"

// A Result is what came of an object, or of a document or a file that is none.
type Result struct {
	// File is the name of the file, as the paths of Validate have it; Stdin for the standard input.
	File string `json:"file"`

	// Origin is the template from which Helm has rendered the document: the text after its
	// "# Source: "; "" if it has none.
	Origin string `json:"origin,omitempty"`

	// Document is the number of the document in the file, from 1; 0 for a file as a whole.
	Document int `json:"document,omitempty"`

	// Item is the path of the object in the document if that is a List: "items[2]".
	Item string `json:"item,omitempty"`

	// Line and Column are where the object begins, from 1; 0 for a file as a whole.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`

	// APIVersion, Kind, Namespace and Name are those of the object. Namespace is the one in which
	// the object was validated.
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`

	// FromBase says that the object is one of Config.Base that the input does not have. File is
	// then a file of the base: of a revision, "REVISION:FILE".
	FromBase bool `json:"fromBase,omitempty"`

	Outcome Outcome `json:"outcome"`

	// State is what becomes of the object in the base: the first of those of Answers in the order
	// of the constants. It is "" without Config.Base, and if no server knows the kind.
	State State `json:"state,omitempty"`

	Findings []Finding `json:"findings,omitempty"` // in the order of their positions

	// Object is the object of the input. It is nil without Config.Objects.
	Object map[string]any `json:"-"`

	// Answers are those of the servers, one for each release. It is empty if no server was asked.
	Answers []Answer `json:"answers,omitempty"`
}

// Stdin is the name of the standard input in a Result.
const Stdin = "<stdin>"

// An Outcome says what a Result is.
type Outcome string

const (
	Valid       Outcome = "valid"        // the server accepts the object
	Invalid     Outcome = "invalid"      // the server refuses the object
	MissingKind Outcome = "missing-kind" // the server has no definition of the kind
	Unreadable  Outcome = "unreadable"   // the file cannot be read, or the document cannot be parsed
	NoObject    Outcome = "no-object"    // the document is not an object: values, a template, a Chart.yaml
	Skipped     Outcome = "skipped"      // Config.Skip has the kind
)

// A State is what becomes of an object when the input updates the base.
type State string

const (
	Refused   State = "refused"   // the server refuses the update, the creation or the deletion, or no longer accepts the object of the base
	Gone      State = "gone"      // the input does not have the object of the base, and Config.Prune deletes it
	Created   State = "created"   // the base does not have the object
	Changed   State = "changed"   // the stored object changes
	Unchanged State = "unchanged" // the stored object stays the same
	Kept      State = "kept"      // the input does not have the object of the base, which stays
)

// states are the States in the order in which one of several is that of a Result.
var states = []State{Refused, Gone, Created, Changed, Unchanged, Kept}

// A Severity is how bad a finding is. A higher one is worse.
type Severity int

const (
	Note    Severity = iota // says why an object was not validated, or what may be of interest
	Warning                 // the server accepts the object and warns
	Error
)

// String returns the severity in lower case.
func (s Severity) String() string { return [...]string{"note", "warning", "error"}[s] }

// MarshalText returns String.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Finding is a problem of an object, or of a document or a file.
type Finding struct {
	Severity Severity `json:"severity"`

	// Reason is that of the Status or of its cause, such as FieldValueInvalid, Forbidden or
	// BadRequest; Warning; or one of this package: Syntax, File, NoObject, MissingKind, Duplicate,
	// Rejected; with a base Base, Ratcheting, Finalizers, Dependents; in an upgrade Changed,
	// RemovedVersion, FeatureGate.
	Reason string `json:"reason"`

	// Field is the path of the field in the object; "" if the finding is about all of it.
	Field string `json:"field,omitempty"`

	// Message is the text of the server, with the path of the field.
	Message string `json:"message"`

	// Line and Column are those of the field, from 1. If the object does not have it, they are
	// those of the closest field around it. Both are 0 for a file as a whole.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`

	// Text is the line in the file.
	Text string `json:"text,omitempty"`

	// Releases are those that have the finding; nil if all of them have it.
	Releases []string `json:"releases,omitempty"`

	// Writes are those that have the finding in an upgrade: "create" of the object as a new one,
	// "update" of the stored object without a change, "apply" of the document again. It is nil if
	// all of them have it.
	Writes []string `json:"writes,omitempty"`
}

// An Answer is that of a server to the request with the object.
type Answer struct {
	Release string `json:"release"`        // such as "v1.36.3"
	Code    int    `json:"code,omitempty"` // of HTTP; 0 if no request was sent

	// Reason and Message are those of the Status; "" if the object is accepted.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`

	Warnings []string `json:"warnings,omitempty"`

	// State is what becomes of the object in the base; "" without Config.Base.
	State State `json:"state,omitempty"`

	// Changes are the fields of the stored object that change, if State is Changed. Values of
	// Secrets are hidden.
	Changes []Change `json:"changes,omitempty"`

	// Object is the object as it would be stored, with its defaults, and changed by policies. It is
	// nil without Config.Objects.
	Object map[string]any `json:"object,omitempty"`
}

// Failed reports whether the result has a finding of at least a severity.
func (r *Result) Failed(least Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity >= least })
}

// A Summary counts results.
type Summary struct {
	Files     int `json:"files"`   // with objects, documents or errors
	Objects   int `json:"objects"` // valid, invalid, of missing kinds, and skipped
	Valid     int `json:"valid"`
	Invalid   int `json:"invalid"`
	Missing   int `json:"missingKinds"` // of kinds without a definition
	Skipped   int `json:"skipped"`
	Errors    int `json:"errors"`    // files and documents that cannot be read
	NoObjects int `json:"noObjects"` // documents that are not objects
	Warnings  int `json:"warnings"`  // findings

	// States counts the objects of the input and of the base by their State; nil without
	// Config.Base.
	States map[State]int `json:"states,omitempty"`

	last string // the file of the last result
}

// Add counts a result. Results of a file follow each other. Those of a base count as states and
// warnings only.
func (s *Summary) Add(r *Result) {
	if r.State != "" {
		if s.States == nil {
			s.States = map[State]int{}
		}
		s.States[r.State]++
	}
	for _, f := range r.Findings {
		if f.Severity == Warning {
			s.Warnings++
		}
	}
	if r.FromBase {
		return
	}
	if r.File != s.last || s.Files == 0 {
		s.Files++
		s.last = r.File
	}
	switch r.Outcome {
	case Valid:
		s.Valid++
	case Invalid:
		s.Invalid++
	case MissingKind:
		s.Missing++
	case Skipped:
		s.Skipped++
	case Unreadable:
		s.Errors++
	case NoObject:
		s.NoObjects++
	}
	s.Objects = s.Valid + s.Invalid + s.Missing + s.Skipped
}
