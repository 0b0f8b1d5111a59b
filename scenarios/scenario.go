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
)

// Version is the version of the format that this package reads and writes.
const Version = 1

// A Scenario is one document of a file. The package documentation tells what
// its parts mean.
type Scenario struct {
	Version       int      `json:"version,omitempty"` // 0 is 1
	Area          string   `json:"area,omitempty"`
	Name          string   `json:"name"`
	Why           string   `json:"why,omitempty"`
	Recorded      string   `json:"recorded,omitempty"`
	Gates         []string `json:"gates,omitempty"`
	ManagedFields bool     `json:"managedFields,omitempty"`
	History       []Change `json:"history,omitempty"`
	Steps         []Step   `json:"steps,omitempty"`
}

// String is area/name.
func (s *Scenario) String() string {
	if s.Area == "" {
		return s.Name
	}
	return s.Area + "/" + s.Name
}

// A Change is what is written past HTTP at one time.
type Change struct {
	At     Duration `json:"at,omitempty"`
	Put    Objects  `json:"put,omitempty"`
	Delete Objects  `json:"delete,omitempty"`
}

// A Step is of one sort, but that a request may have Advance too: exactly one of Do, Watch, Events, Put and Delete,
// Compact, Pause, Advance, Lag, Fault, Restart and Expect is set.
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

	Watch  string `json:"watch,omitempty"`
	As     string `json:"as,omitempty"`
	Events string `json:"events,omitempty"`
	Count  int    `json:"count,omitempty"`
	Ends   bool   `json:"ends,omitempty"`

	Compact *Compaction    `json:"compact,omitempty"`
	Pause   Duration       `json:"pause,omitempty"`
	Advance Duration       `json:"advance,omitempty"`
	Lag     map[string]any `json:"lag,omitzero"`
	Fault   map[string]any `json:"fault,omitzero"`
	Restart string         `json:"restart,omitempty"`

	Expect string   `json:"expect,omitempty"` // "/path"
	Within Duration `json:"within,omitempty"`

	Want *Answer `json:"want,omitempty"`
}

// An Answer is what a server says to a step. In the Want of a step, volatile
// values are placeholders. Body and Events are of the sorts that JSON has, with
// numbers as json.Number.
type Answer struct {
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitzero"` // nil is any
	Warning []string          `json:"warning,omitempty"`
	Body    any               `json:"body,omitempty"`
	Events  []any             `json:"events,omitempty"`
}

// sorts are the sorts of steps, by the keys that tell them.
var sorts = []struct {
	key  string
	is   func(*Step) bool
	text func(*Step) string // what to call a step that has no name
}{
	{"do", func(s *Step) bool { return s.Do != "" }, func(s *Step) string { return s.Do }},
	{"watch", func(s *Step) bool { return s.Watch != "" }, func(s *Step) string { return "watch " + s.Watch }},
	{"events", func(s *Step) bool { return s.Events != "" }, func(s *Step) string { return "events of " + s.Events }},
	{"put and delete", func(s *Step) bool { return len(s.Put)+len(s.Delete) > 0 }, func(s *Step) string { return s.Change.String() }},
	{"compact", func(s *Step) bool { return s.Compact != nil }, func(*Step) string { return "compact" }},
	{"pause", func(s *Step) bool { return s.Pause != 0 }, func(s *Step) string { return "pause " + s.Pause.String() }},
	{"advance", func(s *Step) bool { return s.Advance != 0 && s.Do == "" }, func(s *Step) string { return "advance " + s.Advance.String() }},
	{"lag", func(s *Step) bool { return s.Lag != nil }, func(*Step) string { return "lag" }},
	{"fault", func(s *Step) bool { return s.Fault != nil }, func(*Step) string { return "fault" }},
	{"restart", func(s *Step) bool { return s.Restart != "" }, func(s *Step) string { return "restart watches of " + s.Restart }},
	{"expect", func(s *Step) bool { return s.Expect != "" }, func(s *Step) string { return "expect " + s.Expect }},
}

// String is the step's name, or what it does.
func (s *Step) String() string {
	if s.Name != "" {
		return s.Name
	}
	for _, sort := range sorts {
		if sort.is(s) {
			return sort.text(s)
		}
	}
	return "nothing"
}

// String tells what the change puts and deletes.
func (c Change) String() string {
	var parts []string
	if len(c.Put) > 0 {
		parts = append(parts, "put "+c.Put.String())
	}
	if len(c.Delete) > 0 {
		parts = append(parts, "delete "+c.Delete.String())
	}
	return strings.Join(parts, ", ")
}

// check finds what the decoder of a scenario cannot.
func (s *Scenario) check() error {
	if s.Version != 0 && s.Version != Version {
		return fmt.Errorf("version %d of the format is not known: this is version %d", s.Version, Version)
	}
	if s.Name == "" {
		return errors.New("no name")
	}
	if !slices.IsSortedFunc(s.History, func(a, b Change) int { return cmp.Compare(a.At, b.At) }) {
		return errors.New("history: not in the order of its offsets")
	}
	for i, c := range s.History {
		if len(c.Put)+len(c.Delete) == 0 {
			return fmt.Errorf("history[%d]: nothing is put or deleted", i)
		}
	}
	streams := map[string]bool{}
	for i := range s.Steps {
		if err := s.Steps[i].check(streams); err != nil {
			return fmt.Errorf("steps[%d] (%s): %w", i, &s.Steps[i], err)
		}
	}
	return nil
}

// check finds mistakes in a step. Streams are the names of the watches before
// it, and then its own.
func (s *Step) check(streams map[string]bool) error {
	var keys []string
	for _, sort := range sorts {
		if sort.is(s) {
			keys = append(keys, sort.key)
		}
	}
	switch {
	case len(keys) == 0:
		return errors.New("it does nothing")
	case len(keys) > 1:
		return fmt.Errorf("it is of several sorts: %s", strings.Join(keys, ", "))
	case s.Do != "" && !strings.Contains(s.Do, " "):
		return fmt.Errorf("do: %q is not METHOD /path", s.Do)
	case s.Advance != 0 && s.Until != 0:
		return errors.New("advance: a request that is repeated is not held back")
	case s.Watch != "" && s.As == "":
		return errors.New("as: a watch needs a name")
	case s.Watch == "" && s.As != "":
		return errors.New("as: only a watch has a name")
	case s.Events != "" && !streams[s.Events]:
		return fmt.Errorf("events: no watch is named %q", s.Events)
	case s.Expect != "" && s.Want == nil:
		return errors.New("expect: it has no want")
	}
	if s.As != "" {
		streams[s.As] = true
	}
	return nil
}

// Objects are API objects in generic form. In a file one of them can stand
// without a list.
type Objects []map[string]any

// UnmarshalJSON reads an object or a list of them.
func (o *Objects) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		*o = make(Objects, 1)
		return decode(b, &(*o)[0])
	}
	return decode(b, (*[]map[string]any)(o))
}

// MarshalJSON writes what UnmarshalJSON reads.
func (o Objects) MarshalJSON() ([]byte, error) {
	if len(o) == 1 {
		return json.Marshal(o[0])
	}
	return json.Marshal([]map[string]any(o))
}

// String names the objects.
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

// A Compaction is what a step that compacts asks of the control endpoint. In a
// file true stands for the zero value.
type Compaction struct {
	Revision   int64 `json:"revision,omitempty"`   // 0 is the newest
	WatchCache bool  `json:"watchCache,omitempty"` // what kube-apiserver's watch cache still has is forgotten too
}

// A compaction is a Compaction that is always written as an object.
type compaction Compaction

// UnmarshalJSON reads true or an object.
func (c *Compaction) UnmarshalJSON(b []byte) error {
	if string(b) == "true" {
		*c = Compaction{}
		return nil
	}
	return decode(b, (*compaction)(c))
}

// MarshalJSON writes what UnmarshalJSON reads.
func (c Compaction) MarshalJSON() ([]byte, error) {
	if c == (Compaction{}) {
		return []byte("true"), nil
	}
	return json.Marshal(compaction(c))
}

// A Duration is written as Go writes one: "1.2s".
type Duration time.Duration

// String is the duration as it is written.
func (d Duration) String() string { return time.Duration(d).String() }

// UnmarshalText reads a duration, which is not negative.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err == nil && v < 0 {
		err = fmt.Errorf("the duration %s is negative", v)
	}
	*d = Duration(v)
	return err
}

// MarshalText writes what UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
