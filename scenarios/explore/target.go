package explore

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"sort"
	"sync"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/backdoor"
)

// A target is the API server of one trial, or those of several clusters: a fork of the base, or a real
// one behind a proxy. It serves, applies faults, and says what was written; what a plan decides is not
// its concern. Revisions of several clusters are one sequence.
type target interface {
	// users returns the server that the workload gets.
	users() *fakeapi.Server
	// frontEnd starts a front end for an incarnation, whose requests pass through gate.
	frontEnd(gate wrapper) (*fakeapi.Server, error)
	// inject adds faults to all clusters. remove removes them.
	inject(list ...faults.Fault) (remove func(), err error)
	// rewind returns a view of which a cluster stays at the present state.
	rewind(cluster string, probes []faults.Fault) (view, error)
	// compact removes the history of a cluster before a revision.
	compact(cluster string, revision int64) error
	// refuses returns why the target cannot do an action, "" if it can.
	refuses(do Action) string

	// revision returns the newest revision, and writes the writes from a revision on.
	revision() int64
	writes(from int64) []write
	// object returns an object at the revision of a write of its cluster, 0 for the newest; nil if there
	// is none.
	object(key objectKey, revision int64) fakeapi.Object
	// before returns the objects of a resource before the trial.
	before(resource string) map[objectKey]fakeapi.Object
	// forgets reports whether the target forgets who has made older writes.
	forgets() bool

	// settle waits until nothing happens, and runControllers until the controllers of the target
	// have done what they have to do now.
	settle(ctx context.Context)
	runControllers(ctx context.Context)
	// story returns the page with what has happened in each cluster, nil if the target does not know.
	story() ([]page, error)
	// close ends the target, and removes what the trial has left behind elsewhere.
	close() error
}

// A wrapper returns the handler that requests to a cluster pass before another one.
type wrapper = func(cluster string, next http.Handler) http.Handler

// A write is a write of a cluster. Its Revision is that of the target.
type write struct {
	journal.Write
	in  string // the cluster, if there are several
	own int64  // its revision in that cluster, if there are several
}

// A page is the story of a cluster as HTML.
type page struct {
	cluster string // "" if it is the only one
	html    []byte
}

// A view is an older state of a target that stays until thaw is called.
type view interface {
	frontEnd(gate wrapper) (*fakeapi.Server, error)
	thaw()
	// used reports whether a client has read from the view what is not the present state.
	used() bool
}

// A fork is a target in memory, with one cluster or several. The revisions of several clusters make one
// sequence: the revision of a write is the sum of the revisions that all clusters have after it.
type fork struct {
	*fakeapi.Server
	base    *fakeapi.Server
	members []*member

	mu  sync.Mutex // guards log and the fields next of members
	log []write    // of several clusters, as far as it was read
}

// A member is a cluster of a fork.
type member struct {
	name string // "" if it is the only one
	srv  *fakeapi.Server
	base *fakeapi.Server
	next int64 // revision of the first write that the log does not have
}

func newFork(base *fakeapi.Server) (*fork, error) {
	srv, err := base.NewFork()
	if err != nil {
		return nil, err
	}
	return forkOf(srv, base), nil
}

// forkOf returns the target that a fork of base is.
func forkOf(srv, base *fakeapi.Server) *fork {
	f := &fork{Server: srv, base: base}
	for _, name := range clusters.Names(base) {
		m := &member{name: name, srv: clusters.Get(srv, name), base: clusters.Get(base, name)}
		m.next = m.srv.Revision() + 1
		f.members = append(f.members, m)
	}
	if f.members == nil {
		f.members = []*member{{srv: srv, base: base}}
	}
	return f
}

func (f *fork) users() *fakeapi.Server { return f.Server }

func (f *fork) frontEnd(gate wrapper) (*fakeapi.Server, error) { return frontEndOf(f.Server, gate) }

func frontEndOf(srv *fakeapi.Server, wrap wrapper) (*fakeapi.Server, error) {
	front, err := backdoor.Of(srv).NewFrontEnd(wrap)
	if err != nil {
		return nil, err
	}
	return front.(*fakeapi.Server), nil
}

func (f *fork) inject(list ...faults.Fault) (remove func(), err error) {
	var all []*faults.Injection
	remove = func() {
		for _, injected := range all {
			injected.Remove()
		}
	}
	for _, m := range f.members {
		injected, err := m.srv.Inject(list...)
		if err != nil {
			remove()
			return nil, err
		}
		all = append(all, injected)
	}
	return remove, nil
}

// member returns the cluster with a name.
func (f *fork) member(name string) *member {
	for _, m := range f.members {
		if m.name == name {
			return m
		}
	}
	panic("explore: no cluster " + name) // unreachable: the requests of the run have names of its clusters
}

func (f *fork) compact(cluster string, revision int64) error {
	m := f.member(cluster)
	return m.srv.Compact(f.revisionIn(m, revision))
}

// revisionIn returns the revision of a cluster at a revision of the sequence, as far as the log was read.
func (f *fork) revisionIn(m *member, revision int64) int64 {
	if len(f.members) == 1 {
		return revision
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range slices.Backward(f.log) {
		if w.in == m.name && w.Revision <= revision {
			return w.own
		}
	}
	return m.base.Revision()
}

func (f *fork) refuses(Action) string { return "" }

func (f *fork) revision() (sum int64) {
	for _, m := range f.members {
		sum += m.srv.Revision()
	}
	return sum
}

func (f *fork) writes(from int64) (out []write) {
	if len(f.members) == 1 {
		for _, w := range f.Writes(from) {
			out = append(out, write{Write: w})
		}
		return out
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readLocked()
	first := sort.Search(len(f.log), func(i int) bool { return f.log[i].Revision >= from })
	return slices.Clone(f.log[first:])
}

// readLocked reads what the clusters have written since the last call.
func (f *fork) readLocked() {
	type ordered struct {
		write
		order int64
	}
	var news []ordered
	sum := int64(0) // of the revisions that the log has
	for _, m := range f.members {
		sum += m.next - 1
		orders := backdoor.Of(m.srv).WriteOrders(m.next)
		for _, w := range m.srv.Writes(m.next) {
			news = append(news, ordered{write{w, m.name, w.Revision}, orders[w.Revision]})
		}
	}
	slices.SortStableFunc(news, func(a, b ordered) int { return cmp.Compare(a.order, b.order) })
	for _, w := range news {
		m := f.member(w.in)
		sum += w.own + 1 - m.next
		m.next = w.own + 1
		w.Revision = sum
		f.log = append(f.log, w.write)
	}
}

func (f *fork) object(key objectKey, revision int64) fakeapi.Object {
	m := f.member(key.in)
	var at []fakeapi.ReadOption
	if revision > 0 {
		at = append(at, fakeapi.AtRevision(f.revisionIn(m, revision)))
	}
	o, err := m.srv.Get(key.resource, key.namespace, key.name, at...)
	if err != nil {
		return nil // it does not exist, or the revision was compacted by someone else
	}
	return o
}

func (f *fork) before(resource string) map[objectKey]fakeapi.Object {
	out := map[objectKey]fakeapi.Object{}
	for _, m := range f.members {
		objects, _ := m.base.List(resource, "") // none of a resource that the run defines
		for _, o := range objects {
			out[objectKey{resource, o.Namespace(), o.Name(), m.name}] = o
		}
	}
	return out
}

func (f *fork) forgets() bool { return true }

func (f *fork) settle(ctx context.Context) { _ = f.Settle(ctx) } // a system that polls never settles

func (f *fork) runControllers(ctx context.Context) {
	for _, m := range f.members {
		_ = backdoor.Of(m.srv).RunControllers(ctx)
	}
}

func (f *fork) story() (pages []page, err error) {
	for _, m := range f.members {
		var html bytes.Buffer
		if err := m.srv.WriteStory(&html); err != nil {
			return nil, err
		}
		pages = append(pages, page{m.name, html.Bytes()})
	}
	return pages, nil
}

func (f *fork) close() error {
	f.Server.Close()
	return nil
}

// A replica is the view of a fork that another API server of a cluster has.
type replica struct{ *fakeapi.Server }

func (f *fork) rewind(cluster string, probes []faults.Fault) (view, error) {
	r, err := f.member(cluster).srv.NewReplica()
	if err == nil {
		_, err = r.Inject(probes...)
	}
	if err == nil {
		err = r.SetLag("*", fakeapi.Lag{Frozen: true})
	}
	return replica{r}, err
}

func (r replica) frontEnd(gate wrapper) (*fakeapi.Server, error) { return frontEndOf(r.Server, gate) }

func (r replica) used() bool { return true } // a watch begins there too

func (r replica) thaw() { _ = r.SetLag("*", fakeapi.Lag{}) } // the pattern is valid
