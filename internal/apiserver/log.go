package apiserver

import (
	"time"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/mvcc"
)

// answered notes a request whose answer has ended.
func (r *request) answered() {
	e := journal.Request{
		Time:      r.start,
		Method:    r.http.Method,
		URI:       r.http.URL.RequestURI(),
		UserAgent: r.http.UserAgent(),
		Code:      r.w.code,
		Bytes:     r.w.bytes,
		Duration:  r.server.clock.Now().Sub(r.start),
		Revision:  int64(r.revision),
		Panic:     r.w.panic,
	}
	if r.user != nil {
		e.User = r.user.Name
	}
	if f := r.w.failure; f != nil {
		e.Message = f.Message
		e.Unimplemented = f.Reason == "NotImplemented"
	}
	r.server.journal.Answered(e, r.came)
}

// writer is who writes by the request.
func (r *request) writer() journal.Writer {
	w := journal.Writer{User: r.user.Name, Manager: r.manager, Verb: r.Verb}
	if r.http != nil {
		w.UserAgent = r.http.UserAgent()
	}
	return w
}

// A Revision is an entry of the revision log: one transaction.
type Revision struct {
	Revision mvcc.Revision `json:"revision"`
	Time     time.Time     `json:"time"`
	// Writer is who made it; the zero value if that is forgotten.
	Writer  journal.Writer `json:"writer"`
	Changes []Change       `json:"changes"`
}

// A Change is what a transaction did to one object.
type Change struct {
	Type string `json:"type"` // ADDED, MODIFIED or DELETED
	Key  string `json:"key"`  // "/pods/default/a", "/deployments.apps/default/b"
}

// Journal is what happened on the server.
func (s *Server) Journal() *journal.Journal { return s.journal }

// Requests is the request log: the newest few thousand requests that have been
// answered, oldest first.
func (s *Server) Requests() []journal.Request {
	entries := s.journal.Requests()
	out := make([]journal.Request, len(entries))
	for i, e := range entries {
		out[i] = e.What.Request
	}
	return out
}

// Log is the revision log from a revision on, as far as history is kept,
// oldest first.
func (s *Server) Log(from mvcc.Revision) []Revision {
	writers := map[mvcc.Revision]journal.Writer{}
	for _, e := range s.journal.Writes() {
		writers[e.What.Revision] = e.What.Writer
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
