package apiserver

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/mvcc"
)

// A writeMode is which part of an object a write is for.
type writeMode int

const (
	writeObject     writeMode = iota // all but what has a subresource of its own
	writeStatus                      // the status subresource
	writeFinalizers                  // a namespace's finalize subresource
	writeScale                       // the scale subresource
	writePart                        // a subresource that the type has a resource.Part for
)

var metadataPath = validation.NewPath("metadata")

// errLost says that the object changed between read and commit.
var errLost = errors.New("the object has changed")

// admitNamespace refuses writes of objects in a namespace that is missing, and
// new objects in one that is going.
func (r *request) admitNamespace(name string, creating bool) error {
	if !r.typ.Namespaced {
		return nil
	}
	namespaces := r.registry.Lookup("", "v1", "namespaces")
	ns := r.server.store.Newest(namespaces.Key("", r.Namespace))
	if ns == nil {
		return status.NotFound(status.GroupResource{Resource: "namespaces"}, r.Namespace)
	}
	if creating && ns.Terminating {
		st := status.Forbidden(r.groupResource(), name, fmt.Sprintf("unable to create new content in namespace %s because it is being terminated", r.Namespace))
		st.Details.Causes = append(st.Details.Causes, status.Cause{
			Reason:  status.CauseNamespaceTerminating,
			Message: fmt.Sprintf("namespace %s is being terminated", r.Namespace),
			Field:   "metadata.namespace",
		})
		return st
	}
	return nil
}

// prepareNew makes obj, whose metadata was cleared of what the server owns, an
// object that can be stored, or says why it is none.
func (r *request) prepareNew(obj map[string]any, o *writeOptions) error {
	meta := object.Meta(obj)
	if r.typ.Uncreatable != "" {
		return status.Forbidden(r.groupResource(), object.String(meta, "name"), r.typ.Uncreatable)
	}
	meta["uid"] = r.server.ids.uid()
	meta["creationTimestamp"] = r.now()
	switch prefix := object.String(meta, "generateName"); {
	case object.String(meta, "name") != "":
	case prefix != "":
		meta["name"] = r.server.ids.name(prefix)
	case r.typ.NamedByID:
		meta["name"] = r.server.ids.uid()
	}
	if err := checkNamespace(meta, r.namespaceOfObject()); err != nil {
		return err
	}
	t := r.typ
	if err := r.allocate(obj, nil, o.dryRun()); err != nil {
		return err
	}
	if t.Generation != nil {
		meta["generation"] = int64(1)
	}
	if t.Prepare != nil {
		t.Prepare(obj, nil)
	}
	r.stamp(obj, nil)
	var errs validation.List
	if t.Meta != resource.MetaOnce {
		errs = validation.ObjectMeta(meta, t.Namespaced, t.Strategy.Name, metadataPath)
		errs = append(errs, r.finalizerNames(meta)...)
	}
	errs = append(errs, r.validateIn(obj, nil)...)
	if t.Validate != nil {
		errs = append(errs, t.Validate(obj, nil)...)
	}
	if len(errs) == 0 {
		errs = validation.ObjectMeta(meta, t.Namespaced, validation.PathSegmentName, metadataPath)
	}
	if len(errs) > 0 {
		return status.Invalid(r.groupKind(), object.String(meta, "name"), errs)
	}
	if t.Warn != nil {
		r.warn(t.Warn(obj, nil)...)
	}
	return r.validate(obj, nil, o)
}

// validateIn checks what a type's objects may have in some namespaces only.
func (r *request) validateIn(obj, old map[string]any) validation.List {
	if r.typ.ValidateIn == nil {
		return nil
	}
	w := r.writing(obj, old)
	w.Verb, w.Author = r.Verb, r.author()
	w.Authorize = func(verb, subresource, namespace, name string) error {
		at := r.attributes()
		at.Verb, at.Subresource, at.Namespace, at.Name = verb, subresource, namespace, name
		return r.check(at)
	}
	return r.typ.ValidateIn(w)
}

// finalizerNames checks that finalizers are standard or qualified, where the
// type wants that.
func (r *request) finalizerNames(meta map[string]any) validation.List {
	if r.typ.AnyFinalizer {
		return nil
	}
	return validation.FinalizerNames(meta, metadataPath)
}

// author is who makes the request.
func (r *request) author() resource.Author {
	return resource.Author{User: *r.user, Now: r.now()}
}

// stamp writes into obj what its type takes from the request.
func (r *request) stamp(obj, old map[string]any) {
	if r.typ.Stamp != nil {
		r.typ.Stamp(obj, old, r.author())
	}
}

// prepareChange makes obj a valid successor of old, or says why it is none.
func (r *request) prepareChange(mode writeMode, obj, old map[string]any, o *writeOptions) error {
	meta, oldMeta := object.Meta(obj), object.Meta(old)
	if err := checkNamespace(meta, r.namespaceOfObject()); err != nil {
		return err
	}
	t := r.typ
	if mode == writeObject {
		if err := r.allocate(obj, old, o.dryRun()); err != nil {
			return err
		}
	}
	object.Keep(meta, oldMeta, "generation")
	raised := t.GenerationFirst && t.Generation(obj, old)
	switch {
	case mode == writeStatus:
		t.PrepareStatus(obj, old)
		r.stamp(obj, old)
	case mode == writeFinalizers:
		object.Keep(obj, old, "status")
	default:
		switch {
		case mode == writePart:
			t.Parts[r.Subresource].Prepare(obj, old)
		case t.Prepare != nil:
			t.Prepare(obj, old)
		}
		r.stamp(obj, old)
		if t.Generation != nil && !t.GenerationFirst {
			raised = t.Generation(obj, old)
		}
		if raised {
			generation, _ := object.Int(oldMeta, "generation")
			meta["generation"] = generation + 1
		}
	}
	if object.String(meta, "uid") == "" {
		meta["uid"] = oldMeta["uid"]
	}
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		if v := oldMeta[name]; v != nil {
			meta[name] = v
		}
	}
	if v := oldMeta["deletionGracePeriodSeconds"]; v != nil && meta["deletionGracePeriodSeconds"] == nil {
		meta["deletionGracePeriodSeconds"] = v
	}
	errs := validation.ObjectMeta(meta, t.Namespaced, validation.PathSegmentName, metadataPath)
	errs = append(errs, validation.ObjectMetaUpdate(meta, oldMeta, metadataPath)...)
	update, asNew := t.Meta.Times(mode == writeObject)
	for range update {
		errs = append(errs, validation.ObjectMetaUpdate(meta, oldMeta, metadataPath)...)
		errs = append(errs, r.finalizerNames(meta)...)
	}
	for range asNew {
		errs = append(errs, validation.ObjectMeta(meta, t.Namespaced, t.Strategy.Name, metadataPath)...)
		errs = append(errs, r.finalizerNames(meta)...)
	}
	if mode == writeObject || mode == writeStatus {
		errs = append(errs, r.validateIn(obj, old)...)
	}
	switch {
	case (mode == writeObject || mode == writeScale) && t.Validate != nil:
		errs = append(errs, t.Validate(obj, old)...)
	case mode == writeStatus && t.ValidateStatus != nil:
		errs = append(errs, t.ValidateStatus(obj, old)...)
	case mode == writeFinalizers:
		errs = append(errs, kinds.ValidateFinalize(obj)...)
	case mode == writePart:
		errs = append(errs, t.Parts[r.Subresource].Validate(obj, old)...)
	}
	errs, tolerated := errs.Held()
	r.warn(tolerated...)
	if len(errs) > 0 {
		return status.Invalid(r.groupKind(), object.String(meta, "name"), errs)
	}
	switch {
	case mode == writeObject && t.Warn != nil:
		r.warn(t.Warn(obj, old)...)
	case mode == writeStatus && t.WarnStatus != nil:
		r.warn(t.WarnStatus(obj, old)...)
	}
	if r.isScale() && r.configured() != nil {
		obj, old = r.scaleOf(obj), r.scaleOf(old)
	}
	return r.validate(obj, old, o)
}

// now is the time as metadata has it.
func (r *request) now() string { return timestamp(r.server.clock.Now()) }

// insert stores a new object and returns it as stored. A dry run returns it
// without a version.
func (r *request) insert(obj map[string]any, dryRun bool) (*storage.Object, error) {
	completed := r.typ.Complete != nil && r.typ.Complete(obj)
	draft, err := storage.Draft(r.ctx(), r.typ, obj)
	if err != nil {
		return nil, err
	}
	draft.Completed = completed
	key := r.typ.Key(draft.Namespace, draft.Name)
	exists := func(o *storage.Object) error {
		st := status.AlreadyExists(r.groupResource(), draft.Name)
		if object.String(obj, "metadata", "generateName") != "" {
			st.Message += ", the server was not able to generate a unique name for the object"
			st.Details.RetryAfterSeconds = 1
		}
		if o.Terminating {
			st.Message = "object is being deleted: " + st.Message
		}
		return st
	}
	if dryRun {
		if o := r.server.store.Newest(key); o != nil {
			return nil, exists(o)
		}
		return draft, nil
	}
	var stored *storage.Object
	effects := r.server.allocator.SideEffects(r.typ, nil, draft)
	err = r.commit(func(tx *mvcc.Txn[*storage.Object]) error {
		if item, ok := tx.Get(key); ok {
			return exists(item.Value)
		}
		stored = draft.At(tx.Revision())
		tx.Put(key, stored)
		effects.Apply(tx)
		r.wrote = &version{stored, obj}
		return nil
	})
	return stored, err
}

// redraft is replace for an obj that is in the request's version.
func (r *request) redraft(old *storage.Object, obj map[string]any, dryRun bool) (*storage.Object, error) {
	draft, err := storage.Draft(r.ctx(), r.typ, obj)
	if err != nil {
		return nil, err
	}
	return r.replace(old, draft, dryRun)
}

// replace stores draft in place of old and returns it as stored; old itself if
// nothing changes. It fails with errLost if old is not the newest any more.
func (r *request) replace(old, draft *storage.Object, dryRun bool) (*storage.Object, error) {
	return r.replaceIn(r.typ, old, draft, dryRun)
}

// replaceIn is replace for objects of a type that need not be the request's.
func (r *request) replaceIn(t *resource.Type, old, draft *storage.Object, dryRun bool) (*storage.Object, error) {
	if draft.Same(old) && !old.Completed {
		return old, nil
	}
	if dryRun {
		return draft.At(old.Revision), nil
	}
	var stored *storage.Object
	effects := r.server.allocator.SideEffects(t, old, draft)
	err := r.commit(func(tx *mvcc.Txn[*storage.Object]) error {
		key := t.Key(old.Namespace, old.Name)
		if item, ok := tx.Get(key); !ok || item.Value != old {
			return errLost
		}
		stored = draft.At(tx.Revision())
		tx.Put(key, stored)
		effects.Apply(tx)
		return nil
	})
	return stored, err
}

// remove deletes an object and returns it with the version of its deletion. It
// fails with errLost if old is not the newest any more.
func (r *request) remove(old *storage.Object, dryRun bool) (*storage.Object, error) {
	if dryRun {
		return old, nil
	}
	rev, key := mvcc.Revision(0), r.typ.Key(old.Namespace, old.Name)
	effects := r.server.allocator.SideEffects(r.typ, old, nil)
	err := r.commit(func(tx *mvcc.Txn[*storage.Object]) error {
		if item, ok := tx.Get(key); !ok || item.Value != old {
			return errLost
		}
		tx.Delete(key)
		effects.Apply(tx)
		rev = tx.Revision()
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.server.keepUp(key)
	return old.At(rev), nil
}

// commit runs one transaction and remembers whose it was.
func (r *request) commit(fn func(tx *mvcc.Txn[*storage.Object]) error) error {
	rev, err := r.server.store.Update(func(tx *mvcc.Txn[*storage.Object]) error {
		if err := fn(tx); err != nil {
			return err
		}
		r.server.journal.RecordTransaction(tx, r.writer())
		if !r.typ.Virtual() && r.typ.Expires {
			r.server.lease(r.typ, tx)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.revision = rev
	if r.typ.Group == admission.Group {
		r.server.configure()
	}
	if t := r.typ; !r.settles && !t.Virtual() && (t.Defines || t.Uncreatable != "") {
		r.server.settle(r.wrote)
	}
	return nil
}

// A version is one state of an object: as the request's type shows it, and
// decoded.
type version struct {
	stored *storage.Object
	object map[string]any
}

// A successor makes what takes the place of the present object, or of what the
// request's path shows of it, with its managed fields. The present one is nil
// if there is none, and not to be changed. It is called anew for each attempt.
type successor func(old *version) (map[string]any, error)

// change is the path of every write to an existing object, and of a PUT or an
// apply that may create it: read, change, prepare, validate, commit; again from
// the start if another write came between.
//
// uid, if not "", is that of the only object it may change.
func (r *request) change(mode writeMode, o *writeOptions, uid string, next successor) error {
	if err := checkStorable(r.Name); err != nil {
		return err
	}
	for {
		old := r.server.store.Newest(r.key())
		if old == nil {
			return r.createByChange(mode, o, next)
		}
		if uid != "" && uid != old.UID {
			return preconditionFailed(r.groupResource(), r.Name, r.typ.EtcdKey(r.namespaceOfObject(), r.Name, o.dryRun()), "UID", uid, old.UID)
		}
		stored, err := r.changeOnce(mode, o, old, next)
		if err == nil {
			return r.answer(http.StatusOK, stored)
		}
		if !errors.Is(err, errLost) {
			return err
		}
	}
}

func (r *request) changeOnce(mode writeMode, o *writeOptions, old *storage.Object, next successor) (*storage.Object, error) {
	shown, err := old.In(r.ctx(), r.typ)
	if err != nil {
		return nil, err
	}
	changed, err := r.changeFrom(mode, o, old, &version{shown, shown.Decode(r.typ)}, next)
	if err != nil {
		return nil, err
	}
	return changed.stored, nil
}

// changeFrom is changeOnce for an old object that is decoded already.
func (r *request) changeFrom(mode writeMode, o *writeOptions, old *storage.Object, present *version, next successor) (*version, error) {
	defer r.release()
	was := present.object
	body, err := next(present)
	if err != nil {
		return nil, err
	}
	if err := r.admitNamespace(r.Name, false); err != nil {
		return nil, err
	}
	if err := r.mutate(body, r.shown(present), o); err != nil {
		return nil, err
	}
	obj, err := r.placed(body, present)
	if err != nil {
		return nil, err
	}
	if err := r.checkEscalation(obj, was); err != nil {
		return nil, err
	}
	if err := r.checkVersion(object.Meta(obj), old); err != nil {
		return nil, err
	}
	if err := r.prepareChange(mode, obj, was, o); err != nil {
		return nil, err
	}
	obj = r.surface.ownershipOf(r.typ).objects.IgnoreTimestamps(was, obj)
	draft, err := storage.Draft(r.ctx(), r.typ, obj)
	if err != nil {
		return nil, err
	}
	if r.finished(obj, was) {
		if _, err := r.remove(old, o.dryRun()); err != nil {
			return nil, err
		}
		return &version{draft.At(old.Revision), obj}, nil
	}
	stored, err := r.replace(old, draft, o.dryRun())
	if err != nil {
		return nil, err
	}
	return &version{stored, obj}, nil
}

// checkVersion compares the version that a write was made from with the stored
// one. A write from no version is taken for one from the stored one, where the
// type allows it.
func (r *request) checkVersion(meta map[string]any, old *storage.Object) error {
	text := object.String(meta, "resourceVersion")
	rev, err := storage.ParseVersion(text)
	switch {
	case err != nil:
		return status.Unclassified(err.Error())
	case rev == uint64(old.Revision):
	case rev == 0 && r.typ.UnconditionalUpdate:
		meta["resourceVersion"] = storage.FormatVersion(old.Revision)
	case rev == 0:
		return status.Invalid(status.GroupKind{Group: r.Group, Kind: r.Resource}, r.Name, validation.List{
			validation.Invalid(metadataPath.Child("resourceVersion"), int64(0), "must be specified for an update"),
		})
	default:
		return status.Conflict(r.groupResource(), r.Name, "the object has been modified; please apply your changes to the latest version and try again")
	}
	return nil
}

// finished reports whether the change takes away the last thing that held an
// object whose deletion has begun.
func (r *request) finished(obj, old map[string]any) bool {
	if len(object.List(obj, "metadata", "finalizers")) > 0 || object.Value(old, "metadata", "deletionTimestamp") == nil {
		return false
	}
	if grace, _ := object.Int(old, "metadata", "deletionGracePeriodSeconds"); grace != 0 {
		return false
	}
	return r.typ.Deletable == nil || r.typ.Deletable(obj)
}

// createByChange creates the object that a change did not find, where the type
// allows it.
func (r *request) createByChange(mode writeMode, o *writeOptions, next successor) error {
	defer r.release()
	if mode != writeObject || !r.typ.CreateOnUpdate && !o.creates {
		return status.NotFound(r.groupResource(), r.Name)
	}
	obj, err := next(nil)
	if err != nil {
		return err
	}
	if err := r.admitNamespace(r.Name, true); err != nil {
		return err
	}
	if err := r.mutate(obj, nil, o); err != nil {
		return err
	}
	if err := r.checkEscalation(obj, nil); err != nil {
		return err
	}
	if err := r.prepareNew(obj, o); err != nil {
		return err
	}
	at := r.attributes()
	at.Verb = "create"
	if err := r.check(at); err != nil {
		return err
	}
	stored, err := r.insert(obj, o.dryRun())
	if err != nil {
		return err
	}
	return r.answer(http.StatusCreated, stored)
}
