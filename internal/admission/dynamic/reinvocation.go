package dynamic

import "github.com/kubefake/kubefake/internal/object"

// A reinvocation tracks which webhooks, or which policies, must run in a second
// round: those that ran in the first one before the object changed, and ask for
// it. Its keys identify them.
type reinvocation struct {
	isSecond bool // this is the second round
	isNeeded bool // there must be a second round
	invoked  map[any]bool
	due      map[any]bool
	last     map[string]any // the object at the end of the last round
}

// begin starts a round. In the second round all are due if the object changed
// after the first one.
func (r *reinvocation) begin(obj map[string]any) {
	if r.isSecond && !object.Equal(obj, r.last) {
		r.setDue()
	}
}

// isDue reports whether the key runs in this round.
func (r *reinvocation) isDue(key any) bool { return !r.isSecond || r.due[key] }

// changed records that the object changed.
func (r *reinvocation) changed() {
	r.setDue()
	r.isNeeded = true
}

func (r *reinvocation) setDue() {
	for key := range r.invoked {
		if r.due == nil {
			r.due = map[any]bool{}
		}
		r.due[key] = true
	}
	r.invoked = nil
}

// add records that the key ran and asks for reinvocation.
func (r *reinvocation) add(key any) {
	if r.invoked == nil {
		r.invoked = map[any]bool{}
	}
	r.invoked[key] = true
}
