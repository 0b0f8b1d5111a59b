package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/mvcc"
)

// The finalizers by which an API server asks the garbage collector to handle
// dependents first.
const (
	finalizerOrphan     = "orphan"
	finalizerForeground = "foregroundDeletion"
)

// DeleteOptions are the options of a deletion.
type DeleteOptions struct {
	validation.DeleteOptions
	GracePeriodSeconds *int64

	// UID and Version are preconditions: the deletion fails unless the object has
	// them. nil is no precondition.
	UID, Version *string

	hasPreconditions bool // perhaps none of them

	// IgnoreStoreReadError deletes an object that cannot be read, and no other one.
	IgnoreStoreReadError bool

	// admitted leaves out webhooks and policies, which have admitted the eviction
	// that the deletion is part of.
	admitted bool
}

// Validate returns the errors of the options.
func (o *DeleteOptions) Validate() validation.List {
	list := o.DeleteOptions.Validate()
	if !o.IgnoreStoreReadError {
		return list
	}
	for _, other := range []struct {
		name  string
		given bool
	}{
		{"propagationPolicy", o.PropagationPolicy != nil},
		{"orphanDependents", o.OrphanDependents != nil},
		{"gracePeriodSeconds", o.GracePeriodSeconds != nil},
		{"preconditions", o.hasPreconditions || o.UID != nil || o.Version != nil},
	} {
		if other.given {
			list = append(list, validation.Invalid(ignoreStoreReadErrorPath, true, "cannot be set together with ."+other.name).WithGate(unsafeDeletionGate, nil))
		}
	}
	return list
}

// ValidateForCollection returns the errors of valid options of a deletecollection.
func (o *DeleteOptions) ValidateForCollection() validation.List {
	if !o.IgnoreStoreReadError {
		return nil
	}
	return validation.List{validation.Invalid(ignoreStoreReadErrorPath, true, "is not allowed with DELETECOLLECTION, try again after removing the option").WithGate(unsafeDeletionGate, nil)}
}

func (o *DeleteOptions) dryRun() bool { return slices.Contains(o.DryRun, "All") }

// object returns the options as admission sees them.
func (o *DeleteOptions) object() map[string]any {
	obj := map[string]any{"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
	if o.GracePeriodSeconds != nil {
		obj["gracePeriodSeconds"] = *o.GracePeriodSeconds
	}
	if o.OrphanDependents != nil {
		obj["orphanDependents"] = *o.OrphanDependents
	}
	if o.PropagationPolicy != nil {
		obj["propagationPolicy"] = *o.PropagationPolicy
	}
	if len(o.DryRun) > 0 {
		obj["dryRun"] = object.FromStrings(o.DryRun)
	}
	if o.hasPreconditions {
		obj["preconditions"] = map[string]any{}
	}
	for name, v := range map[string]*string{"uid": o.UID, "resourceVersion": o.Version} {
		if v != nil {
			object.Set(obj, *v, "preconditions", name)
		}
	}
	return obj
}

// ParseDeleteOptions reads DeleteOptions in generic form. It does not validate
// them.
func ParseDeleteOptions(obj map[string]any) *DeleteOptions {
	o := &DeleteOptions{UID: stringAt(obj, "preconditions", "uid"), Version: stringAt(obj, "preconditions", "resourceVersion")}
	if n, ok := object.Int(obj, "gracePeriodSeconds"); ok {
		o.GracePeriodSeconds = &n
	}
	if b, ok := obj["orphanDependents"].(bool); ok {
		o.OrphanDependents = &b
	}
	o.PropagationPolicy = stringAt(obj, "propagationPolicy")
	_, o.hasPreconditions = obj["preconditions"].(map[string]any)
	o.DryRun = object.Strings(obj, "dryRun")
	o.IgnoreStoreReadError = object.Bool(obj, "ignoreStoreReadErrorWithClusterBreakingPotential")
	return o
}

// stringAt returns the string at a path, nil if there is none.
func stringAt(obj map[string]any, path ...string) *string {
	if s, ok := object.Value(obj, path...).(string); ok {
		return &s
	}
	return nil
}

// Delete removes an object, or begins its deletion. The result of removing one that cannot be read has
// no object.
//
// See https://kubernetes.io/docs/concepts/architecture/garbage-collection/.
func (g *Registry) Delete(ctx context.Context, r Request, o *DeleteOptions) (Result, error) {
	op := g.operation(ctx, "delete", r)
	if op.ignoresReadErrors(o) {
		return op.result(nil, op.deleteUnread(op.key(), o))
	}
	op.warnOrphaned(o)
	if err := resource.CheckName(op.Name); err != nil {
		return Result{}, err
	}
	if op.Type.Undeletable != nil {
		if why := op.Type.Undeletable(op.Name); why != "" {
			return Result{}, status.Forbidden(op.groupResource(), op.Name, why)
		}
	}
	out, gone, err := op.deleteObject(op.key(), o)
	result, err := op.result(out, err)
	result.Deleted = gone
	return result, err
}

// deletePage is how many objects DeleteCollection lists at once.
const deletePage = 10_000

// DeleteCollection deletes the objects that a list of the same query returns, and
// returns that list and the revision of the last deletion, 0 if there was none.
// Without a limit it lists and deletes in pages and returns all items, with the metadata of
// the first page.
func (g *Registry) DeleteCollection(ctx context.Context, r Request, q storage.Query, o *DeleteOptions) (*storage.Page, mvcc.Revision, error) {
	op := g.operation(ctx, "deletecollection", r)
	op.warnOrphaned(o)
	limited := q.Limit > 0
	if q.Limit == 0 {
		q.Limit = deletePage
	}
	var first *storage.Page
	var items []*storage.Object
	for {
		page, err := g.List(ctx, r.Type, q)
		if err != nil {
			return nil, op.revision, err
		}
		if err := op.deleteItems(page, o); err != nil {
			return nil, op.revision, err
		}
		if first == nil && (limited || page.Continue == "") {
			return page, op.revision, nil
		}
		if first == nil {
			first = page
		}
		items = slices.AppendSeq(items, page.Items)
		if page.Continue == "" {
			first.Items = slices.Values(items)
			return first, op.revision, nil
		}
		q.Continue, q.Version, q.Match = page.Continue, "", storage.MatchUnset
	}
}

// deleteItems deletes the objects of a page, except for those that are gone.
func (op *operation) deleteItems(page *storage.Page, o *DeleteOptions) error {
	for obj := range page.Items {
		_, _, err := op.deleteObject(op.Type.Key(obj.Namespace, obj.Name), o)
		var st *status.Status
		if errors.As(err, &st) && st.Reason == status.ReasonNotFound {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// warnOrphaned warns of the dependents that a deletion without a propagation policy
// leaves.
func (op *operation) warnOrphaned(o *DeleteOptions) {
	if w := op.Type.OrphanWarning; w != "" && o.PropagationPolicy == nil && o.OrphanDependents == nil {
		op.warn(w)
	}
}

// deleteObject deletes the object at a key. It returns the object in its last
// form, and whether it is gone or waits for its finalizers or its grace period.
func (op *operation) deleteObject(key string, o *DeleteOptions) (out *storage.Object, gone bool, err error) {
	for {
		old := op.store.Newest(key)
		if old == nil {
			return nil, false, status.NotFound(op.groupResource(), op.Name)
		}
		out, gone, err = op.deleteOnce(old, o)
		if !errors.Is(err, ErrConflict) {
			return out, gone, err
		}
	}
}

// deleteOnce deletes an object as deleteObject does, unless another write comes first: it
// fails with ErrConflict then.
func (op *operation) deleteOnce(old *storage.Object, o *DeleteOptions) (out *storage.Object, gone bool, err error) {
	t := op.Type
	if err := op.api().Plugins.CheckDelete(op.groupResource(), old.Name); err != nil {
		return nil, false, err
	}
	shown, err := old.ConvertAnew(op.ctx, t)
	if err != nil {
		return nil, false, err
	}
	if err := op.checkPreconditions(old, o); err != nil {
		return nil, false, err
	}
	if !o.dryRun() { // kube-apiserver encodes the object of its watch cache
		if err := shown.CheckEncodes(op.ctx, t); err != nil {
			return nil, false, err
		}
	}
	present := op.decoded(shown)
	obj := present.Object().Edit().Map()
	meta := object.Meta(obj)
	if t.MarkTerminating != nil {
		if !old.Terminating {
			out, err := op.markTerminating(old, present, obj, o)
			return out, false, err
		}
		if t.ReadyToDelete != nil && !t.ReadyToDelete(obj) {
			return old, false, nil
		}
	}
	graceful, pending := op.beginGrace(obj, o)
	if pending {
		return old, false, nil
	}
	timed := *o
	if seconds, ok := object.Int(meta, "deletionGracePeriodSeconds"); ok && graceful && op.verb != "deletecollection" {
		timed.GracePeriodSeconds = &seconds // admission gets the options of a collection as they are
	}
	if err := op.admitDelete(shown, &timed); err != nil {
		return nil, false, err
	}
	finalizers := op.dependentFinalizers(meta, o)
	if !graceful && len(finalizers) == 0 {
		out, err := op.remove(old, o.dryRun())
		return out, true, err
	}
	setFinalizers(meta, finalizers)
	if !graceful {
		op.markDeleting(meta)
	}
	if out, err = op.replaceObject(op.Type, old, obj, present, o.dryRun()); err != nil {
		return nil, false, err
	}
	if seconds, _ := object.Int(meta, "deletionGracePeriodSeconds"); len(finalizers) > 0 || seconds > 0 {
		return out, false, nil
	}
	out, err = op.removeAfterMark(out, &timed)
	return out, err == nil, err
}

// markTerminating begins the deletion of an object whose type has MarkTerminating. present is old in
// the request's version. obj, which is changed, has the same members and metadata of its own.
func (op *operation) markTerminating(old *storage.Object, present *storage.Decoded, obj map[string]any, o *DeleteOptions) (*storage.Object, error) {
	exact := *o
	if exact.UID == nil {
		exact.UID = &old.UID
	}
	if err := op.admitDelete(present.Stored, &exact); err != nil {
		return nil, err
	}
	meta := object.Meta(obj)
	meta["deletionTimestamp"] = op.now()
	if !op.Type.MarkIgnoresPropagation {
		setFinalizers(meta, op.dependentFinalizers(meta, o))
	}
	op.Type.MarkTerminating(obj)
	return op.replaceObject(op.Type, old, obj, present, o.dryRun())
}

// removeAfterMark removes an object that was marked as being deleted and waits for nothing.
// Admission counts the removal as another deletion. Clients see the marked object for the
// pace of the server, as the two writes of kube-apiserver are some milliseconds apart.
//
// Differs from kube-apiserver: webhooks for the deletion of a Pod: if the Pod is removed at once,
// kube-apiserver mostly calls them once more in between, for the Pod of its watch cache, which has not seen
// the mark yet. Request: DELETE of a Pod without a node, with a webhook for it.
func (op *operation) removeAfterMark(marked *storage.Object, o *DeleteOptions) (*storage.Object, error) {
	if o.dryRun() {
		return marked, nil
	}
	op.pause()
	if err := op.admitDelete(marked, o); err != nil {
		return nil, err
	}
	return op.remove(marked, false)
}

// pause waits between two writes of one request.
func (op *operation) pause() {
	if op.pace > 0 {
		op.wait(op.pace)
	}
}

// wait waits for d and returns true, or false before when the request or the server ends. It does
// not wait on a manual clock, which may be moved only after the answer.
func (op *operation) wait(d time.Duration) bool {
	if op.clock.Manual() {
		return false
	}
	timer := op.clock.After(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-op.ctx.Done():
	case <-op.lifetime.Done():
	}
	return false
}

// checkPreconditions fails if a deletion was meant for another object, or for
// another version of it.
func (op *operation) checkPreconditions(old *storage.Object, o *DeleteOptions) error {
	for _, p := range []struct {
		what string
		want *string
		is   string
		fate string // of the object that was meant
	}{
		{"UID", o.UID, old.UID, "deleted and then recreated"},
		{"ResourceVersion", o.Version, storage.FormatVersion(old.Revision), "modified"},
	} {
		switch {
		case p.want == nil || *p.want == p.is:
		case op.Type.MarkTerminating != nil: // kube-apiserver looks before it marks the object
			return status.Conflict(op.groupResource(), old.Name, status.PreconditionText(p.what, *p.want, p.is))
		default: // kube-apiserver puts the kind in the place of the resource
			return status.Conflict(status.GroupResource{Group: op.Type.Group, Resource: op.Type.Kind}, old.Name,
				fmt.Sprintf("the %s in the precondition (%s) does not match the %s in record (%s). The object might have been %s", p.what, *p.want, p.what, p.is, p.fate))
		}
	}
	return nil
}

// beginGrace starts the grace period of obj, or shortens one that is running.
// pending reports that one is running and is not shortened.
func (op *operation) beginGrace(obj map[string]any, o *DeleteOptions) (graceful, pending bool) {
	if op.Type.CheckGracefulDelete == nil {
		return false, false
	}
	requested := o.GracePeriodSeconds
	if requested != nil && *requested < 0 {
		one := int64(1)
		requested = &one
	}
	meta := object.Meta(obj)
	now := op.clock.Now()
	if meta["deletionTimestamp"] != nil {
		running, _ := object.Int(meta, "deletionGracePeriodSeconds")
		switch {
		case running == 0:
			return false, false
		case requested == nil || *requested >= running:
			return false, true
		}
		began, err := time.Parse(time.RFC3339, object.String(meta, "deletionTimestamp"))
		if err != nil {
			began = now
		}
		seconds := *requested
		end := began.Add(time.Duration(seconds-running) * time.Second)
		if end.Before(now) {
			end = now
			if seconds != 0 {
				seconds = 1
			}
		}
		meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"] = clock.Timestamp(end), seconds
		return true, false
	}
	seconds, graceful := op.Type.CheckGracefulDelete(obj, requested)
	if !graceful {
		return false, false
	}
	raiseGeneration(meta)
	meta["deletionTimestamp"] = clock.Timestamp(now.Add(time.Duration(seconds) * time.Second))
	meta["deletionGracePeriodSeconds"] = seconds
	return true, false
}

// markDeleting marks an object that waits for nothing but its finalizers.
func (op *operation) markDeleting(meta map[string]any) {
	now := op.now()
	if was := object.String(meta, "deletionTimestamp"); was == "" {
		raiseGeneration(meta)
		meta["deletionTimestamp"] = now
	} else if was > now {
		meta["deletionTimestamp"] = now
	}
	meta["deletionGracePeriodSeconds"] = int64(0)
}

// raiseGeneration raises metadata.generation, if the object has one, when its
// deletion begins.
func raiseGeneration(meta map[string]any) {
	if n, _ := object.Int(meta, "generation"); n > 0 {
		meta["generation"] = n + 1
	}
}

// dependentFinalizers returns the finalizers of an object with those that ask the
// garbage collector to handle its dependents: as the options say, else as the
// object's finalizers already say, else as its type does.
func (op *operation) dependentFinalizers(meta map[string]any, o *DeleteOptions) []string {
	held := object.Strings(meta, "finalizers")
	if op.Type.DefaultGarbageCollectionPolicy == resource.GarbageCollectionUnsupported {
		return held
	}
	policy := ""
	switch {
	case o.OrphanDependents != nil && *o.OrphanDependents:
		policy = finalizerOrphan
	case o.OrphanDependents != nil:
	case o.PropagationPolicy != nil && *o.PropagationPolicy == "Orphan":
		policy = finalizerOrphan
	case o.PropagationPolicy != nil && *o.PropagationPolicy == "Foreground":
		policy = finalizerForeground
	case o.PropagationPolicy != nil:
	default:
		i := slices.IndexFunc(held, func(f string) bool { return f == finalizerOrphan || f == finalizerForeground })
		if i >= 0 {
			policy = held[i]
		} else if op.Type.DefaultGarbageCollectionPolicy == resource.OrphanDependents {
			policy = finalizerOrphan
		}
	}
	var out []string
	for _, f := range held {
		if f != finalizerOrphan && f != finalizerForeground {
			out = append(out, f)
		}
	}
	if policy != "" {
		out = append(out, policy)
	}
	if sameSet(out, held) {
		return held
	}
	return out
}

func sameSet(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

func setFinalizers(meta map[string]any, finalizers []string) {
	if len(finalizers) == 0 {
		delete(meta, "finalizers")
		return
	}
	list := make([]any, len(finalizers))
	for i, f := range finalizers {
		list[i] = f
	}
	meta["finalizers"] = list
}
