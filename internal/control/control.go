// Package control is the control endpoint, /debug/fakeapi/: what a test in any
// language can do to a server that no kube-apiserver allows.
//
// Differs from kube-apiserver: the control endpoint: kube-apiserver has none.
// Request: GET /debug/fakeapi/clock.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/activity"
	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/internal/controllers"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/scrub"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/story"
	"github.com/kubefake/kubefake/mvcc"
)

// Prefix begins the paths of the endpoint.
const Prefix = "/debug/fakeapi/"

// Serves reports whether a path belongs to the endpoint.
func Serves(path string) bool {
	return strings.HasPrefix(path, Prefix) || path == strings.TrimSuffix(Prefix, "/")
}

// A Config configures a Control.
type Config struct {
	// Name is the name of the cluster in its Group; "" for a cluster without one.
	Name     string
	Group    *Group
	Cluster  *cluster.Cluster
	Replica  *cluster.Replica
	Faults   *fault.Set
	Manager  *controllers.Manager
	Activity *activity.Tracker
	// ShowSecrets makes stories and requests show secrets.
	ShowSecrets bool
}

// A Control acts on one server. It is safe for concurrent use.
type Control struct {
	name        string
	group       *Group
	cluster     *cluster.Cluster
	replica     *cluster.Replica
	faults      *fault.Set
	manager     *controllers.Manager
	activity    *activity.Tracker
	showSecrets bool
	snapshots   sync.Map // of names to *storage.Snapshot
	host        atomic.Pointer[Host]
	searches    atomic.Pointer[Searches] // nil if there are none
	started     time.Time                // on the wall clock
}

// New returns the Control of a server.
func New(c Config) *Control {
	return &Control{
		name: c.Name, group: c.Group, cluster: c.Cluster, replica: c.Replica, faults: c.Faults, manager: c.Manager, activity: c.Activity,
		showSecrets: c.ShowSecrets, started: time.Now(),
	}
}

// Group returns the clusters with which that of the server shares a clock.
func (c *Control) Group() *Group { return c.group }

// A Request is a request to the endpoint. An empty Body is {}.
type Request struct {
	Context      context.Context // of the client, which a request that waits follows
	Method, Path string
	Host         string
	BaseURL      string // of the server, as the client knows it
	Query        url.Values
	Accept       string // the header
	ContentType  string // the header
	LastEventID  string // the header
	Body         []byte
}

// An Answer is the body of a successful answer.
type Answer struct {
	ContentType string
	Body        []byte
	// Policy is the Content-Security-Policy of a page; "" for an answer that is none.
	Policy string
	// Stream, if not nil, writes the body while things happen. It returns when the client
	// leaves or the server ends, with an error of send, or nil.
	Stream func(send func([]byte) error) error
}

// A Document is an answer that is JSON, a page for a browser, and text for a client that
// accepts text/plain by name.
type Document interface {
	WritePage(io.Writer) error
	PagePolicy() string
	Text(lines int) string
}

// textLines is how many lines the text of a Document has at most.
const textLines = 40

// Serve answers a request. Errors are of type *status.Status.
func (c *Control) Serve(r Request) (Answer, error) {
	name := strings.TrimPrefix(r.Path, Prefix)
	if name == "" || !strings.HasPrefix(r.Path, Prefix) {
		if r.Method != http.MethodGet {
			return Answer{}, methodNotAllowed(&r, http.MethodGet)
		}
		return c.index(&r)
	}
	op, methods := find(r.Method, name)
	switch {
	case name == eventsPath && r.Method == http.MethodGet:
		return c.events(&r), nil
	case name == statePath && r.Method == http.MethodGet:
		return c.state()
	case op != nil:
	case methods == nil:
		return Answer{}, notFound(fmt.Sprintf("the control endpoint has no %s; GET %s lists its requests", r.Path, Prefix))
	default:
		return Answer{}, methodNotAllowed(&r, methods...)
	}
	if err := r.checkContentType(); err != nil {
		return Answer{}, err
	}
	out, err := op.handle(c, &r)
	if err != nil {
		return Answer{}, err
	}
	if d, ok := out.(Document); ok {
		switch {
		case strings.Contains(r.Accept, "text/html"):
			var html bytes.Buffer
			err := d.WritePage(&html)
			return Answer{ContentType: "text/html; charset=utf-8", Body: html.Bytes(), Policy: d.PagePolicy()}, err
		case strings.Contains(r.Accept, "text/plain"):
			return Answer{ContentType: "text/plain; charset=utf-8", Body: []byte(d.Text(textLines))}, nil
		}
	}
	return jsonAnswer(out)
}

// statePath is the path below Prefix of the state as a file. It is no Operation, because its answer is no
// JSON document.
const statePath = "state"

// state answers with the present state, for fakeapi.WithState. It has secrets.
func (c *Control) state() (Answer, error) {
	var b bytes.Buffer
	err := c.cluster.WriteState(&b)
	return Answer{ContentType: "application/octet-stream", Body: b.Bytes()}, err
}

func jsonAnswer(v any) (Answer, error) {
	b, err := json.Marshal(v)
	return Answer{ContentType: "application/json", Body: append(b, '\n')}, err
}

// checkContentType fails for a body that is not declared as JSON or YAML. A web page
// can send text, forms and bodies without a type to other sites, but not JSON unless
// the other site agrees, and this server never does.
func (r *Request) checkContentType() error {
	if r.Method == http.MethodGet || len(r.Body) == 0 && r.ContentType == "" {
		return nil
	}
	mediaType, _, err := mime.ParseMediaType(r.ContentType)
	if err == nil && (mediaType == "application/json" || mediaType == "application/yaml") {
		return nil
	}
	return status.Failure(http.StatusUnsupportedMediaType, status.ReasonUnsupportedMediaType, fmt.Sprintf(
		"the control endpoint reads JSON, and the Content-Type is %q: send the body with curl --json, or with the header Content-Type: application/json", r.ContentType), nil)
}

// methodNotAllowed is the answer to a request for a path that has other methods.
func methodNotAllowed(r *Request, methods ...string) error {
	return status.Failure(http.StatusMethodNotAllowed, status.ReasonMethodNotAllowed,
		fmt.Sprintf("the control endpoint has no %s %s; use %s", r.Method, r.Path, strings.Join(methods, " or ")), nil)
}

// notFound is the answer to a name that does not exist.
func notFound(message string) error {
	return status.Failure(http.StatusNotFound, status.ReasonNotFound, message, nil)
}

// A Revision is the revision of the newest write.
type Revision struct {
	Revision mvcc.Revision `json:"revision"`
}

// revision is the answer of a handler that wrote, with the revision after it.
func (c *Control) revision(err error) (Revision, error) {
	if err != nil {
		return Revision{}, err
	}
	return Revision{c.cluster.Store().Revision()}, nil
}

// A Compaction says which versions of objects to remove.
type Compaction struct {
	// Revision is the oldest revision that can be read afterwards. The default is the
	// newest one.
	Revision mvcc.Revision `json:"revision,omitempty"`
	// WatchCache also removes what the watch cache of kube-apiserver still serves.
	WatchCache bool `json:"watchCache,omitempty"`
	// Watches also ends every open watch with 410 Expired.
	Watches bool `json:"watches,omitempty"`
}

func (c *Control) compact(_ *Request, in Compaction) (out Revision, err error) {
	rev, err := c.cluster.Compact(in.Revision, in.WatchCache)
	if err != nil {
		return out, status.BadRequest(err.Error())
	}
	if in.Watches {
		everyOpen := faults.Fault{Resource: "*", Watch: faults.ExpireWatch, Watches: faults.OpenWatches}
		if _, err := c.faults.Inject(everyOpen); err != nil {
			return out, err
		}
	}
	return Revision{rev}, nil
}

// Reset restores the state of a fresh server, removes all faults and ends all
// lags. Controllers start again, so that they create what they create at their start.
func (c *Control) Reset() error {
	c.faults.Clear()
	selected := c.manager.Selection()
	if len(selected) == 0 {
		return c.cluster.Reset()
	}
	if err := c.manager.Select(nil); err != nil {
		return err
	}
	err := c.cluster.Reset()
	return errors.Join(err, c.manager.Select(selected))
}

func (c *Control) reset(*Request, none) (Revision, error) { return c.revision(c.Reset()) }

// A SnapshotName is the name of a kept state. A state replaces another one of its name.
type SnapshotName struct {
	Name string `json:"name,omitempty"`
}

func (c *Control) snapshot(_ *Request, in SnapshotName) (Revision, error) {
	snapshot := c.cluster.Snapshot()
	c.snapshots.Store(in.Name, snapshot)
	return Revision{snapshot.Revision()}, nil
}

func (c *Control) restore(_ *Request, in SnapshotName) (Revision, error) {
	snapshot, ok := c.snapshots.Load(in.Name)
	if !ok {
		return Revision{}, notFound(fmt.Sprintf("no snapshot is named %q", in.Name))
	}
	return c.revision(c.cluster.Restore(snapshot.(*storage.Snapshot)))
}

// Objects are objects to store and to remove, in this order. Each is a write of its own.
// The first error ends the request, and earlier writes stay.
type Objects struct {
	// Store are objects to store with their status, in place of those of their names.
	// Defaults are set, unknown fields are dropped, and metadata and the types of the fields
	// of built-in kinds are checked. No admission runs, and the spec is validated only for
	// CustomResourceDefinitions.
	Store []json.RawMessage `json:"store,omitempty"`
	// Remove are objects that are removed at once, without finalizers. Each needs only
	// kind, apiVersion, and the namespace and name in metadata.
	Remove []json.RawMessage `json:"remove,omitempty"`
}

func (c *Control) objects(_ *Request, in Objects) (Revision, error) {
	for i, body := range in.Store {
		if _, err := c.cluster.Put(body); err != nil {
			return Revision{}, objectError("store", i, err)
		}
	}
	for i, body := range in.Remove {
		if err := c.cluster.RemoveObject(body); err != nil {
			return Revision{}, objectError("remove", i, err)
		}
	}
	return c.revision(nil)
}

func objectError(list string, i int, err error) error {
	return lookupError(fmt.Errorf("%s[%d]: %w", list, i, err))
}

// A Clock is the state of the clock of the server.
type Clock struct {
	Now time.Time `json:"now"`
	// Manual reports that the clock stands still unless it is advanced.
	Manual bool `json:"manual"`
	// Waiting is the number of timers that wait.
	Waiting int `json:"waiting"`
}

func (c *Control) clock(*Request, none) (Clock, error) {
	clock := c.cluster.Clock()
	return Clock{clock.Now(), clock.Manual(), clock.Waiting()}, nil
}

// An Advance moves the clock.
type Advance struct {
	// Advance is a duration, such as 90s or 10m.
	Advance string `json:"advance"`
}

func (c *Control) advance(r *Request, in Advance) (Clock, error) {
	d, err := time.ParseDuration(in.Advance)
	if err == nil {
		err = c.Advance(d)
	}
	if err != nil {
		return Clock{}, status.BadRequest(fmt.Sprintf("advance: %q is not a positive duration, such as 90s", in.Advance))
	}
	return c.clock(r, none{})
}

// Advance moves the clock forward. On a manual clock it runs what the controllers of all clusters
// of the group have to do meanwhile, each thing at its time. It fails with
// [clock.ErrNegativeDuration] if d is negative.
func (c *Control) Advance(d time.Duration) error { return c.group.advance(d) }

// A WritesQuery selects writes.
type WritesQuery struct {
	// From is the revision of the first write. The default is the oldest one.
	From string `query:"from"`
}

func (c *Control) writes(_ *Request, in WritesQuery) ([]journal.Write, error) {
	from, err := storage.ParseVersion(in.From)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	return append([]journal.Write{}, c.cluster.Writes(mvcc.Revision(from))...), nil
}

// A SecretsQuery says whether an answer has secrets.
type SecretsQuery struct {
	// ShowSecrets shows secrets, such as the data of Secrets and tokens in URLs. By default
	// placeholders replace them.
	ShowSecrets bool `query:"showSecrets"`
}

// scrubber returns what replaces secrets in an answer; nil if they are shown.
func (c *Control) scrubber(show bool) *scrub.Scrubber {
	if show || c.showSecrets {
		return nil
	}
	return scrub.ForReaders()
}

func (c *Control) requests(_ *Request, in SecretsQuery) ([]journal.Request, error) {
	all, s := c.Requests(), c.scrubber(in.ShowSecrets)
	for i := range all {
		r := &all[i]
		r.URI, r.UserAgent, r.Message, r.Panic = s.URI(r.URI), s.Text(r.UserAgent), s.Text(r.Message), s.Text(r.Panic)
	}
	return all, nil
}

// Requests returns the newest few thousand requests that were answered, oldest
// first.
func (c *Control) Requests() []journal.Request {
	entries := c.cluster.Journal().Requests()
	out := make([]journal.Request, len(entries))
	for i, e := range entries {
		out[i] = e.What.Request
	}
	return out
}

// Story returns what happened on the server since it was fresh, under a title.
func (c *Control) Story(title string) *story.Story { return c.storyWith(title, c.scrubber(false)) }

func (c *Control) storyWith(title string, s *scrub.Scrubber) *story.Story {
	from := c.source(title, s)
	from.WithObjects = true
	out := story.New(from)
	u := c.cluster.ClientUsage()
	c.addFindings(u, out, s)
	out.Findings = u.Findings
	return out
}

func (c *Control) source(title string, s *scrub.Scrubber) story.Source {
	return story.Source{
		Title: title, Journal: c.cluster.Journal(), Store: c.cluster.Store(), Now: c.cluster.Clock().Now(), From: c.cluster.FreshRevision(), Hidden: Serves, Scrubber: s,
	}
}

func (c *Control) story(r *Request, in SecretsQuery) (*story.Story, error) {
	return c.storyWith(r.Host, c.scrubber(in.ShowSecrets)), nil
}

// A RevisionsQuery selects revisions.
type RevisionsQuery struct {
	// Revision is the revision of a write; several select several.
	Revision []string `query:"revision"`
	// ShowSecrets shows secrets, such as the data of Secrets.
	ShowSecrets bool `query:"showSecrets"`
}

// Revisions are revisions as a story has them.
type Revisions struct {
	Revisions []story.Revision `json:"revisions"`
}

func (c *Control) revisions(r *Request, in RevisionsQuery) (Revisions, error) {
	of := map[mvcc.Revision]bool{}
	for _, text := range in.Revision {
		rev, err := storage.ParseVersion(text)
		if err != nil {
			return Revisions{}, status.BadRequest(err.Error())
		}
		of[mvcc.Revision(rev)] = true
	}
	return Revisions{story.Revisions(c.source("", c.scrubber(in.ShowSecrets)), of)}, nil
}

// A ScenarioQuery selects requests. Without a parameter it selects all that the server remembers.
type ScenarioQuery struct {
	// From and To are positions of the story, both inclusive.
	From string `query:"from"`
	To   string `query:"to"`
	// Client is the name of a client in the story.
	Client string `query:"client"`
	// Resource is a resource, such as pods or deployments.apps.
	Resource  string `query:"resource"`
	Namespace string `query:"namespace"`
	// Name is a part of the names of objects.
	Name string `query:"name"`
	// Verb is a verb, such as update or apply.
	Verb string `query:"verb"`
	// Status is a class of status codes, such as 2xx.
	Status string `query:"status"`
	// ShowSecrets shows secrets, such as the data of Secrets.
	ShowSecrets bool `query:"showSecrets"`
}

func (c *Control) scenario(r *Request, in ScenarioQuery) (story.Scenario, error) {
	of := story.Selection{Client: in.Client, Resource: in.Resource, Namespace: in.Namespace, Name: in.Name, Verb: in.Verb, Status: in.Status}
	for _, f := range []struct {
		name, text string
		value      *int64
	}{{"from", in.From, &of.From}, {"to", in.To, &of.To}} {
		if f.text == "" {
			continue
		}
		n, err := strconv.ParseInt(f.text, 10, 64)
		if err != nil {
			return story.Scenario{}, status.BadRequest(fmt.Sprintf("%s: %q is not a position of the story", f.name, f.text))
		}
		*f.value = n
	}
	s := c.scrubber(in.ShowSecrets)
	if s != nil {
		s = scrub.ForFiles()
	}
	return story.ScenarioOf(c.source(r.Host, s), of), nil
}
