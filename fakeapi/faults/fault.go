package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/glob"
	"github.com/kubefake/kubefake/internal/inputfile"
)

// ErrInvalid is returned for a fault that does not make sense, for a resource by its
// singular, kind or short name, for an ID that another fault has, and for text that is not a
// list of faults.
var ErrInvalid = errors.New("invalid fault")

// A Fault makes requests fail, wait or break, on purpose. The matcher fields say
// which requests, watches or webhook calls it can hit; Skip, Times, Probability
// and Lifetime bound how often it hits them; At says when; the effect fields say
// what happens.
//
// Response faults (Delay, Code, Reset, CutAfterBytes, ExpireContinue) hit a
// request when it arrives. Watch faults (Watch, EventDelay, EventRate,
// WithholdBookmarks) hit watches while they are open, including watches that
// were open before the injection. One Fault has effects of one of the two sorts.
// Several faults can hit one request: in the order of their injection, up to the
// first that responds to it.
//
// In YAML and JSON the fields have the names below with a small first letter.
// Durations are strings: "1.5s".
type Fault struct {
	// ID identifies the fault in lists and logs. If it is empty, Inject assigns a
	// number.
	ID string `json:"id,omitempty"`

	// In is the name of the cluster that has the fault, if the server is one of several clusters;
	// see package clusters. "" is the cluster into which it is injected: all clusters for the
	// faults of options and files that several clusters have.
	In string `json:"in,omitempty"`

	// Verb matches the verb of the request: get, list, watch, create, update,
	// patch, delete or deletecollection. Verb, Resource, Namespace and Name each
	// take several patterns, separated by commas. In every pattern * matches any
	// characters. An empty field matches every request.
	Verb string `json:"verb,omitempty"`
	// Resource matches the resource of the request: "pods", "deployments.apps",
	// "pods/status", "pods/*", "*". The package documentation of fakeapi specifies
	// the syntax.
	Resource string `json:"resource,omitempty"`
	// Namespace matches the namespace in the URL.
	Namespace string `json:"namespace,omitempty"`
	// Name matches the object name in the URL. A create request has none.
	Name string `json:"name,omitempty"`
	// UserAgent matches the User-Agent header: "kubectl/*".
	UserAgent string `json:"userAgent,omitempty"`
	// Path matches the path of the URL: "/apis*" includes discovery.
	Path string `json:"path,omitempty"`
	// Matches is called if all other matcher fields match; nil accepts every
	// request. It must not read the body. YAML and JSON do not have it.
	Matches func(*http.Request) bool `json:"-"`
	// Webhook matches calls from the server to webhooks, by their URL without its
	// query: "*" is every webhook, "https://admit.shop.svc*" those of one service.
	// Such a fault hits no client requests; the response effects apply to the
	// webhook's response.
	Webhook string `json:"webhook,omitempty"`

	// Skip is how many matching requests pass before the first hit.
	Skip int `json:"skip,omitempty"`
	// Times is how many requests the fault hits at most; 0 is no limit.
	Times int `json:"times,omitempty"`
	// Probability is the chance of hitting a matching request, from 0 to 1; 0 means
	// 1.
	Probability float64 `json:"probability,omitempty"`
	// Seed determines the random draws of Probability; 0 takes the server's seed
	// (WithSeed). The nth time that a client makes the same request it gets the
	// same draw in every run, whatever other clients and other faults do. This holds
	// for the first 65536 different requests: further ones share a sequence of draws.
	Seed uint64 `json:"seed,omitempty"`
	// Lifetime ends the fault that long after its injection, on the server's clock;
	// 0 is no limit.
	Lifetime time.Duration `json:"lifetime,omitempty"`
	// At is the point at which the fault takes effect: before a request is served,
	// after it is committed, or before or after an event is sent to a watch. "" is
	// BeforeRequest for a fault that hits requests; ServeFirst is short for
	// AfterCommit.
	//
	// A fault at BeforeDelivery or AfterDelivery hits single events. Verb, Resource,
	// UserAgent and Path match the request of the watch, but Namespace and Name the
	// object of the event. Skip, Times and Probability count events. The effects are
	// Do and Watch: PauseWatch withholds the event, at AfterDelivery the next one,
	// and everything after it; the others end the watch.
	At Moment `json:"at,omitempty"`
	// Event matches the type of the event at BeforeDelivery and AfterDelivery:
	// ADDED, MODIFIED, DELETED or BOOKMARK, or several, separated by commas. ""
	// is ADDED, MODIFIED and DELETED.
	Event string `json:"event,omitempty"`
	// Watches limits a watch fault to OpenWatches or NewWatches; "" is both.
	Watches WatchSelection `json:"watches,omitempty"`

	// Do is called when the fault hits, after Delay and before the other effects. The
	// request or the watch waits until it returns. See [Point] for what it may do. YAML
	// and JSON do not have it.
	Do func(*Point) `json:"-"`
	// Actions are made when the fault hits, after Do, in this order. The request or the
	// watch waits until they are done. In YAML and JSON the field is named do.
	Actions []Action `json:"do,omitempty"`

	// Delay delays the response. It ends early if the fault is removed.
	Delay time.Duration `json:"delay,omitempty"`
	// Code responds with an error status, from 400 to 599, in the words that
	// kube-apiserver uses most often with this code: 409 is a conflict, 500 an etcd
	// timeout, 429 the response of API priority and fairness.
	Code int `json:"code,omitempty"`
	// Reason and Message replace those that belong to Code.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// RetryAfter sets the Retry-After header, rounded up to seconds. It needs Code.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Reset breaks the connection instead of responding.
	Reset bool `json:"reset,omitempty"`
	// CutAfterBytes breaks the connection after that many bytes of the response
	// body, and in any case before its last byte.
	CutAfterBytes int `json:"cutAfterBytes,omitempty"`
	// ExpireContinue responds to a list with a continue token as if history had
	// been compacted: 410 Expired, with a new token for an inconsistent
	// continuation.
	ExpireContinue bool `json:"expireContinue,omitempty"`
	// ServeFirst serves the request, and stores what it writes, before the fault
	// delays or replaces the response. It does not apply to watches.
	ServeFirst bool `json:"serveFirst,omitempty"`

	// Watch closes, resets, expires or pauses a watch.
	Watch WatchEffect `json:"watch,omitempty"`
	// AfterEvents is how many events, not counting bookmarks, pass before Watch
	// ends the watch. It does not apply to PauseWatch.
	AfterEvents int `json:"afterEvents,omitempty"`
	// EventDelay delivers each event that long after it was sent.
	EventDelay time.Duration `json:"eventDelay,omitempty"`
	// EventRate limits a watch to that many events per second; 0 is no limit.
	EventRate float64 `json:"eventRate,omitempty"`
	// WithholdBookmarks drops bookmarks, except the one that ends the initial
	// events.
	WithholdBookmarks bool `json:"withholdBookmarks,omitempty"`
}

// A WatchEffect is what a fault does to a watch.
type WatchEffect string

const (
	// CloseWatch ends the response, as kube-apiserver does when the watch times
	// out.
	CloseWatch WatchEffect = "close"
	// ResetWatch breaks the connection.
	ResetWatch WatchEffect = "reset"
	// ExpireWatch sends an ERROR event with 410 Expired and ends the response.
	ExpireWatch WatchEffect = "expire"
	// PauseWatch delivers nothing to the client until the fault is removed.
	PauseWatch WatchEffect = "pause"
)

// A WatchSelection limits a fault to some watches.
type WatchSelection string

const (
	// OpenWatches are the watches that are open when the fault is injected.
	OpenWatches WatchSelection = "open"
	// NewWatches are the watches that begin after the injection.
	NewWatches WatchSelection = "new"
)

// HitsWatches reports whether the fault hits open watches, or events of theirs.
func (f Fault) HitsWatches() bool { return f.hasWatchEffect() || f.HitsEvents() }

// HitsEvents reports whether the fault hits single events of watches.
func (f Fault) HitsEvents() bool { return f.At == BeforeDelivery || f.At == AfterDelivery }

// ActsAfterServing reports whether the fault takes effect after the request is served.
func (f Fault) ActsAfterServing() bool { return f.ServeFirst || f.At == AfterCommit }

func (f *Fault) hasWatchEffect() bool {
	return f.Watch != "" || f.EventDelay > 0 || f.EventRate > 0 || f.WithholdBookmarks
}

func (f *Fault) hasResponseEffect() bool { return f.Delay > 0 || f.ServeFirst || f.Responds() }

// HasAction reports whether the fault does something to the server.
func (f Fault) HasAction() bool { return f.Do != nil || f.Actions != nil }

// Responds reports whether the fault replaces the response, or the end of it.
func (f Fault) Responds() bool {
	return f.Code != 0 || f.Reset || f.CutAfterBytes > 0 || f.ExpireContinue
}

// EndsWatch reports whether the fault ends a watch.
func (f Fault) EndsWatch() bool { return f.Watch != "" && f.Watch != PauseWatch }

var (
	verbs           = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	watchEffects    = []WatchEffect{"", CloseWatch, ResetWatch, ExpireWatch, PauseWatch}
	watchSelections = []WatchSelection{"", OpenWatches, NewWatches}
	moments         = []Moment{"", BeforeRequest, AfterCommit, BeforeDelivery, AfterDelivery}
	eventTypes      = []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"}
)

// Check returns an error that lists everything that is wrong with the fault, a
// line each, in the order of the text.
func (f Fault) Check() error {
	var errs []error
	failIf := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	for _, verb := range glob.Split(f.Verb) {
		known := slices.ContainsFunc(verbs, func(v string) bool { return glob.Match(verb, v) })
		failIf(!known && f.Path == "", "verb: %q is not one of %s", verb, strings.Join(verbs, ", "))
	}
	failIf(!slices.Contains(watchEffects, f.Watch), "watch: %q is not one of close, reset, expire, pause", f.Watch)
	failIf(!slices.Contains(moments, f.At), "at: %q is not one of beforeRequest, afterCommit, beforeDelivery, afterDelivery", f.At)
	for _, typ := range glob.Split(f.Event) {
		known := slices.ContainsFunc(eventTypes, func(t string) bool { return glob.Match(typ, t) })
		failIf(!known, "event: %q is not one of %s", typ, strings.Join(eventTypes, ", "))
	}
	failIf(!slices.Contains(watchSelections, f.Watches), "watches: %q is not one of open, new", f.Watches)
	failIf(f.Probability < 0 || f.Probability > 1, "probability: %v is not between 0 and 1", f.Probability)
	failIf(f.Code != 0 && (f.Code < 400 || f.Code > 599), "code: %d is not between 400 and 599", f.Code)
	for name, n := range map[string]int{"skip": f.Skip, "times": f.Times, "cutAfterBytes": f.CutAfterBytes, "afterEvents": f.AfterEvents} {
		failIf(n < 0, "%s: %d is negative", name, n)
	}
	for name, d := range f.durations() {
		failIf(*d < 0, "%s: %s is negative", name, *d)
	}
	failIf(f.EventRate < 0, "eventRate: %v is negative", f.EventRate)

	responses := 0
	for _, set := range []bool{f.Code != 0, f.Reset, f.CutAfterBytes > 0, f.ExpireContinue} {
		if set {
			responses++
		}
	}
	failIf(responses > 1, "code, reset, cutAfterBytes and expireContinue exclude each other")
	failIf(f.hasWatchEffect() && f.hasResponseEffect(), "effects on watches and effects on responses need two faults")
	failIf(!f.hasWatchEffect() && !f.hasResponseEffect() && !f.HasAction(), "the fault has no effect")
	failIf(f.hasWatchEffect() && !f.HitsEvents() && (f.At != "" || f.HasAction()), "at: a fault with an action and an effect on watches is at beforeDelivery or afterDelivery")
	failIf(f.HitsEvents() && f.hasResponseEffect(), "at: a response cannot be replaced at %s", f.At)
	failIf(f.HitsEvents() && (f.EventDelay > 0 || f.EventRate > 0 || f.WithholdBookmarks || f.AfterEvents > 0), "at: eventDelay, eventRate, withholdBookmarks and afterEvents are for whole watches")
	failIf(f.HitsEvents() && f.Verb != "" && !slices.ContainsFunc(glob.Split(f.Verb), func(v string) bool { return glob.Match(v, "watch") }), "verb: only a watch has a %s", f.At)
	failIf(f.Event != "" && !f.HitsEvents(), "event: the fault is not at beforeDelivery or afterDelivery")
	failIf(f.ServeFirst && f.At != "" && f.At != AfterCommit, "serveFirst: the fault is at %s", f.At)
	failIf(f.Code == 0 && (f.Reason != "" || f.Message != "" || f.RetryAfter != 0), "reason, message and retryAfter need a code")
	failIf(f.Watches != "" && !f.HitsWatches(), "watches: the fault has no effect on watches")
	failIf(f.AfterEvents > 0 && !f.EndsWatch(), "afterEvents: only close, reset and expire can wait for events")
	failIf(f.ActsAfterServing() && f.ExpireContinue, "serveFirst: an expired continue token cannot be served first")
	failIf(f.ActsAfterServing() && f.Delay == 0 && !f.Responds() && !f.HasAction(), "serveFirst: there is no effect after serving")
	matchesRequests := f.Verb != "" || f.Resource != "" || f.Namespace != "" || f.Name != "" || f.UserAgent != "" || f.Path != ""
	failIf(f.Webhook != "" && (matchesRequests || f.HitsWatches() || f.HasAction() || f.ExpireContinue), "webhook: the fault also has fields for client requests")

	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// String returns the fault on one line: "update,patch of deployments: 409, once".
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
	if verb == "" && f.HitsWatches() {
		verb = "watch"
	}
	if verb != "" {
		b.WriteString(verb + " of ")
	}
	b.WriteString(what)
	if f.Namespace != "" || f.Name != "" {
		b.WriteString(" " + strings.TrimPrefix(f.Namespace+"/"+f.Name, "/"))
	}
	if f.In != "" {
		b.WriteString(" in " + f.In)
	}
	if f.UserAgent != "" {
		b.WriteString(" by " + f.UserAgent)
	}
	if f.Event != "" {
		b.WriteString(", " + f.Event)
	}
	b.WriteString(": " + f.Effect())
	if f.Watches != "" {
		fmt.Fprintf(&b, ", %s watches only", f.Watches)
	}
	if f.Skip > 0 {
		fmt.Fprintf(&b, ", skip %d", f.Skip)
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
	if f.Lifetime > 0 {
		b.WriteString(", for " + f.Lifetime.String())
	}
	return b.String()
}

// Effect returns the effects in a few words: "reset after serving".
func (f Fault) Effect() string {
	var words []string
	addIf := func(set bool, format string, args ...any) {
		if set {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	addIf(f.Delay > 0, "delay of %s", f.Delay)
	addIf(f.Code != 0, "%d", f.Code)
	addIf(f.Reset, "reset")
	addIf(f.CutAfterBytes > 0, "cut after %d bytes", f.CutAfterBytes)
	addIf(f.ExpireContinue, "continue token expired")
	addIf(f.Watch != "", "%s", f.Watch)
	addIf(f.AfterEvents > 0, "after %d events", f.AfterEvents)
	addIf(f.EventDelay > 0, "events delayed by %s", f.EventDelay)
	addIf(f.EventRate > 0, "%v events per second", f.EventRate)
	addIf(f.WithholdBookmarks, "bookmarks withheld")
	addIf(f.Do != nil, "do")
	for _, a := range f.Actions {
		words = append(words, a.String())
	}
	addIf(f.ActsAfterServing(), "after serving")
	addIf(f.At == BeforeRequest, "before serving")
	addIf(f.At == BeforeDelivery, "before delivery")
	addIf(f.At == AfterDelivery, "after delivery")
	return strings.Join(words, " ")
}

// durations returns the fields that are strings in JSON, by their JSON names.
func (f *Fault) durations() map[string]*time.Duration {
	return map[string]*time.Duration{"lifetime": &f.Lifetime, "delay": &f.Delay, "retryAfter": &f.RetryAfter, "eventDelay": &f.EventDelay}
}

// plainFault is a Fault without methods: encoding/json encodes its fields.
type plainFault Fault

// A wireFault is a Fault in JSON. Its own fields hide the embedded fields of the
// same name.
type wireFault struct {
	*plainFault
	Lifetime   string `json:"lifetime,omitempty"`
	Delay      string `json:"delay,omitempty"`
	RetryAfter string `json:"retryAfter,omitempty"`
	EventDelay string `json:"eventDelay,omitempty"`
}

// durations returns the fields of Fault.durations as strings.
func (w *wireFault) durations() map[string]*string {
	return map[string]*string{"lifetime": &w.Lifetime, "delay": &w.Delay, "retryAfter": &w.RetryAfter, "eventDelay": &w.EventDelay}
}

// MarshalJSON implements [json.Marshaler]. It omits Matches and Do.
func (f Fault) MarshalJSON() ([]byte, error) {
	w := wireFault{plainFault: (*plainFault)(&f)}
	durations := f.durations()
	for name, text := range w.durations() {
		if d := *durations[name]; d != 0 {
			*text = d.String()
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON implements [json.Unmarshaler]. It fails for an unknown field.
func (f *Fault) UnmarshalJSON(b []byte) error {
	*f = Fault{}
	w := wireFault{plainFault: (*plainFault)(f)}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return explain.Error(b, &w, err)
	}
	durations := f.durations()
	for name, text := range w.durations() {
		if *text == "" {
			continue
		}
		var err error
		if *durations[name], err = time.ParseDuration(*text); err != nil {
			return fmt.Errorf("%s: %q is not a duration, such as 90s", name, *text)
		}
	}
	return nil
}

// Parse reads one fault or a list of faults from YAML or JSON, and checks them.
// The error is an [ErrInvalid].
func Parse(text []byte) ([]Fault, error) {
	b, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, explain.Error(nil, nil, err))
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
		return nil, fmt.Errorf("%w: %w", ErrInvalid, explain.Error(b, &faults, err))
	}
	for i := range faults {
		if err := faults[i].Check(); err != nil {
			return nil, fmt.Errorf("%w %d (%s): %w", ErrInvalid, i+1, faults[i], err)
		}
	}
	return faults, nil
}

// ParseFiles reads the faults of YAML and JSON files, each as for Parse. Globs have the syntax
// of fs.Glob. The error of a glob that matches no file is an fs.ErrNotExist.
func ParseFiles(fsys fs.FS, globs ...string) ([]Fault, error) {
	var all []Fault
	err := inputfile.EachMatch(fsys, globs, func(name string, text []byte) error {
		list, err := Parse(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, list...)
		return nil
	})
	return all, err
}
