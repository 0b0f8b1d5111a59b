package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/object"
)

// A proxied is a target that forwards all requests of the system and of the workload to a real
// server, through faults. What belongs to the trial are the objects that they write, those that
// these own, and those in namespaces that they create.
type proxied struct {
	*realCluster
	front   *fakeapi.Server // whose front ends have the proxy instead of its handler
	workers *fakeapi.Server // the front end of the workload
	faults  *fault.Set
	begin   int64                        // revision
	first   int                          // index of the first observation
	initial map[objectKey]fakeapi.Object // the objects before the trial
	asked   atomic.Int64                 // when the last request came, in Unix nanoseconds

	write    sync.Mutex // guards the fields below; realCluster.mu may be locked while it is
	authors  map[version]journal.Writer
	deleters map[objectKey]journal.Writer // with the name "" for a collection
	touched  map[objectKey]bool           // objects that were written through the proxy
}

// A version is an object at a resourceVersion.
type version struct {
	objectKey
	resourceVersion string
}

// newTarget returns a target for a trial.
func (r *realCluster) newTarget() (*proxied, error) {
	front, err := r.base.NewFork()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	x := &proxied{
		realCluster: r, front: front, begin: r.newest, first: len(r.observed), initial: maps.Clone(r.live),
		authors: map[version]journal.Writer{}, deleters: map[objectKey]journal.Writer{}, touched: map[objectKey]bool{},
		faults: fault.NewSet(fault.Options{Clock: clock.New(), Seed: 1}),
	}
	r.mu.Unlock()
	if _, err = x.inject(faults.Fault{Verb: "create,update,patch,delete,deletecollection", At: faults.AfterCommit, Do: x.author}); err == nil {
		x.workers, err = x.frontEnd(func(_ string, next http.Handler) http.Handler { return next })
	}
	if err != nil {
		front.Close()
		return nil, err
	}
	return x, nil
}

// ServeHTTP forwards a request. Answers are not compressed: faults read them.
func (x *proxied) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Header.Del("Accept-Encoding")
	if v, ok := r.Context().Value(viewKey{}).(*past); ok {
		v.rewrite(r)
	}
	x.proxy.ServeHTTP(w, r)
}

func (x *proxied) users() *fakeapi.Server { return x.workers }

func (x *proxied) frontEnd(gate wrapper) (*fakeapi.Server, error) {
	serve := x.faults.Handler(x)
	return frontEndOf(x.front, func(cluster string, _ http.Handler) http.Handler {
		gated := gate(cluster, serve)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			x.asked.Store(time.Now().UnixNano())
			gated.ServeHTTP(w, r)
		})
	})
}

func (x *proxied) inject(list ...faults.Fault) (remove func(), err error) {
	rules, err := x.faults.Inject(list...)
	return func() {
		for _, r := range rules {
			r.Remove()
		}
	}, err
}

// author notes who has made a write.
func (x *proxied) author(p *faults.Point) {
	if p.Code >= http.StatusMultipleChoices {
		return
	}
	resource, _, _ := strings.Cut(p.Resource, "/")
	key := objectKey{resource: resource, namespace: p.Namespace, name: p.Name}
	if resource == "namespaces" {
		key.namespace = ""
	}
	agent, _, _ := strings.Cut(p.UserAgent, "/")
	manager := p.Request.URL.Query().Get("fieldManager")
	if manager == "" {
		manager = agent
	}
	w := journal.Writer{UserAgent: p.UserAgent, Manager: manager, Verb: p.Verb}
	x.write.Lock()
	defer x.write.Unlock()
	if strings.HasPrefix(p.Verb, "delete") {
		x.deleters[key] = w
	}
	if key.name == "" {
		return
	}
	x.touched[key] = true
	if p.ResourceVersion != "" {
		x.authors[version{key, p.ResourceVersion}] = w
	}
}

// writerOf returns who has made a change, the zero Writer if it did not come through the proxy.
func (x *proxied) writerOf(o *observation) (w journal.Writer, ok bool) {
	key := objectKey{o.what.Resource, o.what.Namespace, o.what.Name, ""}
	if o.what.Type != journal.Deleted {
		w, ok = x.authors[version{key, o.object.ResourceVersion()}]
		return w, ok
	}
	for _, k := range []objectKey{key, {resource: key.resource, namespace: key.namespace}, {resource: key.resource}} {
		if w, ok = x.deleters[k]; ok {
			return w, true
		}
	}
	return w, false
}

// A trialObservation is an observation of what belongs to the trial.
type trialObservation struct {
	*observation
	writer journal.Writer
}

// own returns the observations of what belongs to the trial, in the order of their revisions.
func (x *proxied) own() []trialObservation {
	x.mu.Lock()
	observed := slices.Clone(x.observed[x.first:])
	x.mu.Unlock()
	slices.SortStableFunc(observed, func(a, b observation) int { return int(a.revision - b.revision) })
	x.write.Lock()
	defer x.write.Unlock()
	uids, created := map[string]bool{}, map[string]bool{} // created are namespaces
	var out []trialObservation
	for i := range observed {
		o := &observed[i]
		w, ok := x.writerOf(o)
		key := objectKey{o.what.Resource, o.what.Namespace, o.what.Name, ""}
		if !ok && !x.touched[key] && !created[key.namespace] && !ownedBy(o.object, uids) {
			continue
		}
		uids[uidOf(o.object)] = true
		if key.resource == "namespaces" && x.initial[key] == nil {
			created[key.name] = true
		}
		if !ok {
			w = journal.Writer{User: ofCluster, Manager: newestManager(o.object)}
		}
		out = append(out, trialObservation{o, w})
	}
	return out
}

// ofCluster is the user who makes the writes that come from elsewhere than the system and the
// workload. Its prefix is that of the controllers of a cluster.
const ofCluster = "system:of-the-cluster"

func ownedBy(o fakeapi.Object, uids map[string]bool) bool {
	for owner := range object.Each(object.Value(o, "metadata", "ownerReferences")) {
		if uids[object.String(owner, "uid")] {
			return true
		}
	}
	return false
}

// newestManager returns the field manager that has changed an object last.
func newestManager(o fakeapi.Object) string {
	manager, newest := "", ""
	for _, m := range managersOf(o) {
		if at := object.String(m, "time"); at >= newest {
			manager, newest = object.String(m, "manager"), at
		}
	}
	return manager
}

func (x *proxied) revision() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.newest
}

func (x *proxied) writes(from int64) []write {
	var out []write
	for _, o := range x.own() {
		if o.revision >= from {
			out = append(out, write{Write: journal.Write{Revision: o.revision, Time: o.time, Writer: o.writer, Changes: []journal.Change{o.what}}})
		}
	}
	return out
}

func (x *proxied) object(key objectKey, revision int64) fakeapi.Object {
	if key.resource == "namespaces" {
		key.namespace = ""
	}
	if o := x.known(key, revision); o != nil || revision > 0 {
		return o
	}
	var o map[string]any // the watch of the system may be faster than that of the search
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if path := x.path(key); path == "" || x.client.Get(ctx, path, &o) != nil {
		return nil
	}
	return object.Integers(o)
}

// known returns an object as it was observed at a revision, 0 for the newest.
func (x *proxied) known(key objectKey, revision int64) fakeapi.Object {
	x.mu.Lock()
	defer x.mu.Unlock()
	if revision == 0 {
		return x.live[key]
	}
	for i := len(x.observed) - 1; i >= x.first; i-- {
		o := &x.observed[i]
		if o.revision == revision && o.what.Type != journal.Deleted && key == (objectKey{o.what.Resource, o.what.Namespace, o.what.Name, ""}) {
			return o.object
		}
	}
	return nil
}

func (x *proxied) before(resource string) map[objectKey]fakeapi.Object {
	out := map[objectKey]fakeapi.Object{}
	for key, o := range x.initial {
		if key.resource == resource {
			out[key] = o
		}
	}
	return out
}

func (x *proxied) forgets() bool { return false }

// settlePause is how long no request must come until a real server is settled.
const settlePause = 250 * time.Millisecond

func (x *proxied) settle(ctx context.Context) {
	for ctx.Err() == nil {
		left := settlePause - time.Since(time.Unix(0, x.asked.Load()))
		if left <= 0 {
			return
		}
		_ = x.front.Clock().Sleep(ctx, left)
	}
}

func (x *proxied) runControllers(context.Context) {}

func (x *proxied) refuses(do Action) string {
	if do == Compact {
		return "only etcd removes history, and a proxy has no part in it; expire is what a client sees of it"
	}
	return ""
}

func (x *proxied) compact(string, int64) error { return errors.ErrUnsupported }

func (x *proxied) story() ([]page, error) { return nil, nil }

// close removes what the trial has created.
func (x *proxied) close() error {
	x.workers.Close()
	defer x.front.Close()
	for _, w := range x.front.Writes(x.realCluster.base.Revision() + 1) {
		if !strings.HasPrefix(w.Writer.User, "system:") && len(progress(w)) > 0 {
			return fmt.Errorf("explore: the system or its workload writes past the API, with a method of the Server, which does not reach a real server: %s", w.Changes[0])
		}
	}
	var created []objectKey
	for _, o := range x.own() {
		key := objectKey{o.what.Resource, o.what.Namespace, o.what.Name, ""}
		was, is := x.initial[key], x.known(key, 0)
		switch {
		case was != nil && (is == nil || is.ResourceVersion() != was.ResourceVersion()):
			return fmt.Errorf("explore: the run has changed %s, which existed before it: the next run would not begin as this one", key)
		case was == nil && is != nil && !slices.Contains(created, key):
			created = append(created, key)
		}
	}
	if err := x.remove(context.Background(), slices.Clone(created)); err != nil {
		return err
	}
	return x.caughtUp(created)
}

// caughtUp waits until the watches have shown that objects are gone.
func (x *proxied) caughtUp(gone []objectKey) error {
	ctx, cancel := context.WithTimeout(context.Background(), definitionTimeout)
	defer cancel()
	for _, key := range gone {
		for x.known(key, 0) != nil {
			if x.front.Clock().Sleep(ctx, 5*time.Millisecond) != nil {
				return fmt.Errorf("explore: the watch of %s does not show its deletion", key)
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.failed
}

// A past is a view of a real server as it was at a revision. Lists that the watch cache would answer,
// those at resourceVersion=0, read that revision from etcd; watches that continue from a version
// withhold their events until thaw.
type past struct {
	*proxied
	revision int64
	resume   func()
	thawed   atomic.Bool
	lists    atomic.Int64 // that were answered from the past
}

// viewKey is the key of a past in the context of a request to it.
type viewKey struct{}

func (x *proxied) rewind(string, []faults.Fault) (view, error) { // the probes are in the same Set
	now, err := x.present(context.Background())
	if err != nil {
		return nil, err
	}
	v := &past{proxied: x, revision: now}
	v.resume, err = x.inject(faults.Fault{Watch: faults.PauseWatch, Matches: func(r *http.Request) bool {
		q := r.URL.Query()
		version := q.Get("resourceVersion")
		return r.Context().Value(viewKey{}) == v && version != "" && version != "0" && q.Get("sendInitialEvents") != "true"
	}})
	return v, err
}

func (v *past) frontEnd(gate wrapper) (*fakeapi.Server, error) {
	return v.proxied.frontEnd(func(cluster string, next http.Handler) http.Handler {
		return gate(cluster, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), viewKey{}, v)))
		}))
	})
}

// rewrite makes a list at resourceVersion=0 one of the past.
func (v *past) rewrite(r *http.Request) {
	q := r.URL.Query()
	if to := requestOf(r); v.thawed.Load() || to == nil || to.route.Verb != "list" || q.Get("resourceVersion") != "0" {
		return
	}
	v.lists.Add(1)
	q.Del("limit") // the watch cache ignores it
	q.Set("resourceVersion", fmt.Sprint(v.revision))
	q.Set("resourceVersionMatch", "Exact")
	r.URL.RawQuery = q.Encode()
}

func (v *past) thaw() {
	v.thawed.Store(true)
	v.resume()
}

// used reports whether the system has read something older than the present.
func (v *past) used() bool { return v.lists.Load() > 0 }
