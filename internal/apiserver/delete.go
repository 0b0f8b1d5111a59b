package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// The finalizers by which an API server asks the garbage collector to deal with
// dependents first.
const (
	finalizerOrphan     = "orphan"
	finalizerForeground = "foregroundDeletion"
)

// deleteOptions are the DeleteOptions of a request, from its body or its query.
type deleteOptions struct {
	validation.DeleteOptions
	gracePeriodSeconds *int64
	uid, version       *string // preconditions
	admitted           bool    // with what the deletion is part of
}

func (o *deleteOptions) dryRun() bool { return slices.Contains(o.DryRun, "All") }

// deleteOptions reads and checks the DeleteOptions: of the body if there is
// one, else of the query.
func (r *request) deleteOptions() (*deleteOptions, error) {
	body, err := r.readBody()
	if err != nil {
		return nil, err
	}
	o := &deleteOptions{}
	if len(body) > 0 {
		format, err := codec.Offer{CBOR: r.offer().CBOR}.Body(r.http.Header.Get("Content-Type"))
		if err != nil {
			return nil, err
		}
		obj, err := r.decodeDeleteOptions(format, body)
		if err != nil {
			return nil, err
		}
		o.fromBody(obj)
	} else if err := o.fromQuery(r); err != nil {
		return nil, err
	}
	if errs := o.Validate(); len(errs) > 0 {
		return nil, invalidOptions("DeleteOptions", errs)
	}
	return o, nil
}

// object is the options as admission sees them.
func (o *deleteOptions) object() map[string]any {
	obj := map[string]any{"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
	if o.gracePeriodSeconds != nil {
		obj["gracePeriodSeconds"] = *o.gracePeriodSeconds
	}
	if o.OrphanDependents != nil {
		obj["orphanDependents"] = *o.OrphanDependents
	}
	if o.PropagationPolicy != nil {
		obj["propagationPolicy"] = *o.PropagationPolicy
	}
	if len(o.DryRun) > 0 {
		obj["dryRun"] = object.Texts(o.DryRun)
	}
	for name, v := range map[string]*string{"uid": o.uid, "resourceVersion": o.version} {
		if v != nil {
			object.Set(obj, *v, "preconditions", name)
		}
	}
	return obj
}

func (o *deleteOptions) fromBody(obj map[string]any) {
	if n, ok := object.Int(obj, "gracePeriodSeconds"); ok {
		o.gracePeriodSeconds = &n
	}
	if b, ok := obj["orphanDependents"].(bool); ok {
		o.OrphanDependents = &b
	}
	o.PropagationPolicy = stringOf(obj["propagationPolicy"])
	o.DryRun = object.Strings(obj, "dryRun")
	o.uid = stringOf(object.Value(obj, "preconditions", "uid"))
	o.version = stringOf(object.Value(obj, "preconditions", "resourceVersion"))
}

func stringOf(v any) *string {
	if s, ok := v.(string); ok {
		return &s
	}
	return nil
}

// fromQuery reads the parameters. Preconditions are inlined in DeleteOptions as
// the query sees them, so uid and resourceVersion are parameters too.
func (o *deleteOptions) fromQuery(r *request) (err error) {
	q := r.query()
	if o.gracePeriodSeconds, err = intOf(q, "gracePeriodSeconds"); err != nil {
		return err
	}
	o.OrphanDependents = boolOf(q, "orphanDependents")
	first := func(name string) *string {
		if values := q[name]; len(values) > 0 {
			return &values[0]
		}
		return nil
	}
	o.PropagationPolicy, o.uid, o.version = first("propagationPolicy"), first("uid"), first("resourceVersion")
	o.DryRun = q["dryRun"]
	return nil
}

// delete removes an object, or begins its deletion.
//
// See https://kubernetes.io/docs/concepts/architecture/garbage-collection/.
func (r *request) delete() error {
	o, err := r.deleteOptions()
	if err != nil {
		return err
	}
	if err := checkStorable(r.Name); err != nil {
		return err
	}
	out, gone, err := r.deleteObject(r.key(), o)
	if err != nil {
		return err
	}
	code := http.StatusOK
	if !gone && o.OrphanDependents != nil && !*o.OrphanDependents {
		code = http.StatusAccepted
	}
	if gone && !r.typ.AnswersDeleted {
		return r.answerStatus(code, status.Success(&status.Details{Name: out.Name, Group: r.Group, Kind: r.Resource, UID: out.UID}))
	}
	return r.answer(code, out)
}

// deleteObject deletes the object at a key. It returns the object in its last
// form, and whether it is gone; one that is not waits for its finalizers or its
// grace period.
func (r *request) deleteObject(key string, o *deleteOptions) (out *storage.Object, gone bool, err error) {
	for {
		old := r.server.store.Newest(key)
		if old == nil {
			return nil, false, status.NotFound(r.groupResource(), r.Name)
		}
		out, gone, err = r.deleteOnce(old, o)
		if !errors.Is(err, errLost) {
			return out, gone, err
		}
	}
}

func (r *request) deleteOnce(old *storage.Object, o *deleteOptions) (out *storage.Object, gone bool, err error) {
	t := r.typ
	if t.Undeletable != nil {
		if why := t.Undeletable(old.Name); why != "" {
			return nil, false, status.Forbidden(r.groupResource(), old.Name, why)
		}
	}
	if err := r.checkPreconditions(old, o); err != nil {
		return nil, false, err
	}
	shown, err := old.In(r.ctx(), t)
	if err != nil {
		return nil, false, err
	}
	obj := shown.Decode(t)
	meta := object.Meta(obj)
	if t.Terminate != nil {
		if !old.Terminating {
			exact := *o
			if exact.uid == nil {
				exact.uid = &old.UID
			}
			if err := r.admitDeletion(shown, &exact); err != nil {
				return nil, false, err
			}
			meta["deletionTimestamp"] = r.now()
			setFinalizers(meta, r.dependentFinalizers(meta, o))
			t.Terminate(obj)
			out, err := r.redraft(old, obj, o.dryRun())
			return out, false, err
		}
		if t.Deletable != nil && !t.Deletable(obj) {
			return old, false, nil
		}
	}
	graceful, pending := r.beginGrace(obj, o)
	if pending {
		return old, false, nil
	}
	timed := *o
	if seconds, ok := object.Int(meta, "deletionGracePeriodSeconds"); ok && graceful {
		timed.gracePeriodSeconds = &seconds
	}
	if err := r.admitDeletion(shown, &timed); err != nil {
		return nil, false, err
	}
	finalizers := r.dependentFinalizers(meta, o)
	if !graceful && len(finalizers) == 0 {
		out, err := r.remove(old, o.dryRun())
		return out, true, err
	}
	setFinalizers(meta, finalizers)
	if !graceful {
		r.markDeleting(meta)
	}
	if out, err = r.redraft(old, obj, o.dryRun()); err != nil {
		return nil, false, err
	}
	if seconds, _ := object.Int(meta, "deletionGracePeriodSeconds"); len(finalizers) > 0 || seconds > 0 {
		return out, false, nil
	}
	if o.dryRun() {
		return out, true, nil
	}
	if err := r.admitDeletion(out, &timed); err != nil { // the removal counts as another one
		return nil, false, err
	}
	out, err = r.remove(out, false)
	return out, true, err
}

// checkPreconditions refuses a deletion that was meant for another object, or
// for another version of it.
func (r *request) checkPreconditions(old *storage.Object, o *deleteOptions) error {
	kind := status.GroupResource{Group: r.Group, Resource: r.typ.Kind} // as kube-apiserver words it
	if o.uid != nil && *o.uid != old.UID {
		return status.Conflict(kind, old.Name, fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *o.uid, old.UID))
	}
	if version := storage.FormatVersion(old.Revision); o.version != nil && *o.version != version {
		return status.Conflict(kind, old.Name, fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *o.version, version))
	}
	return nil
}

// beginGrace starts the grace period of obj, or shortens one that is running.
// pending tells that one is running and stays as it is.
func (r *request) beginGrace(obj map[string]any, o *deleteOptions) (graceful, pending bool) {
	if r.typ.Grace == nil {
		return false, false
	}
	requested := o.gracePeriodSeconds
	if requested != nil && *requested < 0 {
		one := int64(1)
		requested = &one
	}
	meta := object.Meta(obj)
	now := r.server.clock.Now()
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
		meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"] = timestamp(end), seconds
		return true, false
	}
	seconds, graceful := r.typ.Grace(obj, requested)
	if !graceful {
		return false, false
	}
	r.raiseGeneration(meta)
	meta["deletionTimestamp"] = timestamp(now.Add(time.Duration(seconds) * time.Second))
	meta["deletionGracePeriodSeconds"] = seconds
	return true, false
}

// markDeleting marks an object that waits for its finalizers only.
func (r *request) markDeleting(meta map[string]any) {
	now := r.now()
	if was := object.String(meta, "deletionTimestamp"); was == "" {
		r.raiseGeneration(meta)
		meta["deletionTimestamp"] = now
	} else if was > now {
		meta["deletionTimestamp"] = now
	}
	meta["deletionGracePeriodSeconds"] = int64(0)
}

// raiseGeneration tells controllers that an object's deletion has begun.
func (r *request) raiseGeneration(meta map[string]any) {
	if n, _ := object.Int(meta, "generation"); n > 0 {
		meta["generation"] = n + 1
	}
}

// dependentFinalizers are the object's finalizers with those that ask the
// garbage collector to deal with dependents: as the options say, else as the
// object already says, else as its type does.
func (r *request) dependentFinalizers(meta map[string]any, o *deleteOptions) []string {
	held := object.Strings(meta, "finalizers")
	if r.typ.Dependents == resource.NoDependents {
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
		} else if r.typ.Dependents == resource.OrphanDependents {
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

// deleteCollection deletes the objects that a list of the same parameters would
// answer, and answers that list.
//
// Differs from kube-apiserver: that lists and deletes in pages of 10,000.
func (r *request) deleteCollection() error {
	list, err := r.listOptions()
	if err != nil {
		return err
	}
	o, err := r.deleteOptions()
	if err != nil {
		return err
	}
	shape, err := r.shape(true)
	if err != nil {
		return err
	}
	page, err := r.server.store.List(r.ctx(), r.typ, list.Query)
	if err != nil {
		return err
	}
	for obj := range page.Items {
		_, _, err := r.deleteObject(r.typ.Key(obj.Namespace, obj.Name), o)
		var st *status.Status
		if errors.As(err, &st) && st.Reason == status.ReasonNotFound {
			continue
		}
		if err != nil {
			return err
		}
	}
	return r.answerList(shape, page)
}
