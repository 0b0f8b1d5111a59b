package registry

import (
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// ErrConflict is returned when the object changed between read and commit. The
// caller starts over from the new object.
var ErrConflict = errors.New("the object has changed")

// commit runs one transaction and records its writer. What the server derives
// from stored objects (admission configuration, custom resources) is up to date
// when it returns. It fails if the request has ended.
func (op *operation) commit(fn func(tx storage.Txn) error) error {
	if err := op.ended(); err != nil {
		return err
	}
	end := op.follower.Begin(op.Type, op.Follows)
	defer end()
	var events []mvcc.Event[*storage.Object]
	rev, err := op.store.Update(func(tx storage.Txn) error {
		if err := fn(tx); err != nil {
			return err
		}
		op.journal.RecordTransaction(tx, journal.Writer{User: op.User.Name, UserAgent: op.UserAgent, Manager: op.fieldManager(), Verb: op.verb, Apply: op.applies, Subresource: op.Subresource})
		events = tx.Events()
		if !op.Type.Virtual() && op.Type.HasTTL {
			op.expireAfterTTL(op.Type, events)
		}
		return nil
	})
	if err != nil {
		return err
	}
	op.revision = rev
	op.follower.Committed(Write{Type: op.Type, Surface: op.Surface, Follows: op.Follows, Events: events})
	return nil
}

// replaceObject is replace for an object of type t, which may share values with current: newest in the
// version of t.
func (op *operation) replaceObject(t *resource.Type, newest *storage.Object, obj map[string]any, current *storage.Decoded, dryRun bool) (*storage.Object, error) {
	draft, err := storage.Draft(op.ctx, t, obj, current.View(), newest)
	if err != nil {
		return nil, err
	}
	stored, err := op.replace(t, newest, draft, dryRun)
	if err == nil && stored.Revision > newest.Revision {
		stored.KeepDraft(t, current, nil, false, 0)
	}
	return stored, err
}

// replace stores draft, an object of type t, in place of newest and returns it as
// stored. If nothing changes it stores nothing and returns newest. It fails with
// ErrConflict if newest is not what is stored any more.
func (op *operation) replace(t *resource.Type, newest, draft *storage.Object, dryRun bool) (*storage.Object, error) {
	if draft.StoredAs(newest) {
		return newest, nil
	}
	if dryRun {
		return draft.At(newest.Revision), nil
	}
	var stored *storage.Object
	effects := op.api().Allocator.SideEffects(t, newest, draft)
	err := op.commit(func(tx storage.Txn) error {
		key := t.Key(newest.Namespace, newest.Name)
		if item, ok := tx.Get(key); !ok || item.Value != newest {
			return ErrConflict
		}
		effects.Allocate(tx)
		stored = draft.At(tx.Revision())
		tx.Put(key, stored)
		effects.Release(tx)
		return nil
	})
	return stored, err
}

// maxTransaction is the largest transaction of etcd, in bytes: its default for
// --max-request-bytes.
const maxTransaction = 1536 << 10

// maxMessage is the largest message that a client of etcd sends, in bytes.
const maxMessage = 2 << 20

// dropManagedFieldsIfTooLarge returns the draft of a candidate that etcd would store: draft or, if that is
// too large, one without managed fields, which the candidate loses, too. It fails for an object that is too
// large even so, and for the result of a server-side apply.
func (op *operation) dropManagedFieldsIfTooLarge(c *candidate, draft *storage.Object) (*storage.Object, error) {
	err := checkSize(op.Type, draft)
	if err == nil || op.applies {
		return draft, err
	}
	c.object = fieldmanager.WithoutManagedFields(c.object)
	smaller, err := op.draft(c, object.View{}, nil)
	if err != nil {
		return nil, err
	}
	smaller.Completed = draft.Completed
	return smaller, checkSize(op.Type, smaller)
}

// checkSize fails for an object that etcd would not store. etcd has custom resources,
// definitions and APIServices as JSON, and all others in protobuf, which can be longer or
// shorter.
func checkSize(t *resource.Type, draft *storage.Object) error {
	const around = 128 // bytes around the object and its key, which a transaction has three times
	key := len("/registry/") + len(t.Key(draft.Namespace, draft.Name))
	left := maxTransaction - around - 3*key
	size := draft.Len() + 1 // with a newline
	if size < left/4 {
		return nil // not even in protobuf
	}
	if w := t.Codec.Wire(); w != nil && t.Group != "apiextensions.k8s.io" && t.Group != "apiregistration.k8s.io" {
		size = len(w.AppendProto(nil, draft.Decode(t)))
	}
	const aroundValue = 61 // bytes around the object and its key, which a message has twice
	if message := size + aroundValue + 2*key; message > maxMessage {
		return status.Unclassified(fmt.Sprintf("rpc error: code = ResourceExhausted desc = trying to send message larger than max (%d vs. %d)", message, maxMessage))
	}
	if size > left {
		return status.Unclassified("etcdserver: request is too large")
	}
	return nil
}

// remove deletes an object and returns it at the revision of its deletion. It
// fails with ErrConflict if old is not the newest any more.
func (op *operation) remove(old *storage.Object, dryRun bool) (*storage.Object, error) {
	if dryRun {
		return old, nil
	}
	rev, key := mvcc.Revision(0), op.Type.Key(old.Namespace, old.Name)
	effects := op.api().Allocator.SideEffects(op.Type, old, nil)
	err := op.commit(func(tx storage.Txn) error {
		if item, ok := tx.Get(key); !ok || item.Value != old {
			return ErrConflict
		}
		rev = tx.Revision()
		tx.Delete(key)
		effects.Release(tx)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return old.At(rev), nil
}
