package apiserver

import (
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
	r.server.journal.RecordRequest(e, r.came)
}

// writer is who writes by the request.
func (r *request) writer() journal.Writer {
	w := journal.Writer{User: r.user.Name, Manager: r.manager, Verb: r.Verb}
	if r.http != nil {
		w.UserAgent = r.http.UserAgent()
	}
	return w
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

// Writes returns the transactions from a revision on, oldest first, as far as
// history is kept. Older transactions have no Writer.
func (s *Server) Writes(from mvcc.Revision) []journal.Write {
	writers := map[mvcc.Revision]journal.Writer{}
	for _, e := range s.journal.Transactions() {
		writers[e.What.Revision] = e.What.Writer
	}
	var out []journal.Write
	for tx := range s.store.Log(from) {
		w := journal.Write{Revision: int64(tx.Revision), Time: tx.Time, Writer: writers[tx.Revision]}
		for i := range tx.Events {
			w.Changes = append(w.Changes, journal.NewChange(&tx.Events[i]))
		}
		out = append(out, w)
	}
	return out
}
