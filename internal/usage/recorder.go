// Package usage counts what clients ask while requests are served. Package fakeapi/usage says what
// follows from it.
package usage

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/fakeapi/usage"
	"github.com/kubefake/kubefake/internal/authz"
)

// A Recorder counts requests, or does nothing while it is off. The zero value is off. It is safe
// for concurrent use.
type Recorder struct {
	on atomic.Bool

	mu      sync.Mutex // guards the fields below
	entries map[key]*Entry
}

// maxEntries is how many entries a Recorder has before it no longer distinguishes namespaces.
const maxEntries = 20_000

// A Client is who makes a request.
type Client struct {
	User, UserAgent string
	Impersonator    string // who makes it as User; "" for User
}

// A key identifies an Entry.
type key struct {
	Client
	usage.Permission
	version string
	reason  usage.Reason
}

// An Entry counts requests that are equal but for names.
type Entry struct {
	recorder *Recorder
	names    map[string]struct{} // at most usage.MaxNames
	more     bool                // there were other names
	unnamed  bool
	count    int64
	refused  int64
	example  string
	instead  *usage.Permission
}

// Start turns the recorder on, with no requests. It does nothing if the recorder is on.
func (r *Recorder) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.on.Load() {
		return
	}
	r.entries = map[key]*Entry{}
	r.on.Store(true)
}

// Stop turns the recorder off. It keeps what it has.
func (r *Recorder) Stop() { r.on.Store(false) }

// On reports whether the recorder is on.
func (r *Recorder) On() bool { return r.on.Load() }

// Started reports whether the recorder is on, or was.
func (r *Recorder) Started() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entries != nil
}

// Inherit turns the recorder on if the other one is on.
func (r *Recorder) Inherit(other *Recorder) {
	if other.On() {
		r.Start()
	}
}

// A Need is a permission that a request needs.
type Need struct {
	Client Client
	At     authz.Attributes
	// Reason is "" for the request itself. Instead is what would do, too, or nil.
	Reason  usage.Reason
	Instead *authz.Attributes
	// Request is the request, of which the first is the example.
	Request *http.Request
}

// Record counts a need.
func (r *Recorder) Record(n *Need) *Entry {
	k := key{Client: n.Client, Permission: permissionOf(&n.At), version: n.At.Version, reason: n.Reason}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[k]
	if e == nil {
		if len(r.entries) >= maxEntries && k.Namespace != "" {
			k.Namespace = usage.ManyNamespaces
			e = r.entries[k]
		}
		if e == nil {
			e = &Entry{recorder: r, example: n.Request.Method + " " + n.Request.URL.RequestURI()}
			if n.Instead != nil {
				p := permissionOf(n.Instead)
				e.instead = &p
			}
			r.entries[k] = e
		}
	}
	e.count++
	e.addName(n.At.Name)
	return e
}

func (e *Entry) addName(name string) {
	if name == "" {
		e.unnamed = true
		return
	}
	if _, ok := e.names[name]; ok {
		return
	}
	if len(e.names) == usage.MaxNames {
		e.more = true
		return
	}
	if e.names == nil {
		e.names = map[string]struct{}{}
	}
	e.names[name] = struct{}{}
}

// Refuse counts that a request of the entry was refused with 403.
func (e *Entry) Refuse() {
	e.recorder.mu.Lock()
	defer e.recorder.mu.Unlock()
	e.refused++
}

// permissionOf returns the permission that attributes need.
func permissionOf(at *authz.Attributes) usage.Permission {
	if !at.IsResource {
		return usage.Permission{Verb: at.Verb, Path: at.Path}
	}
	return usage.Permission{Verb: at.Verb, Group: at.Group, Resource: at.Resource, Subresource: at.Subresource, Namespace: at.Namespace}
}

// Usage returns what was counted.
func (r *Recorder) Usage() *usage.Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := &usage.Usage{Requests: make([]usage.Request, 0, len(r.entries))}
	for k, e := range r.entries {
		next := usage.Request{
			User: k.User, UserAgent: k.UserAgent, Impersonator: k.Impersonator,
			Permission: k.Permission, Version: k.version, Reason: k.reason, Instead: e.instead,
			MoreNames: e.more, Unnamed: e.unnamed, Count: e.count, Refused: e.refused, Example: e.example,
		}
		for name := range e.names {
			next.Names = append(next.Names, name)
		}
		slices.Sort(next.Names)
		out.Requests = append(out.Requests, next)
	}
	out.Sort()
	return out
}
