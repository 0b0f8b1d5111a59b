package registry

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// An object of a version that has other fields than the storage version is in two forms while it is
// written: as the request has it, for managed fields, admission and validation, and in the storage
// version, in operation.stored. The latter is what is prepared and stored, as it is in kube-apiserver,
// whose internal version has all fields: a conversion to the version of the request and back may lose
// something. The former follows it. The metadata is that of the former.

// roundTrips reports whether the object of the request is in two forms.
func (op *operation) roundTrips() bool {
	return !op.Type.Virtual() && op.Type.RoundTrip != nil && !op.isScale() && !op.isAction()
}

// roundTrip sets the defaults of a decoded, patched or merged object, and sets op.stored.
func (op *operation) roundTrip(obj map[string]any) {
	op.stored = op.Type.RoundTrip(obj)
	if to := op.Type.Storage(); to.DefaultTime != nil {
		to.DefaultTime(op.stored, op.now())
		op.show(obj)
	}
}

// roundTripApplied is roundTrip for the result of an apply to live, which is nil for a new object. An
// apply that changes nothing but managed fields converts nothing.
func (op *operation) roundTripApplied(obj, live map[string]any) {
	if live != nil && resource.SharesMembers(obj, live, "metadata") && resource.SharesMembers(object.Meta(obj), object.Meta(live), "managedFields") {
		if current := op.store.Newest(op.key()); current != nil { // if it is not live, the commit fails
			op.stored = object.Copy(current.Decoded(op.Type.Storage()).Map())
			return
		}
	}
	op.roundTrip(obj)
}

// show sets obj to op.stored in the version of the request.
func (op *operation) show(obj map[string]any) {
	if err := op.Type.SetFrom(obj, op.stored); err != nil {
		panic("registry: " + err.Error()) // unreachable: decoded objects convert
	}
}

// prepareStored is prepare for an object in two forms. was is nil for a new one.
func (op *operation) prepareStored(obj map[string]any, was *storage.Object, prepare func(obj, old map[string]any)) {
	if op.stored == nil { // admission has changed obj
		op.stored = op.toStorage(obj)
	}
	op.stored["metadata"] = op.storedMetadata(obj)
	to := op.Type.Storage()
	var old map[string]any
	if was != nil {
		old = was.Decoded(to).Map()
	}
	if prepare != nil {
		prepare(op.stored, old)
	}
	if to.PrepareWithAuthor != nil {
		to.PrepareWithAuthor(op.stored, old, op.author())
	}
	op.show(obj)
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

// draftStored is storage.Draft for op.stored with the metadata of obj.
func (op *operation) draftStored(obj map[string]any, old *storage.Object) *storage.Object {
	next := object.Copy(op.stored)
	next["metadata"] = op.storedMetadata(obj)
	return storage.DraftConverted(op.Type.Storage(), next, old)
}
