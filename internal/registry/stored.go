package registry

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/storage"
)

// An object of a version that has other fields than the storage version is in two forms while it is
// written: as the request has it, for managed fields, admission and validation, and in the storage
// version, in candidate.stored. The latter is what is prepared and stored, as it is in kube-apiserver,
// whose internal version has all fields: a conversion to the version of the request and back may lose
// something. The former follows it. The metadata is that of the former.

// roundTrips reports whether the object of the request is in two forms.
func (op *operation) roundTrips() bool {
	return !op.Type.Virtual() && op.Type.RoundTrip != nil && !op.isScale() && !op.isAction()
}

// roundTrip sets the defaults of a decoded, patched or merged object, and sets its stored form.
func (op *operation) roundTrip(c *candidate) {
	c.stored = op.Type.RoundTrip(c.object)
	if to := op.Type.Storage(); to.DefaultTime != nil {
		to.DefaultTime(c.stored, op.now())
		op.showStored(c)
	}
}

// roundTripApplied is roundTrip for the result of an apply to old, which is nil for a new object. An
// apply that changes nothing but managed fields converts nothing.
func (op *operation) roundTripApplied(c *candidate, old object.View) {
	if !old.IsNil() && object.ViewOf(c.object).SharesMembers(old, "metadata") && object.ViewOf(c.meta()).SharesMembers(old.At("metadata"), "managedFields") {
		if newest := op.store.Newest(op.key()); newest != nil { // if it is not old, the commit fails
			c.stored = newest.Decoded(op.Type.Storage()).View().CopyObject()
			return
		}
	}
	op.roundTrip(c)
}

// showStored sets the object to its stored form in the version of the request.
func (op *operation) showStored(c *candidate) {
	if err := op.Type.SetFrom(c.object, c.stored); err != nil {
		panic("registry: " + err.Error()) // unreachable: decoded objects convert
	}
}

// prepareStored is prepare for an object in two forms.
func (op *operation) prepareStored(c *candidate, newest *storage.Object, prepare func(obj map[string]any, old object.View)) {
	if c.stored == nil { // admission has changed the object
		c.stored = op.toStorage(c.object)
	}
	c.stored["metadata"] = op.storedMetadata(c.object)
	to := op.Type.Storage()
	var old object.View
	if newest != nil {
		old = newest.Decoded(to).View()
	}
	if prepare != nil {
		prepare(c.stored, op.preparedFrom(to, c.stored, old))
	}
	if to.PrepareWithAuthor != nil {
		to.PrepareWithAuthor(c.stored, old, op.author())
	}
	op.showStored(c)
}

// storedMetadata returns the metadata of obj as the storage version has it.
func (op *operation) storedMetadata(obj map[string]any) map[string]any {
	return object.Meta(op.toStorage(map[string]any{"kind": obj["kind"], "apiVersion": obj["apiVersion"], "metadata": obj["metadata"]}))
}

// toStorage returns a copy of obj in the storage version.
func (op *operation) toStorage(obj map[string]any) map[string]any {
	converted, err := op.Type.Storage().Convert(op.ctx, []map[string]any{object.Copy(obj)})
	if err != nil {
		panic("registry: " + err.Error()) // unreachable: decoded objects convert
	}
	return converted[0]
}

// draftStored is storage.Draft for an object in two forms.
func (op *operation) draftStored(c *candidate, newest *storage.Object) *storage.Object {
	next := object.Copy(c.stored)
	next["metadata"] = op.storedMetadata(c.object)
	return storage.DraftConverted(op.Type.Storage(), next, newest)
}
