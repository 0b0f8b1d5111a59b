package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// A Fault is something that goes wrong: for whom, when, and what. The package
// fakeapi documents the fields.
type Fault struct {
	ID string `json:"id,omitempty"`

	Verb      string                   `json:"verb,omitempty"`
	Resource  string                   `json:"resource,omitempty"`
	Namespace string                   `json:"namespace,omitempty"`
	Name      string                   `json:"name,omitempty"`
	UserAgent string                   `json:"userAgent,omitempty"`
	Path      string                   `json:"path,omitempty"`
	Matches   func(*http.Request) bool `json:"-"`
	Webhook   string                   `json:"webhook,omitempty"`

	Skip        int           `json:"skip,omitempty"`
	Times       int           `json:"times,omitempty"`
	Probability float64       `json:"probability,omitempty"`
	Seed        uint64        `json:"seed,omitempty"`
	For         time.Duration `json:"for,omitempty"`
	Watches     string        `json:"watches,omitempty"`

	Delay          time.Duration `json:"delay,omitempty"`
	Code           int           `json:"code,omitempty"`
	Reason         string        `json:"reason,omitempty"`
	Message        string        `json:"message,omitempty"`
	RetryAfter     time.Duration `json:"retryAfter,omitempty"`
	Reset          bool          `json:"reset,omitempty"`
	CutAfter       int           `json:"cutAfter,omitempty"`
	ExpireContinue bool          `json:"expireContinue,omitempty"`
	After          bool          `json:"after,omitempty"`

	Watch             string        `json:"watch,omitempty"`
	Events            int           `json:"events,omitempty"`
	EventDelay        time.Duration `json:"eventDelay,omitempty"`
	EventRate         float64       `json:"eventRate,omitempty"`
	WithholdBookmarks bool          `json:"withholdBookmarks,omitempty"`
}

// What Watch does to a watch.
const (
	Close  = "close"  // the answer ends, as it does when the time of a watch is up
	Reset  = "reset"  // the connection breaks
	Expire = "expire" // an ERROR event with a 410 ends it
	Pause  = "pause"  // nothing is sent any more
)

// Which watches a fault of watches is about.
const (
	Open = "open" // those that are open when the fault is injected
	New  = "new"  // those that come later
)

// A target is what a fault happens to.
type target int

const (
	requests target = iota
	watches         // that are open
	webhooks
)

func (f *Fault) target() target {
	switch {
	case f.Webhook != "":
		return webhooks
	case f.ofWatch():
		return watches
	}
	return requests
}

// ofWatch and ofAnswer report whether the fault does something to an open watch
// and to the answer of a request.
func (f *Fault) ofWatch() bool {
	return f.Watch != "" || f.EventDelay > 0 || f.EventRate > 0 || f.WithholdBookmarks
}

func (f *Fault) ofAnswer() bool { return f.Delay > 0 || f.After || f.answers() }

// answers reports whether the fault takes the place of the answer, or of its
// end.
func (f *Fault) answers() bool {
	return f.Code != 0 || f.Reset || f.CutAfter > 0 || f.ExpireContinue
}

// slows reports whether the fault makes the events of a watch wait.
func (f *Fault) slows() bool { return f.Watch == Pause || f.EventDelay > 0 || f.EventRate > 0 }

// ends reports whether the fault ends a watch.
func (f *Fault) ends() bool { return f.Watch != "" && f.Watch != Pause }

var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// Check says what is wrong with a fault.
func (f *Fault) Check() error {
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	for _, verb := range listOf(f.Verb) {
		known := slices.ContainsFunc(verbs, func(v string) bool { return glob(verb, v) })
		wrong(!known && f.Path == "", "verb: %q is none of %s", verb, strings.Join(verbs, ", "))
	}
	wrong(!slices.Contains([]string{"", Close, Reset, Expire, Pause}, f.Watch), "watch: %q is none of close, reset, expire, pause", f.Watch)
	wrong(!slices.Contains([]string{"", Open, New}, f.Watches), "watches: %q is neither open nor new", f.Watches)
	wrong(f.Probability < 0 || f.Probability > 1, "probability: %v is not from 0 to 1", f.Probability)
	wrong(f.Code != 0 && (f.Code < 400 || f.Code > 599), "code: %d is not from 400 to 599", f.Code)
	for name, n := range map[string]int{"skip": f.Skip, "times": f.Times, "cutAfter": f.CutAfter, "events": f.Events} {
		wrong(n < 0, "%s: %d is negative", name, n)
	}
	for name, d := range f.durations() {
		wrong(*d < 0, "%s: %s is negative", name, *d)
	}
	wrong(f.EventRate < 0, "eventRate: %v is negative", f.EventRate)

	one := 0
	for _, is := range []bool{f.Code != 0, f.Reset, f.CutAfter > 0, f.ExpireContinue} {
		if is {
			one++
		}
	}
	wrong(one > 1, "code, reset, cutAfter and expireContinue exclude each other")
	wrong(f.ofWatch() && f.ofAnswer(), "what happens to watches and what happens to answers are two faults")
	wrong(!f.ofWatch() && !f.ofAnswer(), "nothing goes wrong: there is no effect")
	wrong(f.Code == 0 && (f.Reason != "" || f.Message != "" || f.RetryAfter != 0), "reason, message and retryAfter are part of a code")
	wrong(f.Watches != "" && !f.ofWatch(), "watches: the fault is not about watches")
	wrong(f.Events > 0 && !f.ends(), "events: only close, reset and expire let events pass first")
	wrong(f.After && f.ExpireContinue, "after: a continue token expires before")
	wrong(f.After && f.Delay == 0 && !f.answers(), "after: nothing goes wrong after")
	ofRequest := f.Verb != "" || f.Resource != "" || f.Namespace != "" || f.Name != "" || f.UserAgent != "" || f.Path != ""
	wrong(f.Webhook != "" && (ofRequest || f.ofWatch() || f.ExpireContinue), "webhook: the fault is about requests, too")

	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// String tells the fault in a line: `update,patch of deployments: 409, once`.
func (f Fault) String() string {
	var b strings.Builder
	what := f.Resource
	switch {
	case f.Webhook != "":
		what = "webhook " + f.Webhook
	case what == "" && f.Path != "":
		what = f.Path
	case what == "" || what == "*":
		what = "anything"
	}
	verb := f.Verb
	if verb == "" && f.ofWatch() {
		verb = "watch"
	}
	if verb != "" {
		b.WriteString(verb + " of ")
	}
	b.WriteString(what)
	if f.Namespace != "" || f.Name != "" {
		b.WriteString(" " + strings.TrimPrefix(f.Namespace+"/"+f.Name, "/"))
	}
	if f.UserAgent != "" {
		b.WriteString(" by " + f.UserAgent)
	}
	b.WriteString(": " + f.effect())
	if f.Skip > 0 {
		fmt.Fprintf(&b, ", after %d", f.Skip)
	}
	switch {
	case f.Times == 1:
		b.WriteString(", once")
	case f.Times > 1:
		fmt.Fprintf(&b, ", %d times", f.Times)
	}
	if f.Probability > 0 {
		b.WriteString(", " + strconv.FormatFloat(100*f.Probability, 'g', 3, 64) + "%")
	}
	if f.For > 0 {
		b.WriteString(", for " + f.For.String())
	}
	return b.String()
}

// effect tells in a few words what goes wrong.
func (f *Fault) effect() string {
	var words []string
	add := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(f.Delay > 0, "delay of %s", f.Delay)
	add(f.Code != 0, "%d", f.Code)
	add(f.Reset, "reset")
	add(f.CutAfter > 0, "cut after %d bytes", f.CutAfter)
	add(f.ExpireContinue, "continue token expired")
	add(f.Watch != "", "%s", f.Watch)
	add(f.Events > 0, "after %d events", f.Events)
	add(f.EventDelay > 0, "events late by %s", f.EventDelay)
	add(f.EventRate > 0, "%v events a second", f.EventRate)
	add(f.WithholdBookmarks, "bookmarks withheld")
	effect := strings.Join(words, " ")
	if f.After {
		return effect + " after it is done"
	}
	return effect
}

// durations are the fields that JSON has as text, such as "3s".
func (f *Fault) durations() map[string]*time.Duration {
	return map[string]*time.Duration{"for": &f.For, "delay": &f.Delay, "retryAfter": &f.RetryAfter, "eventDelay": &f.EventDelay}
}

// plain is a Fault that encoding/json takes as it is.
type plain Fault

// A wireFault is a Fault in JSON. Its own fields hide those of the same name.
type wireFault struct {
	*plain
	For        string `json:"for,omitempty"`
	Delay      string `json:"delay,omitempty"`
	RetryAfter string `json:"retryAfter,omitempty"`
	EventDelay string `json:"eventDelay,omitempty"`
}

// texts are the durations as JSON has them.
func (w *wireFault) texts() map[string]*string {
	return map[string]*string{"for": &w.For, "delay": &w.Delay, "retryAfter": &w.RetryAfter, "eventDelay": &w.EventDelay}
}

// MarshalJSON implements [json.Marshaler]. Matches is left out.
func (f Fault) MarshalJSON() ([]byte, error) {
	w := wireFault{plain: (*plain)(&f)}
	durations := f.durations()
	for name, text := range w.texts() {
		if d := *durations[name]; d != 0 {
			*text = d.String()
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON implements [json.Unmarshaler]. A field that no fault has is an
// error.
func (f *Fault) UnmarshalJSON(b []byte) error {
	*f = Fault{}
	w := wireFault{plain: (*plain)(f)}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return err
	}
	durations := f.durations()
	for name, text := range w.texts() {
		if *text == "" {
			continue
		}
		var err error
		if *durations[name], err = time.ParseDuration(*text); err != nil {
			return fmt.Errorf("%s: %q is no duration, such as 90s", name, *text)
		}
	}
	return nil
}

// Parse reads faults from YAML or JSON, one or a list of them, and checks them.
func Parse(text []byte) ([]Fault, error) {
	b, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	var faults []Fault
	switch {
	case bytes.HasPrefix(b, []byte("[")):
		err = json.Unmarshal(b, &faults)
	case !bytes.Equal(b, []byte("null")):
		faults = make([]Fault, 1)
		err = json.Unmarshal(b, &faults[0])
	}
	if err != nil {
		return nil, err
	}
	for i := range faults {
		if err := faults[i].Check(); err != nil {
			return nil, fmt.Errorf("fault %d, %s: %w", i+1, faults[i], err)
		}
	}
	return faults, nil
}
