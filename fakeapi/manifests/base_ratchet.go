package manifests

import "context"

// freshTarget returns the target whose server has what takes effect on others, and from which objects are
// removed before they are written as new ones.
func (t *target) freshTarget() (*target, error) {
	t.freshOnce.Do(func() {
		srv, err := t.srv.NewFork()
		if err != nil {
			t.freshErr = err
			return
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.fresh = t.of(srv)
	})
	return t.fresh, t.freshErr
}

// checkRatcheting adds a warning to an object of a definition that the input changes, if the
// definition refuses it as a new object: the server accepts it because its invalid fields do not
// change.
func (t *target) checkRatcheting(ctx context.Context, o *object, r *found) {
	if !t.redefined[[2]string{o.group(), o.kind}] || r.key == (objectKey{}) {
		return
	}
	fresh, err := t.freshTarget()
	if err != nil {
		return // the next fork fails too
	}
	res, err := fresh.lookup(ctx, o.apiVersion, o.kind)
	if err != nil {
		return // the server does not accept it either
	}
	if err := fresh.srv.Remove(res.Resource+"."+r.key.group, r.key.namespace, r.key.name); err != nil {
		return // it is a new one
	}
	reply := fresh.write(ctx, o.withoutServerFields(), write{dryRun: true, validation: "Ignore"})
	if reply.Code < 300 {
		return
	}
	for _, f := range reply.errors() {
		f.Severity, f.Reason = Warning, "Ratcheting"
		f.Message = "accepted only because it does not change: " + f.Message
		r.add(f, reply.Release)
	}
}
