package explore

import (
	"context"
	"io"
	"net/http"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/backdoor"
)

// A target is the API server of one trial: a fork of the base, or a real one behind a proxy. It
// serves, applies faults, and says what was written; what a plan decides is not its concern.
type target interface {
	// users returns the server that the workload gets.
	users() *fakeapi.Server
	// frontEnd starts a front end for an incarnation, whose requests pass through gate.
	frontEnd(gate func(next http.Handler) http.Handler) (*fakeapi.Server, error)
	// inject adds faults. remove removes them.
	inject(list ...faults.Fault) (remove func(), err error)
	// rewind returns a view that stays at the present state.
	rewind(probes []faults.Fault) (view, error)
	// compact removes the history before a revision.
	compact(revision int64) error
	// refuses returns why the target cannot do an action, "" if it can.
	refuses(do Action) string

	// revision returns the newest revision, and writes the writes from a revision on.
	revision() int64
	writes(from int64) []journal.Write
	// object returns an object at a revision, 0 for the newest; nil if there is none.
	object(resource, namespace, name string, revision int64) fakeapi.Object
	// before returns the objects of a resource before the trial.
	before(resource string) []fakeapi.Object
	// forgets reports whether the target forgets who has made older writes.
	forgets() bool

	// settle waits until nothing happens, and runControllers until the controllers of the target
	// have done what they have to do now.
	settle(ctx context.Context)
	runControllers(ctx context.Context)
	// story writes the page with what has happened, if the target knows.
	story(w io.Writer) error
	// close ends the target, and removes what the trial has left behind elsewhere.
	close() error
}

// A view is an older state of a target that stays until thaw is called.
type view interface {
	frontEnd(gate func(next http.Handler) http.Handler) (*fakeapi.Server, error)
	thaw()
	// used reports whether a client has read from the view what is not the present state.
	used() bool
}

// A fork is a target in memory.
type fork struct {
	*fakeapi.Server
	base *fakeapi.Server
}

func newFork(base *fakeapi.Server) (*fork, error) {
	srv, err := base.NewFork()
	if err != nil {
		return nil, err
	}
	return &fork{srv, base}, nil
}

func (f *fork) users() *fakeapi.Server { return f.Server }

func (f *fork) frontEnd(gate func(http.Handler) http.Handler) (*fakeapi.Server, error) {
	return frontEndOf(f.Server, gate)
}

func frontEndOf(srv *fakeapi.Server, wrap func(http.Handler) http.Handler) (*fakeapi.Server, error) {
	front, err := backdoor.Of(srv).NewFrontEnd(wrap)
	if err != nil {
		return nil, err
	}
	return front.(*fakeapi.Server), nil
}

func (f *fork) inject(list ...faults.Fault) (remove func(), err error) {
	injected, err := f.Inject(list...)
	if err != nil {
		return nil, err
	}
	return injected.Remove, nil
}

func (f *fork) compact(revision int64) error { return f.Compact(revision) }

func (f *fork) refuses(Action) string { return "" }

func (f *fork) revision() int64 { return f.Revision() }

func (f *fork) writes(from int64) []journal.Write { return f.Writes(from) }

func (f *fork) object(resource, namespace, name string, revision int64) fakeapi.Object {
	var at []fakeapi.ReadOption
	if revision > 0 {
		at = append(at, fakeapi.AtRevision(revision))
	}
	o, err := f.Get(resource, namespace, name, at...)
	if err != nil {
		return nil // it does not exist, or the revision was compacted by someone else
	}
	return o
}

func (f *fork) before(resource string) []fakeapi.Object {
	objects, _ := f.base.List(resource, "") // none of a resource that the run defines
	return objects
}

func (f *fork) forgets() bool { return true }

func (f *fork) settle(ctx context.Context) { _ = f.Settle(ctx) } // a system that polls never settles

func (f *fork) runControllers(ctx context.Context) {
	_ = backdoor.Of(f.Server).RunControllers(ctx)
}

func (f *fork) story(w io.Writer) error { return f.WriteStory(w) }

func (f *fork) close() error {
	f.Server.Close()
	return nil
}

// A replica is the view of a fork that another API server of the cluster has.
type replica struct{ *fakeapi.Server }

func (f *fork) rewind(probes []faults.Fault) (view, error) {
	r, err := f.NewReplica()
	if err == nil {
		_, err = r.Inject(probes...)
	}
	if err == nil {
		err = r.SetLag("*", fakeapi.Lag{Frozen: true})
	}
	return replica{r}, err
}

func (r replica) frontEnd(gate func(http.Handler) http.Handler) (*fakeapi.Server, error) {
	return frontEndOf(r.Server, gate)
}

func (r replica) used() bool { return true } // a watch begins there too

func (r replica) thaw() { _ = r.SetLag("*", fakeapi.Lag{}) } // the pattern is valid
