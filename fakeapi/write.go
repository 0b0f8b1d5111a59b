package fakeapi

import (
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// A Write is one transaction: changes that were stored together. Each of them has a revision
// of its own, in their order. It is a struct:
//
//	Revision int64      of the last change
//	Time     time.Time  on the server's clock
//	Writer   Writer     the zero value if the server no longer knows
//	Changes  []Change
//
// String returns it on one line.
type Write = journal.Write

// A Writer identifies who made a Write. It is a struct:
//
//	User        string  name of the user
//	UserAgent   string
//	Manager     string  field manager
//	Verb        string
//	Subresource string  "" for the object itself
type Writer = journal.Writer

// A Change is what a Write did to one object. It is a struct:
//
//	Type      ChangeType  Added, Modified or Deleted
//	Resource  string      "pods", "deployments.apps"
//	Namespace string
//	Name      string
//
// String returns it as "MODIFIED pods default/a".
type Change = journal.Change

// A ChangeType is the type of a Change.
type ChangeType = storage.ChangeType

const (
	Added    = storage.Added
	Modified = storage.Modified
	Deleted  = storage.Deleted
)

// Writes returns the writes from a revision on, oldest first, as far back as
// history is kept. It knows the Writer of the newest 4,096.
func (s *Server) Writes(from int64) []Write { return s.api.Registry().Writes(mvcc.Revision(from)) }
