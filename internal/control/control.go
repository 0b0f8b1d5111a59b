// Package control is the control endpoint, /debug/fakeapi/: what a test in any
// language can do to a server that no kube-apiserver allows.
//
// Differs from kube-apiserver: the control endpoint: kube-apiserver has none.
// Request: GET /debug/fakeapi/clock.
package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/controllers"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/story"
	"github.com/kubefake/kubefake/mvcc"
)

// pathPrefix begins the paths of the endpoint.
const pathPrefix = "/debug/fakeapi/"

// Serves reports whether a path belongs to the endpoint.
func Serves(path string) bool {
	return strings.HasPrefix(path, pathPrefix) || path == strings.TrimSuffix(pathPrefix, "/")
}

// A Control acts on one server. It is safe for concurrent use.
type Control struct {
	registry  *registry.Registry
	faults    *fault.Set
	manager   *controllers.Manager
	snapshots sync.Map // of names to *storage.Snapshot
}

// New returns the Control of a server.
func New(g *registry.Registry, faults *fault.Set, m *controllers.Manager) *Control {
	return &Control{registry: g, faults: faults, manager: m}
}

// A Request is a request to the endpoint. An empty Body is {}.
type Request struct {
	Method, Path string
	Host         string
	BaseURL      string // of the server, as the client knows it
	Query        url.Values
	Accept       string // the header
	ContentType  string // the header
	Body         []byte
}

// An Answer is the body of a successful answer.
type Answer struct {
	ContentType string
	Body        []byte
}

// A page is an answer in HTML.
type page []byte

// Serve answers a request. Errors are of type *status.Status.
func (c *Control) Serve(r Request) (Answer, error) {
	name := strings.TrimPrefix(r.Path, pathPrefix)
	if name == "" || !strings.HasPrefix(r.Path, pathPrefix) {
		if r.Method != http.MethodGet {
			return Answer{}, status.MethodNotAllowed()
		}
		return c.index(&r)
	}
	op, known := find(r.Method, name)
	switch {
	case !known:
		return Answer{}, notFound(fmt.Sprintf("the control endpoint has no %s; GET %s lists its requests", r.Path, pathPrefix))
	case op == nil:
		return Answer{}, status.MethodNotAllowed()
	}
	if err := r.checkContentType(); err != nil {
		return Answer{}, err
	}
	out, err := op.handle(c, &r)
	if err != nil {
		return Answer{}, err
	}
	if html, ok := out.(page); ok {
		return Answer{"text/html; charset=utf-8", html}, nil
	}
	return jsonAnswer(out)
}

func jsonAnswer(v any) (Answer, error) {
	b, err := json.Marshal(v)
	return Answer{"application/json", append(b, '\n')}, err
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

// decode decodes the body into v.
func (r *Request) decode(v any) error {
	if len(r.Body) == 0 {
		return nil
	}
	if err := json.Unmarshal(r.Body, v); err != nil {
		return status.BadRequest(err.Error())
	}
	return nil
}

// notFound is the answer to a name that does not exist.
func notFound(message string) error {
	return status.Failure(http.StatusNotFound, status.ReasonNotFound, message, nil)
}

type revisionAnswer struct {
	Revision mvcc.Revision `json:"revision"`
}

// revision is the answer of a handler that wrote, with the revision after it.
func (c *Control) revision(err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return revisionAnswer{c.registry.Store().Revision()}, nil
}

func (c *Control) compact(r *Request) (any, error) {
	var in struct {
		Revision   mvcc.Revision `json:"revision"`   // 0: the newest
		WatchCache bool          `json:"watchCache"` // compact what kube-apiserver's watch cache still serves, too
		Watches    bool          `json:"watches"`    // end every open watch with 410
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	rev, err := c.registry.Compact(in.Revision, in.WatchCache)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	if in.Watches {
		everyOpen := fault.Fault{Resource: "*", Watch: fault.ExpireWatch, Watches: fault.OpenWatches}
		if _, err := c.faults.Inject(everyOpen); err != nil {
			return nil, err
		}
	}
	return revisionAnswer{rev}, nil
}

// Reset brings back the state of a fresh server, removes all faults and ends all
// lags.
func (c *Control) Reset() error {
	c.faults.Clear()
	return c.registry.Reset()
}

func (c *Control) reset(*Request) (any, error) { return c.revision(c.Reset()) }

type snapshotName struct {
	Name string `json:"name"`
}

func (c *Control) snapshot(r *Request) (any, error) {
	var in snapshotName
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	snapshot := c.registry.Snapshot()
	c.snapshots.Store(in.Name, snapshot)
	return revisionAnswer{snapshot.Revision()}, nil
}

func (c *Control) restore(r *Request) (any, error) {
	var in snapshotName
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	snapshot, ok := c.snapshots.Load(in.Name)
	if !ok {
		return nil, notFound(fmt.Sprintf("no snapshot is named %q", in.Name))
	}
	return c.revision(c.registry.Restore(snapshot.(*storage.Snapshot)))
}

// objects puts objects and then removes others, in order, each in a write of its
// own. It ends at the first that fails.
func (c *Control) objects(r *Request) (any, error) {
	var in struct {
		Put    []json.RawMessage `json:"put"`
		Delete []json.RawMessage `json:"delete"` // of each kind, apiVersion and the namespace and name in metadata
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	for i, body := range in.Put {
		if _, err := c.registry.Put(body); err != nil {
			return nil, objectError("put", i, err)
		}
	}
	for i, body := range in.Delete {
		if err := c.registry.RemoveObject(body); err != nil {
			return nil, objectError("delete", i, err)
		}
	}
	return c.revision(nil)
}

func objectError(list string, i int, err error) error {
	return lookupError(fmt.Errorf("%s[%d]: %w", list, i, err))
}

type clockAnswer struct {
	Now     time.Time `json:"now"`
	Manual  bool      `json:"manual"`
	Waiting int       `json:"waiting"` // the number of timers
}

func (c *Control) clock(*Request) (any, error) {
	clock := c.registry.Clock()
	return clockAnswer{clock.Now(), clock.Manual(), clock.Waiting()}, nil
}

func (c *Control) advance(r *Request) (any, error) {
	var in struct {
		Advance string `json:"advance"` // a Go duration: "90s", "10m"
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(in.Advance)
	if err == nil {
		err = c.Advance(d)
	}
	if err != nil {
		return nil, status.BadRequest(fmt.Sprintf("advance: %q is not a positive duration, such as 90s", in.Advance))
	}
	return c.clock(r)
}

// Advance moves the clock forward. On a manual clock it runs what the controllers have
// to do then. It fails with [clock.ErrNegativeDuration] if d is negative.
func (c *Control) Advance(d time.Duration) error {
	if d >= 0 {
		c.registry.Journal().RecordNote(journal.Note{Kind: journal.Clock, Text: d.String() + " ahead"})
	}
	err := c.registry.Clock().Advance(d)
	if c.registry.Clock().Manual() {
		c.manager.Run()
	}
	return err
}

func (c *Control) writes(r *Request) (any, error) {
	from, err := storage.ParseVersion(r.Query.Get("from"))
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	return c.registry.Writes(mvcc.Revision(from)), nil
}

func (c *Control) requests(*Request) (any, error) { return c.Requests(), nil }

// Requests returns the newest few thousand requests that were answered, oldest
// first.
func (c *Control) Requests() []journal.Request {
	entries := c.registry.Journal().Requests()
	out := make([]journal.Request, len(entries))
	for i, e := range entries {
		out[i] = e.What.Request
	}
	return out
}

// Story returns what happened on the server since it was fresh, under a title.
func (c *Control) Story(title string) *story.Story {
	g := c.registry
	return story.New(story.Source{
		Title: title, Journal: g.Journal(), Store: g.Store(), Now: g.Clock().Now(), From: g.FreshRevision(), Hidden: Serves,
	})
}

// story answers the story in JSON, to a browser as a page.
func (c *Control) story(r *Request) (any, error) {
	told := c.Story(r.Host)
	if !strings.Contains(r.Accept, "text/html") {
		return told, nil
	}
	var html bytes.Buffer
	if err := told.WritePage(&html); err != nil {
		return nil, err
	}
	return page(html.Bytes()), nil
}
