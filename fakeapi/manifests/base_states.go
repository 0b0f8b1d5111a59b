package manifests

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
)

// eachBroken yields the files and documents of the base that cannot be read.
func (b *base) eachBroken(yield func(*Result) bool) error {
	if b == nil {
		return nil
	}
	for _, r := range b.broken {
		if !yield(r) {
			return errStopped
		}
	}
	return nil
}

// compare sets what becomes of an object of the input in the base.
func (v *validator) compare(ctx context.Context, o *object, r *found, replies []*reply) {
	b := v.base.find(o, r)
	for i, t := range v.targets {
		a := &r.Answers[i]
		a.State, a.Changes = t.stateOf(ctx, o, replies[i], b != nil)
		r.setState(a.State)
		if a.State != Refused && b != nil {
			t.checkRatcheting(ctx, o, r)
		}
	}
	if b == nil {
		return
	}
	before := b.refusal()
	if before != nil && before.missing {
		return
	}
	switch {
	case before != nil:
		r.addNote("Base", "the object of the base is refused, so that a cluster does not have it: "+before.Message)
	case r.State == Refused && bytes.Equal(o.body, b.body):
		r.addNote("Base", "the object is that of the base: the rest of the input or the state makes the server refuse it")
	}
}

// find returns the object of the base that an object of the input updates, nil if there is none.
func (b *base) find(o *object, r *found) *baseObject {
	if r.key == (objectKey{}) { // no server has the kind, nor knows whether it has namespaces
		for _, namespace := range []string{o.namespace, "default"} {
			if key := (objectKey{o.group(), o.kind, namespace, o.name}); b.byKey[key] != nil {
				r.key = key
			}
		}
	}
	return b.byKey[r.key]
}

// setState sets the state of a result to that of an answer, unless that of another one comes first.
func (r *Result) setState(s State) {
	if r.State == "" || s != "" && slices.Index(states, s) < slices.Index(states, r.State) {
		r.State = s
	}
}

// addNote adds a note for all releases.
func (r *Result) addNote(reason, message string) {
	r.Findings = append(r.Findings, Finding{Severity: Note, Reason: reason, Message: message})
}

// stateOf returns what becomes of an object in the base, and what changes. inBase says that a
// document of the base has the object.
func (t *target) stateOf(ctx context.Context, o *object, r *reply, inBase bool) (State, []Change) {
	switch {
	case r.missing:
		return "", nil
	case r.Code >= 300:
		return Refused, nil
	case r.path == "" || !inBase && t.isAssumed(o):
		return Created, nil
	}
	before := get(ctx, t.base.srv, r.path)
	if before == nil && inBase { // the base does not serve the version
		before = get(ctx, t.srv, r.path)
	}
	if before == nil {
		return Created, nil
	}
	changes := Diff(before, decodeObject(r.text))
	if len(changes) == 0 {
		return Unchanged, nil
	}
	if o.group() == "" && o.kind == "Secret" {
		hideSecrets(changes)
	}
	return Changed, changes
}

// isAssumed reports whether an object is a Namespace that exists because others are in it.
func (t *target) isAssumed(o *object) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return o.group() == "" && o.kind == "Namespace" && t.assumed[o.name]
}

// yieldRest yields the objects of the base that the input does not have. Nothing is deleted if the
// input is incomplete: a file that cannot be read may have the object.
func (v *validator) yieldRest(ctx context.Context, seen map[objectKey]*Result, incomplete bool, yield func(*Result) bool) error {
	v.base.inInput = map[objectKey]bool{}
	for key := range seen {
		v.base.inInput[key] = true
	}
	prune := v.config.Prune != "" && !incomplete
	for _, b := range v.base.objects {
		if b.matches(v.config.Skip) || b.matches(v.config.Reject) {
			continue
		}
		r, err := v.rest(ctx, b, prune)
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		if r != nil && !yield(r) {
			return errStopped
		}
	}
	return nil
}

// rest returns the result of an object of the base that the input does not have. It is nil for one
// that the input has, that a later document of the base has too, or that no server stores.
func (v *validator) rest(ctx context.Context, b *baseObject, prune bool) (*Result, error) {
	r := &found{Result: v.base.result(b.result())}
	r.Outcome = Valid
	for i, t := range v.targets {
		stored := b.replies[i]
		if stored.missing || stored.Code >= 300 || v.base.inInput[stored.key] || v.base.byKey[stored.key] != b {
			continue
		}
		r.key, r.Namespace = stored.key, stored.key.namespace
		a := Answer{Release: stored.Release}
		if !prune {
			t.keep(ctx, b, r, &a)
		} else if err := v.prune(ctx, i, b, r, &a); err != nil {
			return nil, err
		}
		r.setState(a.State)
		r.Answers = append(r.Answers, a)
	}
	if r.State == "" {
		return nil, nil
	}
	if r.State == Refused {
		r.Outcome = Invalid
	}
	r.shortenReleases(len(v.targets))
	r.locate(&locator{document: b.document})
	return r.Result, nil
}

// keep updates an object of the base without a change: the server may no longer accept it.
func (t *target) keep(ctx context.Context, b *baseObject, r *found, a *Answer) {
	reply := t.touch(ctx, b.object, r.key.namespace)
	a.set(reply)
	a.State = Kept
	switch {
	case !reply.missing && reply.Code < 300:
		t.checkRatcheting(ctx, b.object, r)
		return
	case !reply.missing && t.base.touch(ctx, b.object, r.key.namespace).Code >= 300:
		return // the base does not accept it either
	}
	a.State = Refused
	findings := reply.errors()
	if reply.missing {
		findings = []Finding{{Severity: Error, Reason: "MissingKind", Field: "kind", Message: reply.Message}}
	}
	for _, f := range findings {
		f.Message = "no longer valid: " + f.Message
		r.add(f, a.Release)
	}
}

// touch is a dry run of an update that does not change an object.
func (t *target) touch(ctx context.Context, o *object, namespace string) *reply {
	res, err := t.lookup(ctx, o.apiVersion, o.kind)
	if err != nil {
		return t.missingKind(err)
	}
	return t.replyOf(t.send(ctx, &request{
		method: http.MethodPatch, path: objectPath(o, res, namespace), query: url.Values{"dryRun": {"All"}},
		contentType: "application/merge-patch+json", body: []byte("{}"),
	}))
}

// set sets what a reply answers.
func (a *Answer) set(r *reply) {
	a.Code, a.Reason, a.Message, a.Warnings = r.Code, r.Reason, r.Message, r.Warnings
}
