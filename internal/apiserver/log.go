package apiserver

import (
	"sync"
	"time"

	"github.com/kubefake/kubefake/mvcc"
)

// A Request is an entry of the request log: what was asked, and what was
// answered.
type Request struct {
	Time      time.Time     `json:"time"` // when it came, on the server's clock
	Method    string        `json:"method"`
	URI       string        `json:"uri"`
	User      string        `json:"user,omitempty"`
	UserAgent string        `json:"userAgent,omitempty"`
	Code      int           `json:"code"`
	Bytes     int64         `json:"bytes"` // of the answer's body
	Duration  time.Duration `json:"duration"`
	// Message is that of the failure, if it was one.
	Message string `json:"message,omitempty"`
	// Unimplemented marks a request that a kube-apiserver would have answered.
	Unimplemented bool `json:"unimplemented,omitempty"`
	// Panic is the trace of a bug of the server that the request hit.
	Panic string `json:"panic,omitempty"`
}

// A Writer is who wrote a revision.
type Writer struct {
	User      string `json:"user,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
	Verb      string `json:"verb"`
}

// logSize is how many entries the logs keep: the newest ones.
const logSize = 4096

// A ring keeps the newest of what was added to it.
type ring[T any] struct {
	mu      sync.Mutex // guards the fields below
	entries []T        // up to logSize
	next    int        // where the next one goes, once entries is full
}

func (l *ring[T]) add(e T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) < logSize {
		l.entries = append(l.entries, e)
		return
	}
	l.entries[l.next] = e
	l.next = (l.next + 1) % logSize
}

// all returns the entries, oldest first.
func (l *ring[T]) all() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]T, 0, len(l.entries))
	out = append(out, l.entries[l.next:]...)
	return append(out, l.entries[:l.next]...)
}

type requestLog struct{ ring[Request] }

func (l *requestLog) add(r *request) {
	e := Request{
		Time:      r.start,
		Method:    r.http.Method,
		URI:       r.http.URL.RequestURI(),
		UserAgent: r.http.UserAgent(),
		Code:      r.w.code,
		Bytes:     r.w.bytes,
		Duration:  r.server.clock.Now().Sub(r.start),
		Panic:     r.w.panic,
	}
	if r.user != nil {
		e.User = r.user.Name
	}
	if f := r.w.failure; f != nil {
		e.Message = f.Message
		e.Unimplemented = f.Reason == "NotImplemented"
	}
	l.ring.add(e)
}

type written struct {
	rev mvcc.Revision
	by  Writer
}

type writerLog struct{ ring[written] }

func (l *writerLog) add(rev mvcc.Revision, r *request) {
	w := Writer{User: r.user.Name, Verb: r.Verb}
	if r.http != nil {
		w.UserAgent = r.http.UserAgent()
	}
	l.ring.add(written{rev, w})
}

// A Revision is an entry of the revision log: one transaction.
type Revision struct {
	Revision mvcc.Revision `json:"revision"`
	Time     time.Time     `json:"time"`
	// Writer is who made it; the zero value if that is forgotten.
	Writer  Writer   `json:"writer"`
	Changes []Change `json:"changes"`
}

// A Change is what a transaction did to one object.
type Change struct {
	Type string `json:"type"` // ADDED, MODIFIED or DELETED
	Key  string `json:"key"`  // "/pods/default/a", "/deployments.apps/default/b"
}

// Requests is the request log: the newest few thousand requests that have been
// answered, oldest first.
func (s *Server) Requests() []Request { return s.requests.all() }

// Log is the revision log from a revision on, as far as history is kept,
// oldest first.
func (s *Server) Log(from mvcc.Revision) []Revision {
	writers := map[mvcc.Revision]Writer{}
	for _, w := range s.writers.all() {
		writers[w.rev] = w.by
	}
	var out []Revision
	for tx := range s.store.Log(from) {
		e := Revision{Revision: tx.Revision, Time: tx.Time, Writer: writers[tx.Revision]}
		for _, event := range tx.Events {
			change := Change{Type: "MODIFIED", Key: event.Item.Key}
			switch {
			case event.Type == mvcc.Delete:
				change.Type = "DELETED"
			case event.Prev == nil:
				change.Type = "ADDED"
			}
			e.Changes = append(e.Changes, change)
		}
		out = append(out, e)
	}
	return out
}
