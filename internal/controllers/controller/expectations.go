package controller

import "time"

// Expectations are the creations and deletions that a controller has made and that
// its informers have not shown yet. A controller that counts its dependents while
// such changes are under way would create or delete too many.
type Expectations struct {
	runtime *Runtime
	byKey   map[Key]*expectation
}

type expectation struct {
	creations int
	deletions map[string]bool // by the UID of the object
	at        time.Time
}

// expectationTimeout is how long a controller waits for what it expects: informers may
// have missed a change and its reversal.
const expectationTimeout = 5 * time.Minute

// Expectations returns empty expectations.
func (e *Env) Expectations() *Expectations {
	return &Expectations{runtime: e.Runtime, byKey: map[Key]*expectation{}}
}

// Satisfied reports whether the informers have shown what was expected for a key, or
// nothing is expected, or five minutes have passed.
func (x *Expectations) Satisfied(k Key) bool {
	e := x.byKey[k]
	return e == nil || e.creations <= 0 && len(e.deletions) == 0 || x.runtime.Now().Sub(e.at) > expectationTimeout
}

// ExpectCreations replaces what is expected for a key by n creations.
func (x *Expectations) ExpectCreations(k Key, n int) { x.Expect(k, n) }

// ExpectDeletions replaces what is expected for a key by the deletions of objects.
func (x *Expectations) ExpectDeletions(k Key, uids ...string) { x.Expect(k, 0, uids...) }

// Expect replaces what is expected for a key by n creations and the deletions of
// objects.
func (x *Expectations) Expect(k Key, n int, uids ...string) {
	e := &expectation{creations: n, deletions: map[string]bool{}, at: x.runtime.Now()}
	for _, uid := range uids {
		e.deletions[uid] = true
	}
	x.byKey[k] = e
}

// Created is called for each creation that an informer shows, and for each that has
// failed.
func (x *Expectations) Created(k Key) {
	if e := x.byKey[k]; e != nil {
		e.creations--
	}
}

// Deleted is called for each deletion that an informer shows, and for each that has
// failed.
func (x *Expectations) Deleted(k Key, uid string) {
	if e := x.byKey[k]; e != nil {
		delete(e.deletions, uid)
	}
}

// Forget is called when the object of a key is gone.
func (x *Expectations) Forget(k Key) { delete(x.byKey, k) }
