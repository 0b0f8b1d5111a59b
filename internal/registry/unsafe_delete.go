package registry

import (
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// unsafeDeletionGate is the gate of deletions that ignore read errors. Without it
// [DeleteOptions.IgnoreStoreReadError] is dropped.
const unsafeDeletionGate = "AllowUnsafeMalformedObjectDeletion"

// unsafeDeletionVerb is what the user of such a deletion must be allowed to do.
const unsafeDeletionVerb = "unsafe-delete-ignore-read-errors"

var ignoreStoreReadErrorPath = validation.NewPath("ignoreStoreReadErrorWithClusterBreakingPotential")

// ignoresReadErrors reports whether a deletion with the options is one of an object that cannot be read.
func (op *operation) ignoresReadErrors(o *DeleteOptions) bool {
	return o.IgnoreStoreReadError && op.api().Release.Enabled(unsafeDeletionGate)
}

// deleteUnread removes the object that is stored at a key and cannot be read, whatever its
// finalizers, without admission. It refuses to remove one that can be read.
func (op *operation) deleteUnread(key string, o *DeleteOptions) error {
	op.annotate("apiserver.k8s.io/unsafe-delete-ignore-read-error", "")
	if op.Type.NoUnsafeDeletion {
		return status.Internal("no unsafe deleter provided, can not honor " + ignoreStoreReadErrorPath.String())
	}
	if d := (reader{op}).Authorize(op.unsafeDeletion()); !d.Allowed {
		why := fmt.Sprintf("not permitted to do %q, reason: %s", unsafeDeletionVerb, d.Reason)
		if d.Err != nil {
			why = fmt.Sprintf("error while checking permission for %q, %v", unsafeDeletionVerb, d.Err)
		}
		return status.Forbidden(op.groupResource(), op.Name, why)
	}
	for {
		old := op.store.Newest(key)
		if err := op.checkUnreadable(old); err != nil {
			return err
		}
		_, err := op.remove(old, o.dryRun() && op.api().Release.Has(behavior.UnsafeDeletionConflicts))
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
}

// unsafeDeletion returns what the user of a deletion that ignores read errors does.
func (op *operation) unsafeDeletion() authz.Attributes {
	return authz.Attributes{
		Verb: unsafeDeletionVerb, IsResource: true,
		Group: op.Type.Group, Version: op.Type.Version, Resource: op.Type.Name,
		Namespace: op.Namespace, Name: op.Name,
	}
}

// checkUnreadable returns an error unless there is an object, and it cannot be read.
func (op *operation) checkUnreadable(old *storage.Object) error {
	var convertErr error
	if old != nil {
		_, convertErr = old.ConvertAnew(op.ctx, op.Type)
	}
	var unreadable *storage.ConversionError
	switch {
	case errors.As(convertErr, &unreadable):
		return nil
	case convertErr != nil:
		return convertErr
	case !op.api().Release.Has(behavior.UnsafeDeletionConflicts):
		return status.Invalid(status.GroupKind{Group: op.Type.Group, Kind: op.Type.Name}, op.Name, validation.List{
			validation.Invalid(ignoreStoreReadErrorPath, true, "is exclusively used to delete corrupt object(s), try again by removing this option")})
	case old == nil:
		return status.NotFound(op.groupResource(), op.Name)
	}
	return status.Conflict(op.groupResource(), op.Name, fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage",
		op.Type.EtcdKey(old.Namespace, old.Name, false)))
}
