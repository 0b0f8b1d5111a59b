package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/cel"
)

// An Invariant is a property of the objects of a server. Always and CEL make it.
type Invariant struct {
	name       string
	check      func(s State) error
	expression bool  // check needs the objects before the changes
	err        error // the invariant cannot be checked
}

// A State is the objects of a server at one revision.
type State struct {
	// Revision is the revision.
	Revision int64

	run     *stateReader
	changes []change // of the revision
	in      string   // the cluster, "" for all
}

// In returns the state of one of several clusters.
func (s State) In(cluster string) State {
	s.in = cluster
	return s
}

// A stateReader has the objects at one revision of a run after the other.
type stateReader struct {
	before func(resource string) map[objectKey]fakeapi.Object // the objects from before the run
	live   map[string]map[objectKey]fakeapi.Object
}

// List returns the objects of a resource, such as "pods" or "deployments.apps", in the
// order of namespaces and names, of all clusters if there are several; see In. They must not be
// changed.
func (s State) List(resource string) []fakeapi.Object {
	objects := s.run.resource(resource)
	out := make([]fakeapi.Object, 0, len(objects))
	for _, key := range sortedKeys(objects, nil) {
		if s.in == "" || s.in == key.in {
			out = append(out, objects[key])
		}
	}
	return out
}

// resource returns the objects of a resource.
func (r *stateReader) resource(resource string) map[objectKey]fakeapi.Object {
	if r.live[resource] == nil {
		r.live[resource] = r.before(resource)
	}
	return r.live[resource]
}

// Always returns an invariant that f checks at every revision. name identifies it in
// reports. The error says what is wrong.
func Always(name string, f func(s State) error) Invariant { return Invariant{name: name, check: f} }

// CEL returns an invariant in the Common Expression Language, with the functions of
// Kubernetes. The expression must be true for each object of a resource when it is
// created and after each change: object is the object, and oldObject what it was before,
// null if it is new.
//
//	explore.CEL("pods", `oldObject == null || object.spec.nodeName == oldObject.spec.nodeName`)
//
// An expression that fails, for instance because a field is absent, is false.
func CEL(resource, expression string) Invariant {
	policy := cel.NewPolicy(0, false)
	program, err := policy.Compile(expression, cel.OptionalVariables{}, cel.Bool)
	return Invariant{name: expression, expression: true, err: err, check: func(s State) error {
		for i := range s.changes {
			c := &s.changes[i]
			if c.what.Resource != resource || c.object == nil {
				continue
			}
			in := cel.Inputs{Object: c.object, OldObject: s.run.resource(resource)[c.key()]}
			switch result, err := policy.Evaluate(context.Background(), in, cel.Budget).Run(program); {
			case err != nil:
				return fmt.Errorf("%s at revision %d: %w", c.key(), c.revision, err)
			case result.Value() != true:
				return fmt.Errorf("false for %s at revision %d", c.key(), c.revision)
			}
		}
		return nil
	}}
}

// invariants checks the invariants at every revision of the run. Each is reported once.
func (j *judgement) invariants() {
	if len(j.system.Invariants) == 0 {
		return
	}
	r := &stateReader{before: j.run.before, live: map[string]map[objectKey]fakeapi.Object{}}
	broken := map[int]bool{}
	for rest := j.run.changes; len(rest) > 0; {
		revision := rest[0].revision
		n := slices.IndexFunc(rest, func(c change) bool { return c.revision != revision })
		if n < 0 {
			n = len(rest)
		}
		s := State{Revision: revision, run: r, changes: rest[:n]}
		for _, after := range []bool{false, true} { // CEL before the changes are made, for oldObject
			for i, inv := range j.system.Invariants {
				if broken[i] || inv.expression != !after {
					continue
				}
				if err := inv.check(s); err != nil {
					broken[i] = true
					j.report(Holds, objectKey{}, inv.name, err.Error())
				}
			}
			if after {
				break
			}
			for _, c := range rest[:n] {
				objects := r.resource(c.what.Resource)
				if delete(objects, c.key()); c.object != nil {
					objects[c.key()] = c.object
				}
			}
		}
		rest = rest[n:]
	}
}

// check returns the errors of the invariants.
func (s *System) check() error {
	var wrong []string
	for _, inv := range s.Invariants {
		if inv.err != nil {
			wrong = append(wrong, fmt.Sprintf("invariant %q: %v", inv.name, inv.err))
		}
	}
	for _, e := range s.Ignore {
		if e.Reason == "" {
			wrong = append(wrong, "an exception has no reason")
		}
	}
	if s.Start == nil {
		wrong = append(wrong, "Start is nil")
	}
	if s.Real != "" && s.PlanFile == "" {
		wrong = append(wrong, "a real server needs a plan: set PlanFile, or -explore.plan")
	}
	if wrong != nil {
		return fmt.Errorf("explore: %s", strings.Join(wrong, "; "))
	}
	return nil
}
