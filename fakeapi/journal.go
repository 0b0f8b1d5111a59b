package fakeapi

import (
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/mvcc"
)

// Requests returns the newest 4,096 requests whose responses have ended, in the
// order in which they ended.
func (s *Server) Requests() []journal.Request { return s.api.Control().Requests() }

// Writes returns the writes from a revision on, oldest first, as far back as
// history is kept. It knows the Writer of the newest 4,096.
func (s *Server) Writes(from int64) []journal.Write {
	return s.api.Cluster().Writes(mvcc.Revision(from))
}
