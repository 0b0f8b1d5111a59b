package scenarios

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/printable"
)

// Version is the version of the format that this package reads and writes.
const Version = 1

// A Scenario is one document of a scenario file. The package documentation
// describes its fields.
type Scenario struct {
	Version       int      `json:"version,omitempty"` // 0 means 1
	Area          string   `json:"area,omitempty"`
	Name          string   `json:"name"`
	Why           string   `json:"why,omitempty"`
	Recorded      string   `json:"recorded,omitempty"`
	Gates         []string `json:"gates,omitempty"`
	ManagedFields bool     `json:"managedFields,omitempty"`
	Files         []string `json:"files,omitempty"` // of objects that exist before the first step
	History       []Change `json:"history,omitempty"`
	Steps         []Step   `json:"steps,omitempty"`

	origin *origin // nil for a scenario of no file
}

// String returns area/name, or only the name if the scenario has no area.
func (s *Scenario) String() string {
	if s.Area == "" {
		return s.Name
	}
	return s.Area + "/" + s.Name
}

// A Change is a set of object writes at one time. They bypass the API: no
// admission, no finalizers.
type Change struct {
	At     Duration `json:"at,omitempty"`
	Store  Objects  `json:"store,omitempty"`
	Remove Objects  `json:"remove,omitempty"`
}

// A Step is one action of a scenario. Exactly one of Do, Create, Update, Patch, Apply, Delete,
// Watch, Events, Store and Remove, Compact, Pause, Advance, Lag, Fault, Restart, Upgrade and an
// Expect with a path is set, except that a step with Do may have Advance too.
type Step struct {
	Name string `json:"name,omitempty"`
	Change

	Do      string            `json:"do,omitempty"` // "METHOD /path?query"
	User    string            `json:"user,omitempty"`
	Type    string            `json:"type,omitempty"`
	Accept  string            `json:"accept,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body,omitempty"`
	Raw     string            `json:"raw,omitempty"`
	Base64  string            `json:"base64,omitempty"`
	Until   int               `json:"until,omitempty"`
	Capture map[string]string `json:"capture,omitempty"`
	Only    []string          `json:"only,omitempty"`

	Create      Objects `json:"create,omitempty"`
	Update      Objects `json:"update,omitempty"`
	Patch       Objects `json:"patch,omitempty"`
	Apply       Objects `json:"apply,omitempty"`
	Delete      Objects `json:"delete,omitempty"`
	Subresource string  `json:"subresource,omitempty"`

	// As is the user to impersonate, or the name of a watch.
	As     string   `json:"as,omitempty"`
	Groups []string `json:"groups,omitempty"` // of the user

	In string `json:"in,omitempty"` // the cluster, if there are several; the default is that of the Player

	Given    Objects           `json:"given,omitempty"` // stored before the request
	Warnings []string          `json:"warnings,omitempty"`
	Audit    map[string]string `json:"audit,omitempty"` // annotations
	Rows     []Row             `json:"rows,omitempty"`

	Watch  string `json:"watch,omitempty"`
	Events string `json:"events,omitempty"`
	Count  int    `json:"count,omitempty"`
	Ends   bool   `json:"ends,omitempty"`

	Compact *Compaction    `json:"compact,omitempty"`
	Pause   Duration       `json:"pause,omitempty"`
	Advance Duration       `json:"advance,omitempty"`
	Lag     map[string]any `json:"lag,omitempty"`
	Fault   map[string]any `json:"fault,omitempty"`
	Restart string         `json:"restart,omitempty"`
	Upgrade string         `json:"upgrade,omitempty"` // the release

	Expect *Expectation `json:"expect,omitempty"`
	Within Duration     `json:"within,omitempty"`

	Want *Answer `json:"want,omitempty"`
}

// An Answer is a server's response to a step. In Step.Want volatile values are
// placeholders. Body and Events hold decoded JSON values, with numbers as
// json.Number.
type Answer struct {
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"` // nil: headers are not compared
	Warning []string          `json:"warning,omitempty"`
	Body    any               `json:"body,omitempty"`
	Events  []any             `json:"events,omitempty"`
}

// actions are the actions that a step can have, each with the keys that select it.
var actions = []struct {
	key  string
	in   func(*Step) bool   // reports whether a step has the action
	text func(*Step) string // describes a step that has no name
}{
	{"do", func(s *Step) bool { return s.Do != "" }, func(s *Step) string { return s.Do }},
	{"watch", func(s *Step) bool { return s.Watch != "" }, func(s *Step) string { return "watch " + s.Watch }},
	{"events", func(s *Step) bool { return s.Events != "" }, func(s *Step) string { return "events of " + s.Events }},
	{"create", func(s *Step) bool { return len(s.Create) > 0 }, func(s *Step) string { return "create " + s.Create.String() }},
	{"update", func(s *Step) bool { return len(s.Update) > 0 }, func(s *Step) string { return "update " + s.Update.String() }},
	{"patch", func(s *Step) bool { return len(s.Patch) > 0 }, func(s *Step) string { return "patch " + s.Patch.String() }},
	{"apply", func(s *Step) bool { return len(s.Apply) > 0 }, func(s *Step) string { return "apply " + s.Apply.String() }},
	{"delete", func(s *Step) bool { return len(s.Delete) > 0 }, func(s *Step) string { return "delete " + s.Delete.String() }},
	{"store and remove", func(s *Step) bool { return len(s.Store)+len(s.Remove) > 0 }, func(s *Step) string { return s.Change.String() }},
	{"compact", func(s *Step) bool { return s.Compact != nil }, func(*Step) string { return "compact" }},
	{"pause", func(s *Step) bool { return s.Pause != 0 }, func(s *Step) string { return "pause " + s.Pause.String() }},
	{"advance", func(s *Step) bool { return s.Advance != 0 && s.Do == "" }, func(s *Step) string { return "advance " + s.Advance.String() }},
	{"lag", func(s *Step) bool { return s.Lag != nil }, func(*Step) string { return "lag" }},
	{"fault", func(s *Step) bool { return s.Fault != nil }, func(*Step) string { return "fault" }},
	{"restart", func(s *Step) bool { return s.Restart != "" }, func(s *Step) string { return "restart watches of " + s.Restart }},
	{"upgrade", func(s *Step) bool { return s.Upgrade != "" }, func(s *Step) string { return "upgrade to " + s.Upgrade }},
	{"expect", func(s *Step) bool { return s.waits() }, func(s *Step) string { return "expect " + s.Expect.Path }},
}

// String returns the step's name, or a description of its action, on one line.
func (s *Step) String() string {
	if s.Name != "" {
		return printable.Line(s.Name)
	}
	for _, a := range actions {
		if a.in(s) {
			return printable.Line(a.text(s))
		}
	}
	return "nothing"
}

// String lists the objects that the change stores and removes.
func (c Change) String() string {
	var parts []string
	if len(c.Store) > 0 {
		parts = append(parts, "store "+c.Store.String())
	}
	if len(c.Remove) > 0 {
		parts = append(parts, "remove "+c.Remove.String())
	}
	return strings.Join(parts, ", ")
}

// check reports the errors that decoding does not find.
func (s *Scenario) check() error {
	if s.Version != 0 && s.Version != Version {
		return fmt.Errorf("%w: version %d instead of %d", ErrVersion, s.Version, Version)
	}
	if s.Name == "" {
		return errors.New("no name")
	}
	if !slices.IsSortedFunc(s.History, func(a, b Change) int { return cmp.Compare(a.At, b.At) }) {
		return errors.New("history: its changes must be sorted by their offsets")
	}
	for i, c := range s.History {
		if len(c.Store)+len(c.Remove) == 0 {
			return fmt.Errorf("history[%d]: it has neither store nor remove", i)
		}
	}
	watches := map[string]bool{}
	for i := range s.Steps {
		if err := s.Steps[i].check(watches); err != nil {
			return fmt.Errorf("steps[%d] (%s): %w", i, &s.Steps[i], err)
		}
	}
	return nil
}

// check reports the first error of a step. watches holds the names of the
// watches that earlier steps opened; check adds the step's own.
func (s *Step) check(watches map[string]bool) error {
	var keys []string
	for _, a := range actions {
		if a.in(s) {
			keys = append(keys, a.key)
		}
	}
	switch {
	case len(keys) == 0:
		return errors.New("it has no action, such as do")
	case len(keys) > 1:
		return fmt.Errorf("it has more than one action: %s", strings.Join(keys, ", "))
	case s.Want != nil && len(s.objects()) > 1:
		return errors.New("want: it needs a step with one object")
	case s.Do != "" && !strings.Contains(s.Do, " "):
		return fmt.Errorf("do: %q is not METHOD /path", s.Do)
	case s.Advance != 0 && s.Until != 0:
		return errors.New("advance: cannot be combined with until")
	case s.Watch != "" && s.As == "":
		return errors.New("as: a watch must have a name")
	case s.Watch == "" && !s.isRequest() && s.As != "":
		return errors.New("as: only a watch and a request can have it")
	case s.Events != "" && !watches[s.Events]:
		return fmt.Errorf("events: no watch is named %q", s.Events)
	case s.waits() && s.Want == nil:
		return errors.New("expect: want is missing")
	}
	if s.Watch != "" {
		watches[s.As] = true
	}
	return s.checkRequest()
}

// checkRequest is check for what only requests have.
func (s *Step) checkRequest() error {
	for _, only := range []struct {
		key string
		is  bool
	}{
		{"groups", s.Groups != nil}, {"given", s.Given != nil}, {"warnings", s.Warnings != nil}, {"audit", s.Audit != nil},
		{"rows", s.Rows != nil}, {"expect", s.Expect != nil && !s.waits()},
	} {
		if only.is && !s.isRequest() {
			return fmt.Errorf("%s: only a request can have it, such as create", only.key)
		}
	}
	switch {
	case s.Groups != nil && s.As == "":
		return errors.New("groups: it needs as, the user")
	case s.Subresource != "" && len(s.Update)+len(s.Patch)+len(s.Apply) == 0:
		return errors.New("subresource: only update, patch and apply can have it")
	case s.compares() && s.Want != nil:
		return errors.New("want: cannot be combined with expect, warnings, audit and rows")
	case s.compares() && len(s.objects()) > 1:
		return errors.New("expect: it needs a step with one object")
	}
	for i := range s.Rows {
		row, err := s.row(&s.Rows[i])
		if err == nil {
			err = row.check(nil)
		}
		if err != nil {
			return fmt.Errorf("rows[%d] (%s): %w", i, &s.Rows[i], err)
		}
	}
	return nil
}

// isRequest reports whether the step sends a request and reads its answer to the end.
func (s *Step) isRequest() bool { return s.Do != "" || len(s.objects()) > 0 }

// objects returns the objects that the step writes by requests.
func (s *Step) objects() Objects {
	return slices.Concat(s.Create, s.Update, s.Patch, s.Apply, s.Delete)
}

// waits reports whether the step repeats a GET until the answer is what it wants.
func (s *Step) waits() bool { return s.Expect != nil && s.Expect.Path != "" }

// compares reports whether the step says in short what it wants.
func (s *Step) compares() bool {
	return s.Expect != nil && !s.waits() || s.Warnings != nil || s.Audit != nil || s.Rows != nil
}

// MarshalJSON encodes a Lag or Fault that is empty but not nil as {}, and such Warnings as [].
func (s Step) MarshalJSON() ([]byte, error) {
	type step Step
	var warnings *[]string
	if s.Warnings != nil {
		warnings = &s.Warnings
	}
	return json.Marshal(struct {
		step
		Lag      *map[string]any `json:"lag,omitempty"`
		Fault    *map[string]any `json:"fault,omitempty"`
		Warnings *[]string       `json:"warnings,omitempty"`
	}{step(s), unlessNil(s.Lag), unlessNil(s.Fault), warnings})
}

// MarshalJSON encodes Headers that are empty but not nil as {}.
func (a Answer) MarshalJSON() ([]byte, error) {
	type answer Answer
	return json.Marshal(struct {
		answer
		Headers *map[string]string `json:"headers,omitempty"`
	}{answer(a), unlessNil(a.Headers)})
}

// unlessNil returns a pointer to m, or nil if m is nil.
func unlessNil[V any](m map[string]V) *map[string]V {
	if m == nil {
		return nil
	}
	return &m
}

// Objects are API objects in generic form. In a file, a single object may be
// given without a list.
type Objects []map[string]any

// UnmarshalJSON decodes an object or a list of objects.
func (o *Objects) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		*o = make(Objects, 1)
		return decode(b, &(*o)[0])
	}
	return decode(b, (*[]map[string]any)(o))
}

// MarshalJSON encodes a single object without a list.
func (o Objects) MarshalJSON() ([]byte, error) {
	if len(o) == 1 {
		return json.Marshal(o[0])
	}
	return json.Marshal([]map[string]any(o))
}

// String returns the kinds, namespaces and names of the objects.
func (o Objects) String() string {
	names := make([]string, len(o))
	for i, object := range o {
		kind, _ := object["kind"].(string)
		meta, _ := object["metadata"].(map[string]any)
		namespace, _ := meta["namespace"].(string)
		name, _ := meta["name"].(string)
		if namespace != "" {
			name = namespace + "/" + name
		}
		names[i] = kind + " " + name
	}
	return strings.Join(names, ", ")
}

// A Compaction is the argument of a compact step, as POST
// /debug/fakeapi/compact takes it. In a file, true stands for the zero value.
type Compaction struct {
	Revision   int64 `json:"revision,omitempty"`   // 0 is the newest
	WatchCache bool  `json:"watchCache,omitempty"` // compacts the watch cache too
}

// A compaction is a Compaction that is always encoded as an object.
type compaction Compaction

// UnmarshalJSON decodes true or an object.
func (c *Compaction) UnmarshalJSON(b []byte) error {
	if string(b) == "true" {
		*c = Compaction{}
		return nil
	}
	return decode(b, (*compaction)(c))
}

// MarshalJSON encodes the zero value as true.
func (c Compaction) MarshalJSON() ([]byte, error) {
	if c == (Compaction{}) {
		return []byte("true"), nil
	}
	return json.Marshal(compaction(c))
}

// A Duration is written in Go's syntax: "1.2s".
type Duration time.Duration

// String returns the duration in Go's syntax.
func (d Duration) String() string { return time.Duration(d).String() }

// UnmarshalText parses a duration. A negative one is an error.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err == nil && v < 0 {
		err = fmt.Errorf("the duration %s is negative", v)
	}
	*d = Duration(v)
	return err
}

// MarshalText returns the duration in Go's syntax.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
