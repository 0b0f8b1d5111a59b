package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/kinds/core"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// Update replaces an object, or what a subresource shows of it, by the body. It
// creates a missing object of a type that allows that.
func (g *Registry) Update(ctx context.Context, r Request, body Body, o *WriteOptions) (Result, error) {
	op := g.operation(ctx, "update", r)
	if op.target == targetUnsupported {
		return Result{}, op.notImplemented(op.verb)
	}
	current := op.likelyCurrent(body)
	obj, err := op.decode(body, o, current)
	if err != nil {
		return Result{}, err
	}
	meta := object.Meta(obj)
	if err := op.checkNameAndNamespace(meta); err != nil {
		return Result{}, err
	}
	op.dedupOwnerReferences(meta, "")
	return op.change(change{
		options: o,
		uid:     object.String(meta, "uid"),
		update: func(old *storage.Decoded) (map[string]any, error) {
			next := obj
			obj = nil // the attempt changes it
			if next == nil {
				if next, err = op.decodeAgain(body, o); err != nil {
					return nil, err
				}
			}
			if old != nil && !op.isScale() {
				object.ShareMembers(next, old.Map())
			}
			return op.withManagedFields(next, old, o), nil
		},
	})
}

// likelyCurrent returns the object that the body of an update is likely to replace, nil if that is
// not known before the body is decoded: what the body has from it is not decoded again.
func (op *operation) likelyCurrent(body Body) *storage.Decoded {
	t := op.Type
	if body.Object != nil || body.Format != codec.JSON || op.isScale() || t.Versions != nil {
		return nil
	}
	if o := op.store.Newest(op.key()); o != nil && o.IsOf(t) {
		return op.decoded(o)
	}
	return nil
}

// decodeAgain returns the object of the body of an update that was decoded before, without
// the warnings.
func (op *operation) decodeAgain(body Body, o *WriteOptions) (map[string]any, error) {
	quiet := *op
	quiet.Warnings, quiet.Decoded = nil, nil
	obj, err := quiet.decode(body, o, quiet.likelyCurrent(body))
	if err != nil {
		return nil, err
	}
	if err := quiet.checkNameAndNamespace(object.Meta(obj)); err != nil {
		return nil, err
	}
	quiet.dedupOwnerReferences(object.Meta(obj), "")
	op.stored = quiet.stored
	return obj, nil
}

// A change is a write to an existing object, or a PUT or an apply that may
// create it.
type change struct {
	options *WriteOptions

	// uid, unless "", is the UID of the only object that may be changed.
	uid string

	// creates allows a missing object to be created, whatever the type says.
	creates bool

	// update returns what takes the place of the object, or of what the
	// subresource shows of it, with managed fields. old is nil if there is no
	// object. It is called again after a conflict.
	update func(old *storage.Decoded) (map[string]any, error)
}

// change is the path of every write to an existing object: read, update, admit,
// prepare, validate, commit. It starts over if another write comes between read
// and commit.
func (op *operation) change(c change) (Result, error) {
	if err := CheckName(op.Name); err != nil {
		return Result{}, err
	}
	for {
		old := op.store.Newest(op.key())
		if old == nil {
			return op.createByChange(c)
		}
		if c.uid != "" && c.uid != old.UID {
			return Result{}, preconditionFailed(op.groupResource(), op.Name, op.Type.EtcdKey(op.objectNamespace(), op.Name, c.options.dryRun()), "UID", c.uid, old.UID)
		}
		shown, err := old.In(op.ctx, op.Type)
		if err != nil {
			return Result{}, err
		}
		stored, err := op.changeOnce(c, old, op.decoded(shown))
		if !errors.Is(err, ErrConflict) {
			return op.result(stored, err)
		}
	}
}

// decoded returns a stored object, which has the version of the request, in generic form.
func (op *operation) decoded(o *storage.Object) *storage.Decoded {
	return o.Decoded(op.Type, op.prototypes.of(op.Type).decoded...)
}

// changeOnce makes the change from one state of the object: present is old in
// the version of the request. It fails with ErrConflict if old is not the newest
// any more.
func (op *operation) changeOnce(c change, old *storage.Object, present *storage.Decoded) (*storage.Object, error) {
	defer op.release()
	was, o := present.Map(), c.options
	body, err := c.update(present)
	if err != nil {
		return nil, err
	}
	if err := op.checkNamespace(op.Name, false); err != nil {
		return nil, err
	}
	if err := op.mutate(body, op.view(present), o); err != nil {
		return nil, err
	}
	obj, err := op.mergeView(body, present)
	if err != nil {
		return nil, err
	}
	if err := op.checkEscalation(obj, was); err != nil {
		return nil, err
	}
	madeFromOld := op.verb != "update" || object.String(object.Meta(obj), "resourceVersion") != ""
	if err := op.checkVersion(object.Meta(obj), old); err != nil {
		return nil, err
	}
	sent := obj["status"]
	if err := op.prepareForUpdate(obj, present, old, o); err != nil {
		return nil, err
	}
	op.ignored = op.target == targetObject && madeFromOld && !alike(sent, obj["status"])
	if !op.rawMetadata {
		obj = op.managersOfType().Objects.IgnoreTimestamps(was, obj)
	}
	draft, err := op.draft(obj, was, old)
	if err != nil {
		return nil, err
	}
	if op.completesDeletion(obj, was) {
		if _, err := op.remove(old, o.dryRun()); err != nil {
			return nil, err
		}
		return draft.At(old.Revision), nil
	}
	if !o.dryRun() && !draft.Same(old) {
		if draft, obj, err = op.fit(draft, obj); err != nil {
			return nil, err
		}
	}
	stored, err := op.replace(op.Type, old, draft, o.dryRun())
	if err != nil {
		return nil, err
	}
	if op.Type.Updated != nil && !o.dryRun() {
		op.Type.Updated(obj, was, &op.counts)
	}
	if stored.Revision > old.Revision {
		op.keepDraft(stored, present, obj)
	}
	return stored, nil
}

// keepDraft keeps obj, which the write has stored in place of before, or as a new object if that is nil.
// It belongs to stored from then on, unless admission has replaced it, perhaps by values of its own.
func (op *operation) keepDraft(stored *storage.Object, before *storage.Decoded, obj map[string]any) {
	if op.replaced {
		obj = nil
	}
	stored.KeepDraft(op.Type, before, obj, op.sent.length)
}

// createByChange creates the object that a change did not find, where the type
// or the change allows that.
func (op *operation) createByChange(c change) (Result, error) {
	defer op.release()
	// A write to the status creates, too, where every PUT does: to that of a Service.
	allowed := op.Type.AllowCreateOnUpdate && (op.target == targetObject || op.target == targetStatus)
	applied := c.creates && (op.target == targetObject || op.target == targetStatus && op.Type.StatusApplyCreates)
	if !allowed && !applied {
		return Result{}, op.nothingToChange(c)
	}
	obj, err := c.update(nil)
	if err != nil {
		return Result{}, err
	}
	if err := op.provisionNamespace(c.options); err != nil {
		return Result{}, err
	}
	if err := op.checkNamespace(op.Name, true); err != nil {
		return Result{}, err
	}
	if err := op.mutate(obj, nil, c.options); err != nil {
		return Result{}, err
	}
	if err := op.checkEscalation(obj, nil); err != nil {
		return Result{}, err
	}
	if _, err := versionOf(object.Meta(obj)); err != nil {
		return Result{}, err
	}
	if op.api().Release.Has(behavior.ClearsSystemFields) {
		clearSystemFields(object.Meta(obj))
	}
	id, err := op.newIdentity(object.Meta(obj))
	if err != nil {
		return Result{}, err
	}
	if err := op.prepareForCreate(obj, id, c.options); err != nil {
		return Result{}, err
	}
	at := op.attributes()
	at.Verb = "create"
	if err := op.authorize(at); err != nil {
		return Result{}, err
	}
	stored, err := op.insert(obj, c.options.dryRun())
	result, err := op.result(stored, err)
	result.Created = err == nil
	return result, err
}

// nothingToChange is the error of a change of a missing object. Older releases compare the
// preconditions with an empty object.
func (op *operation) nothingToChange(c change) error {
	if !op.api().Release.Has(behavior.MissingBeforePreconditions) && c.uid != "" {
		return preconditionFailed(op.groupResource(), op.Name, op.Type.EtcdKey(op.objectNamespace(), op.Name, c.options.dryRun()), "UID", c.uid, "")
	}
	return status.NotFound(op.groupResource(), op.Name)
}

// checkVersion compares the resourceVersion that a write was made from with the
// stored one. Where the type allows it, a write without one overwrites.
func (op *operation) checkVersion(meta map[string]any, old *storage.Object) error {
	rev, err := versionOf(meta)
	switch {
	case err != nil:
		return err
	case rev == uint64(old.Revision):
	case rev == 0 && op.Type.AllowUnconditionalUpdate:
		meta["resourceVersion"] = storage.FormatVersion(old.Revision)
	case rev == 0:
		return status.Invalid(status.GroupKind{Group: op.Type.Group, Kind: op.Type.Name}, op.Name, op.released(validation.List{
			validation.Invalid(metadataPath.Child("resourceVersion"), uint64(0), "must be specified for an update"),
		}))
	default:
		return status.Modified(op.groupResource(), op.Name)
	}
	return nil
}

// versionOf returns the resourceVersion that a write was made from, 0 if it gives none.
func versionOf(meta map[string]any) (uint64, error) {
	rev, err := storage.ParseVersion(object.String(meta, "resourceVersion"))
	if err != nil {
		return 0, status.Unclassified(err.Error())
	}
	return rev, nil
}

// prepareForUpdate brings obj, which is to replace the object of a state, into the form that is
// stored, validates it and has it admitted.
func (op *operation) prepareForUpdate(obj map[string]any, present *storage.Decoded, was *storage.Object, o *WriteOptions) error {
	old := present.Map()
	meta, oldMeta := object.Meta(obj), object.Meta(old)
	if err := setNamespace(meta, op.objectNamespace()); err != nil {
		return err
	}
	if op.target == targetObject {
		if err := op.allocate(obj, old, o.dryRun()); err != nil {
			return err
		}
	}
	op.prepareFields(obj, old, was)
	keepSystemFields(meta, oldMeta)
	errs, tolerated := op.released(op.validateUpdate(obj, present)).Split()
	if err := op.ended(); err != nil {
		return err
	}
	op.warn(tolerated...)
	if len(errs) > 0 {
		return status.Invalid(op.groupKind(), object.String(meta, "name"), errs)
	}
	t := op.Type
	switch {
	case (op.target == targetObject || op.target == targetScale) && t.WarningsOnWrite != nil:
		op.warn(t.WarningsOnWrite(obj, old)...)
	case op.target == targetStatus && t.SubresourceStrategies["status"].WarningsOnWrite != nil:
		op.warn(t.SubresourceStrategies["status"].WarningsOnWrite(obj, old)...)
	}
	if op.isScale() && op.webhooksAndPolicies() != nil {
		obj, old = newScale(t, op.sub, obj), newScale(t, op.sub, old)
	}
	return op.validate(obj, old, o)
}

// prepareFields has the type's strategy prepare the target of the write, and
// raises the generation if the strategy says so.
func (op *operation) prepareFields(obj, old map[string]any, was *storage.Object) {
	t, meta, oldMeta := op.Type, object.Meta(obj), object.Meta(old)
	object.Keep(meta, oldMeta, "generation")
	raised := t.GenerationBeforePrepare && t.Generation(obj, old)
	op.prepare(obj, old, was, op.prepareOf)
	if op.target == targetStatus || op.target == targetFinalizers {
		return
	}
	if t.Generation != nil && !t.GenerationBeforePrepare {
		raised = op.changesGeneration(obj, old, was)
	}
	if raised {
		generation, _ := object.Int(oldMeta, "generation")
		meta["generation"] = generation + 1
	}
}

// changesGeneration reports whether the strategy raises the generation for a prepared object.
func (op *operation) changesGeneration(obj, old map[string]any, was *storage.Object) bool {
	if op.roundTrips() {
		to := op.Type.Storage()
		return to.Generation(op.stored, was.Decoded(to).Map())
	}
	return op.Type.Generation(obj, old)
}

// prepare has the strategy of the type prepare obj with the function that prepareOf returns for a
// version, and write into it what it takes from the request. old is the object that obj replaces, was
// in the version of the request; both are nil for a new one.
func (op *operation) prepare(obj, old map[string]any, was *storage.Object, prepareOf func(t *resource.Type) func(obj, old map[string]any)) {
	if op.roundTrips() {
		op.prepareStored(obj, was, prepareOf(op.Type.Storage()))
		return
	}
	if prepare := prepareOf(op.Type); prepare != nil {
		prepare(obj, old)
	}
	op.stamp(obj, old)
}

// prepareOf returns the Prepare of a version for the target of the request, which may be nil.
func (op *operation) prepareOf(t *resource.Type) func(obj, old map[string]any) {
	switch op.target {
	case targetStatus:
		return t.SubresourceStrategies["status"].Prepare
	case targetFinalizers:
		return func(obj, old map[string]any) { object.Keep(obj, old, "status") }
	case targetPart:
		return t.SubresourceStrategies[op.Subresource].Prepare
	}
	return t.Prepare
}

// keepSystemFields copies from the old metadata what no write may change.
func keepSystemFields(meta, old map[string]any) {
	if object.String(meta, "uid") == "" {
		meta["uid"] = old["uid"]
	}
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		if v := old[name]; v != nil {
			meta[name] = v
		}
	}
	if v := old["deletionGracePeriodSeconds"]; v != nil && meta["deletionGracePeriodSeconds"] == nil {
		meta["deletionGracePeriodSeconds"] = v
	}
}

// validateUpdate returns what is wrong with obj as a replacement of the object of a state.
func (op *operation) validateUpdate(obj map[string]any, present *storage.Decoded) validation.List {
	old := present.Map()
	t, meta, oldMeta := op.Type, object.Meta(obj), object.Meta(old)
	metadata := validation.NewMetadata(meta, metadataPath)
	changed := metadata.Changed(oldMeta)
	errs := append(metadata.New(t.Namespaced, validation.PathSegmentName), changed...)
	if t.UpdatesValidatedAsNew && (op.target == targetObject || op.target == targetScale) {
		errs = append(errs, metadata.New(t.Namespaced, t.Strategy.Name)...)
		errs = append(errs, op.validateFinalizerNames(meta)...)
		errs = append(errs, t.ValidateAll(op.ctx, obj, nil)...)
	}
	update, asNew := t.MetadataValidation.Times(op.target == targetObject)
	for range update {
		errs = append(errs, changed...)
		errs = append(errs, op.validateFinalizerNames(meta)...)
	}
	for range asNew {
		errs = append(errs, metadata.New(t.Namespaced, t.Strategy.Name)...)
		errs = append(errs, op.validateFinalizerNames(meta)...)
	}
	if op.target == targetObject || op.target == targetStatus {
		errs = append(errs, op.validateIn(obj, old)...)
	}
	switch {
	case op.target == targetObject || op.target == targetScale:
		errs = append(errs, op.validateChange(obj, present)...)
	case op.target == targetFinalizers:
		errs = append(errs, core.ValidateFinalize(obj)...)
	case op.target == targetStatus || op.target == targetPart:
		errs = append(errs, t.SubresourceStrategies[op.Subresource].ValidateAll(op.ctx, obj, old)...)
	}
	return errs
}

// validateChange returns what the strategy of the type finds wrong with obj as a replacement of the
// object of a state. It does not validate again what is valid and has not changed.
func (op *operation) validateChange(obj map[string]any, present *storage.Decoded) validation.List {
	t, old := op.Type, present.Map()
	if t.ValidateMetadata == nil || !resource.SharesMembers(obj, old, "metadata") {
		return t.ValidateAll(op.ctx, obj, old)
	}
	if present.Valid() {
		return op.validateMetadata(obj, old)
	}
	errs := t.ValidateAll(op.ctx, obj, old)
	if len(errs) == 0 {
		present.SetValid()
	}
	return errs
}

// validateMetadata is what ValidateAll returns for an object that is valid but for its metadata.
func (op *operation) validateMetadata(obj, old map[string]any) validation.List {
	errs := op.Type.ValidateMetadata(obj, old)
	if object.Checked {
		mustBeSkipped("validation", op.Type.ValidateAll(op.ctx, obj, old), errs)
	}
	return errs
}

// mustBeSkipped panics if something was skipped that does not return what is known without it. Only
// builds with the race detector call it.
func mustBeSkipped(what string, returned, known any) {
	if got, want := fmt.Sprint(returned), fmt.Sprint(known); got != want {
		panic(fmt.Sprintf("registry: %s was skipped, which returns %s and not %s", what, got, want))
	}
}

// completesDeletion reports whether a change removes the last finalizer of an
// object that is being deleted, so that the object goes.
func (op *operation) completesDeletion(obj, old map[string]any) bool {
	if len(object.List(obj, "metadata", "finalizers")) > 0 || object.Value(old, "metadata", "deletionTimestamp") == nil {
		return false
	}
	if grace, _ := object.Int(old, "metadata", "deletionGracePeriodSeconds"); grace != 0 {
		return false
	}
	return op.Type.ReadyToDelete == nil || op.Type.ReadyToDelete(obj)
}

// preconditionFailed is the error of a write that was meant for another state of
// the object, in the words of kube-apiserver's storage.
func preconditionFailed(gr status.GroupResource, name, key, what, want, is string) error {
	return status.Conflict(gr, name, fmt.Sprintf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, status.PreconditionText(what, want, is)))
}
