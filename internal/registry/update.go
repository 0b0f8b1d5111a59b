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
	op := g.write(ctx, "update", r, body, o)
	if op.target == targetUnsupported {
		return Result{}, op.notImplemented(op.verb)
	}
	decoded, err := op.readReplacement()
	if err != nil {
		return Result{}, err
	}
	return op.change(change{
		uid: object.String(decoded.meta(), "uid"),
		update: func(current *storage.Decoded) (*candidate, error) {
			c := decoded
			decoded = nil // the attempt changes it
			if c == nil {
				if c, err = op.readAgain(); err != nil {
					return nil, err
				}
			}
			if current != nil && !op.isScale() {
				object.ShareMembers(c.object, current.View())
			}
			c.object = op.withManagedFields(c.object, current)
			return c, nil
		},
	})
}

// readReplacement decodes the body of an update.
func (op *operation) readReplacement() (*candidate, error) {
	c, err := op.decode(op.likelyCurrent())
	if err != nil {
		return nil, err
	}
	if err := op.checkNameAndNamespace(c.meta()); err != nil {
		return nil, err
	}
	op.dedupOwnerReferences(c.meta(), "")
	return c, nil
}

// readAgain is readReplacement for a body that was read before, without the warnings.
func (op *operation) readAgain() (*candidate, error) {
	quiet := *op
	quiet.Warnings, quiet.Decoded = nil, nil
	return quiet.readReplacement()
}

// likelyCurrent returns the object that the body of an update is likely to replace, nil if that is
// not known before the body is decoded: what the body has from it is not decoded again.
func (op *operation) likelyCurrent() *storage.Decoded {
	t := op.Type
	if op.body.Object != nil || op.body.Format != codec.JSON || op.isScale() || t.Versions != nil {
		return nil
	}
	if o := op.store.Newest(op.key()); o != nil && o.IsOf(t) {
		return op.decoded(o)
	}
	return nil
}

// A change is a write to an existing object, or a PUT or an apply that may
// create it.
type change struct {
	// uid, unless "", is the UID of the only object that may be changed.
	uid string

	// creates allows a missing object to be created, whatever the type says.
	creates bool

	// update returns what takes the place of the object, or of what the
	// subresource shows of it, with managed fields. current is nil if there is no
	// object. It is called again after a conflict.
	update func(current *storage.Decoded) (*candidate, error)
}

// change is the path of every write to an existing object: read, update, admit,
// prepare, validate, commit. It starts over if another write comes between read
// and commit.
func (op *operation) change(ch change) (Result, error) {
	if err := resource.CheckName(op.Name); err != nil {
		return Result{}, err
	}
	for {
		newest := op.store.Newest(op.key())
		if newest == nil {
			return op.createByChange(ch)
		}
		if ch.uid != "" && ch.uid != newest.UID {
			return Result{}, op.anotherUID(ch, newest.UID)
		}
		result, err := op.tryChange(ch, newest)
		if !errors.Is(err, ErrConflict) {
			result.Revision = op.revision
			return result, err
		}
	}
}

// tryChange is changeOnce with the calls of a conversion webhook that kube-apiserver makes. A dry run
// reads etcd. Another change is made to the object of the watch cache: kube-apiserver encodes this
// first, and reads etcd if the change fails or changes nothing.
func (op *operation) tryChange(ch change, newest *storage.Object) (Result, error) {
	read := newest.In
	if op.dryRun() {
		read = newest.ConvertAnew
	}
	shown, err := read(op.ctx, op.Type)
	if err == nil && !op.dryRun() {
		err = shown.CheckEncodes(op.ctx, op.Type)
	}
	if err != nil {
		return Result{}, op.readFailed(err)
	}
	result, err := op.changeOnce(ch, newest, op.decoded(shown))
	if !op.Type.HasConversionWebhook || op.dryRun() || errors.Is(err, ErrConflict) || err == nil && result.Object != newest {
		return result, err
	}
	again, unreadable := newest.ConvertAnew(op.ctx, op.Type)
	if unreadable != nil {
		return Result{}, unreadable
	}
	result.Object = again
	return result, err
}

// readFailed returns the error of reading the object of a change. A dry run reads it as a get does.
func (op *operation) readFailed(err error) error {
	var failed *storage.ConversionError
	if errors.As(err, &failed) {
		failed.Get = op.dryRun()
	}
	return err
}

// decoded returns a stored object, which has the version of the request, in generic form.
func (op *operation) decoded(o *storage.Object) *storage.Decoded {
	return o.Decoded(op.Type, op.prototypes.of(op.Type).decoded...)
}

// changeOnce makes the change from one state of the object: newest is what is stored, and current
// the same in the version of the request. It fails with ErrConflict if another write was first.
// The Result has no Revision.
func (op *operation) changeOnce(ch change, newest *storage.Object, current *storage.Decoded) (Result, error) {
	old := current.View()
	if op.isScale() {
		if err := checkScaleFields(op.Type, old); err != nil {
			return Result{}, err
		}
	}
	c, err := ch.update(current)
	if err != nil {
		return Result{}, err
	}
	defer c.reservation.Release()
	if !op.api().Release.Has(behavior.UpdatesWithoutNamespace) {
		if err := op.checkNamespace(op.Name, false); err != nil {
			return Result{}, err
		}
	}
	if err := op.mutate(c, op.view(current)); err != nil {
		return Result{}, err
	}
	if err := op.mergeView(c, current); err != nil {
		return Result{}, err
	}
	if err := op.checkEscalation(c.object, old); err != nil {
		return Result{}, err
	}
	madeFromOld := op.verb != "update" || object.String(c.meta(), "resourceVersion") != ""
	if err := op.checkVersion(c.meta(), newest); err != nil {
		return Result{}, err
	}
	sent := c.object["status"]
	op.restoreFractions(c)
	if err := op.prepareForUpdate(c, newest, current); err != nil {
		return Result{}, err
	}
	result := Result{StatusIgnored: op.target == targetObject && madeFromOld && !object.Alike(sent, c.object["status"])}
	if !c.rawMetadata && !c.hasFractions {
		c.object = op.managersOfType().Objects.IgnoreTimestamps(old, c.object)
	}
	draft, err := op.draft(c, old, newest)
	if err != nil {
		return result, err
	}
	if op.completesDeletion(c.object, old) {
		if _, err := op.remove(newest, op.dryRun()); err != nil {
			return result, err
		}
		if op.Type.Storage() == op.Type {
			draft = storage.NewUnstored(op.Type, c.object)
		}
		result.Object = draft.At(newest.Revision)
		return result, nil
	}
	result.Object, err = op.storeChange(c, draft, newest, current)
	return result, err
}

// storeChange stores draft, which was made of a candidate, in place of an object.
func (op *operation) storeChange(c *candidate, draft, newest *storage.Object, current *storage.Decoded) (*storage.Object, error) {
	var err error
	if !op.dryRun() && !draft.Same(newest) {
		if draft, err = op.dropManagedFieldsIfTooLarge(c, draft); err != nil {
			return nil, err
		}
	}
	stored, err := op.replace(op.Type, newest, draft, op.dryRun())
	if err != nil {
		return nil, err
	}
	if op.Type.Updated != nil && !op.dryRun() {
		op.Type.Updated(c.object, current.View(), &op.counts)
	}
	if stored.Revision > newest.Revision {
		op.keepDraft(stored, current, c)
	}
	return stored, nil
}

// keepDraft keeps the object that was stored in place of previous, or as a new object if that is nil.
// It belongs to stored from then on, unless admission has replaced it, perhaps by values of its own.
func (op *operation) keepDraft(stored *storage.Object, previous *storage.Decoded, c *candidate) {
	obj := c.object
	if c.replaced {
		obj = nil
	}
	stored.KeepDraft(op.Type, previous, obj, c.valid && !stored.Completed, c.textLen)
}

// createByChange creates the object that a change did not find, where the type
// or the change allows that.
func (op *operation) createByChange(ch change) (Result, error) {
	// A write to the status creates, too, where every PUT does: to that of a Service.
	allowed := op.Type.AllowCreateOnUpdate && (op.target == targetObject || op.target == targetStatus)
	applied := ch.creates && (op.target == targetObject || op.target == targetStatus && op.Type.StatusApplyCreates)
	if !allowed && !applied {
		return Result{}, op.nothingToChange(ch)
	}
	c, err := ch.update(nil)
	if err != nil {
		return Result{}, err
	}
	defer c.reservation.Release()
	if err := op.admitNamespace(op.Name); err != nil {
		return Result{}, err
	}
	if err := op.mutate(c, object.View{}); err != nil {
		return Result{}, err
	}
	if err := op.checkEscalation(c.object, object.View{}); err != nil {
		return Result{}, err
	}
	if _, err := versionOf(c.meta()); err != nil {
		return Result{}, err
	}
	if op.api().Release.Has(behavior.ClearsSystemFields) {
		clearSystemFields(c.meta())
	}
	id, err := op.newIdentity(c.meta())
	if err != nil {
		return Result{}, err
	}
	if err := op.prepareForCreate(c, id); err != nil {
		return Result{}, err
	}
	at := op.attributes()
	at.Verb = "create"
	if err := op.authorize(at); err != nil {
		return Result{}, err
	}
	stored, err := op.insert(c)
	result, err := op.result(stored, err)
	result.Created = err == nil
	return result, err
}

// nothingToChange is the error of a change of a missing object. Older releases compare the
// preconditions with an empty object.
func (op *operation) nothingToChange(ch change) error {
	if !op.api().Release.Has(behavior.MissingBeforePreconditions) && ch.uid != "" {
		return op.anotherUID(ch, "")
	}
	return status.NotFound(op.groupResource(), op.Name)
}

// anotherUID is the error of a change of an object that has another UID than that of the change.
func (op *operation) anotherUID(ch change, uid string) error {
	return preconditionFailed(op.groupResource(), op.Name, op.Type.EtcdKey(op.objectNamespace(), op.Name, op.dryRun()), "UID", ch.uid, uid)
}

// checkVersion compares the resourceVersion that a write was made from with the
// stored one. Where the type allows it, a write without one overwrites.
func (op *operation) checkVersion(meta map[string]any, newest *storage.Object) error {
	rev, err := versionOf(meta)
	switch {
	case err != nil:
		return err
	case rev == uint64(newest.Revision):
	case rev == 0 && op.Type.AllowUnconditionalUpdate:
		meta["resourceVersion"] = storage.FormatVersion(newest.Revision)
	case rev == 0:
		return status.Invalid(status.GroupKind{Group: op.Type.Group, Kind: op.Type.Name}, op.Name, op.inWordsOfRelease(validation.List{
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

// prepareForUpdate gives a candidate, which is to replace newest, the form that is stored, validates
// it and has it admitted.
func (op *operation) prepareForUpdate(c *candidate, newest *storage.Object, current *storage.Decoded) error {
	obj, old := c.object, current.View()
	meta, oldMeta := object.Meta(obj), old.At("metadata")
	if op.isForeign(obj) && object.String(obj, "apiVersion") == "" {
		return status.Internal(resource.MissingAPIVersion)
	}
	gk := op.groupKindOf(obj)
	if err := setNamespace(meta, op.objectNamespace()); err != nil {
		return err
	}
	if op.target == targetObject {
		if err := op.allocate(c, old); err != nil {
			return err
		}
	}
	op.prepareFields(c, old, newest)
	keepSystemFields(meta, oldMeta)
	found := op.validateUpdate(obj, current, old)
	if len(found) > 0 {
		// kube-apiserver compares quantities by their values.
		if respelled := op.Type.Respelled(old, obj); !respelled.Same(old) {
			found = found.Among(op.validateUpdate(obj, current, respelled))
		}
	}
	errs, tolerated := op.inWordsOfRelease(found).Split()
	if op.target == targetObject {
		errs = op.validateReferences(obj, old, errs)
	}
	if err := op.ended(); err != nil {
		return err
	}
	op.truncateFractions(c, errs)
	obj = c.object
	op.warn(tolerated...)
	if len(errs) > 0 {
		return status.Invalid(gk, object.String(meta, "name"), errs)
	}
	c.valid = len(tolerated) == 0 && (op.target == targetObject || op.target == targetScale)
	t := op.Type
	switch {
	case (op.target == targetObject || op.target == targetScale) && t.WarningsOnWrite != nil:
		op.warn(t.WarningsOnWrite(obj, old)...)
	case op.target == targetStatus && t.SubresourceStrategies["status"].WarningsOnWrite != nil:
		op.warn(t.SubresourceStrategies["status"].WarningsOnWrite(obj, old)...)
	}
	if op.isScale() && op.webhooksAndPolicies() != nil {
		obj, old = newScale(t, op.sub, object.ViewOf(obj)), object.ViewOf(newScale(t, op.sub, old))
	}
	return op.validate(c, obj, old)
}

// prepareFields has the type's strategy prepare the target of the write, and
// raises the generation if the strategy says so.
func (op *operation) prepareFields(c *candidate, old object.View, newest *storage.Object) {
	t, meta, oldMeta := op.Type, c.meta(), old.At("metadata")
	object.Keep(meta, oldMeta, "generation")
	raised := t.GenerationBeforePrepare && raisesGeneration(t, c.object, old)
	op.prepare(c, old, newest, op.prepareOf)
	if op.target == targetStatus || op.target == targetFinalizers {
		return
	}
	if t.Generation != nil && !t.GenerationBeforePrepare {
		raised = op.changesGeneration(c, old, newest)
	}
	if raised {
		generation, _ := oldMeta.Int("generation")
		meta["generation"] = generation + 1
	}
}

// changesGeneration reports whether the strategy raises the generation for a prepared object.
func (op *operation) changesGeneration(c *candidate, old object.View, newest *storage.Object) bool {
	if op.roundTrips() {
		to := op.Type.Storage()
		return raisesGeneration(to, c.stored, newest.Decoded(to).View())
	}
	return raisesGeneration(op.Type, c.object, old)
}

// raisesGeneration reports whether the strategy raises the generation of obj, which replaces old.
// Quantities are compared by their values.
func raisesGeneration(t *resource.Type, obj map[string]any, old object.View) bool {
	if !t.Generation(obj, old) {
		return false
	}
	respelled := t.Respelled(old, obj)
	return respelled.Same(old) || t.Generation(obj, respelled)
}

// prepare has the strategy of the type prepare a candidate with the function that prepareOf returns for
// a version, and write into it what it takes from the request. newest is the object that it replaces, and
// old the same in the version of the request; both are nil for a new one.
func (op *operation) prepare(c *candidate, old object.View, newest *storage.Object, prepareOf func(t *resource.Type) func(obj map[string]any, old object.View)) {
	if op.roundTrips() {
		op.prepareStored(c, newest, prepareOf(op.Type.Storage()))
		return
	}
	if prepare := prepareOf(op.Type); prepare != nil {
		prepare(c.object, op.preparedFrom(op.Type, c.object, old))
	}
	op.stamp(c.object, old)
}

// preparedFrom returns the object that Prepare gets for the one that obj replaces.
func (op *operation) preparedFrom(t *resource.Type, obj map[string]any, old object.View) object.View {
	if t.PrepareCompares && op.target == targetObject {
		return t.Respelled(old, obj)
	}
	return old
}

// prepareOf returns the Prepare of a version for the target of the request, which may be nil.
func (op *operation) prepareOf(t *resource.Type) func(obj map[string]any, old object.View) {
	switch op.target {
	case targetStatus:
		return t.SubresourceStrategies["status"].Prepare
	case targetFinalizers:
		return func(obj map[string]any, old object.View) { object.Keep(obj, old, "status") }
	case targetPart:
		return t.SubresourceStrategies[op.Subresource].Prepare
	}
	return t.Prepare
}

// keepSystemFields copies from the old metadata what no write may change.
func keepSystemFields(meta map[string]any, old object.View) {
	if object.String(meta, "uid") == "" {
		meta["uid"] = old.At("uid").Shared()
	}
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		if v := old.At(name); !v.IsNil() {
			meta[name] = v.Shared()
		}
	}
	if v := old.At("deletionGracePeriodSeconds"); !v.IsNil() && meta["deletionGracePeriodSeconds"] == nil {
		meta["deletionGracePeriodSeconds"] = v.Shared()
	}
}

// validateUpdate returns what is wrong with obj as a replacement of current. old is the view of
// current, in which quantities may have other texts.
func (op *operation) validateUpdate(obj map[string]any, current *storage.Decoded, old object.View) validation.List {
	t, meta, oldMeta := op.Type, object.Meta(obj), old.At("metadata")
	metadata := validation.NewMetadata(meta, metadataPath)
	changed := metadata.Changed(oldMeta)
	errs := append(metadata.New(t.Namespaced, validation.PathSegmentName), changed...)
	if t.UpdatesValidatedAsNew && (op.target == targetObject || op.target == targetScale) {
		errs = append(errs, metadata.New(t.Namespaced, t.Strategy.Name)...)
		errs = append(errs, op.validateFinalizerNames(meta)...)
		errs = t.ValidateAll(op.ctx, obj, object.View{}, errs)
	}
	update, asNew := t.MetadataValidation.Times(op.target == targetObject)
	if op.target == targetStatus && t.SubresourceStrategies[op.Subresource].MetadataOnce {
		update = 0
	}
	if op.isForeign(obj) {
		update, asNew = 0, 0
	}
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
		errs = op.validateChange(obj, current, old, errs)
	case op.target == targetFinalizers:
		errs = append(errs, core.ValidateFinalize(obj)...)
	case op.target == targetStatus || op.target == targetPart:
		errs = t.SubresourceStrategies[op.Subresource].ValidateAll(op.ctx, obj, old, errs)
	}
	return errs
}

// validateChange appends to errs, the errors that were found before, what the strategy of the type
// finds wrong with obj as a replacement of current. It does not validate again what is valid and has
// not changed.
func (op *operation) validateChange(obj map[string]any, current *storage.Decoded, old object.View, errs validation.List) validation.List {
	t := op.Type
	shares := t.ValidateMetadata != nil && object.ViewOf(obj).SharesMembers(old, "metadata")
	switch besideTemplate := t.BesideTemplate.Validate; {
	case shares && current.Valid():
		return append(errs, op.validatePart(t.ValidateMetadata, obj, old)...)
	case besideTemplate != nil && resource.SharesTemplate(obj, old) && current.Valid():
		return append(errs, op.validatePart(besideTemplate, obj, old)...)
	}
	all := t.ValidateAll(op.ctx, obj, old, errs)
	if shares && len(all) == len(errs) {
		current.SetValid()
	}
	return all
}

// validatePart is what ValidateAll returns for an object of which validate does not validate what is
// known to be valid.
func (op *operation) validatePart(validate func(obj map[string]any, old object.View) validation.List, obj map[string]any, old object.View) validation.List {
	errs := validate(obj, old)
	if object.Checked {
		mustBeSkipped("validation", op.Type.ValidateAll(op.ctx, obj, old, nil), errs)
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
func (op *operation) completesDeletion(obj map[string]any, old object.View) bool {
	if len(object.List(obj, "metadata", "finalizers")) > 0 || old.IsNil("metadata", "deletionTimestamp") {
		return false
	}
	if grace, _ := old.Int("metadata", "deletionGracePeriodSeconds"); grace != 0 {
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
