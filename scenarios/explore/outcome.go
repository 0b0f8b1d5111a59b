package explore

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/object"
)

// An outcome is the end state and the counts of a trial.
type outcome struct {
	before    func(resource string) map[objectKey]fakeapi.Object // the objects from before the run
	plan      Plan
	course    course
	fired     []bool // the decisions of the plan that were made
	unmade    []Unmade
	points    []seenPoint
	requests  []*request
	tells     []tell
	changes   []change
	pauses    []pause
	watches   []string        // open at the end
	begun     map[string]bool // watches of the last incarnation
	workload  error
	unsettled bool
	patient   bool // it has gone on for Pace.Patience
	exits     []string
	panics    []string
	end       time.Time
	generated bool           // the workload is one of Changes
	versions  []string       // see trial
	restarted int64          // the newest revision when the system was restarted; 0 if it was not
	pages     []page         // the stories
	starts    int            // of the system
	leaked    string         // goroutines that have not ended
	remain    map[string]int // their numbers, by the functions that have started them

	created map[string]*request // what has created objects, by UID; set by summarize

	// What summarize finds. Objects with generated names are one class; see normalizer.
	final     map[objectKey][]ended // objects at the end, by class
	states    map[uint64]bool       // hashes of the normalized states
	at        map[int64]uint64      // the state at each revision
	totals    map[objectKey]totals  // by class
	collects  bool                  // the garbage collector has deleted something
	orphans   map[objectKey]string  // owners, which do not exist, of objects at the end, by class
	garbage   int                   // how many objects were created whose owners did not exist
	writes    map[objectKey]int     // changes, by class
	attempts  map[objectKey]int     // writes that the system has tried, by class
	excused   map[objectKey]int     // those that do not count; see excusedConflicts
	invalid   map[objectKey]string  // verbs of requests that were refused with 422, by class
	leftovers map[objectKey]string  // deleted objects for which others were created, by the class of those; see findLeftovers
	doubles   map[objectKey]int     // numbers of equal objects; see findDoubles
	failures  map[failure]int       // how often requests have failed at the end
	news      map[string]int        // how many events clients have got at the end
}

// totals are the creations and deletions of a class of objects, and how many there were
// at a time. Objects that existed before the run count from their first change on. Objects
// whose owners did not exist when they were created do not count: they are garbage.
type totals struct {
	created, deleted, now, most int

	// dependent marks objects that controllers of the cluster have created. root is the object
	// at the end of their chain of owners.
	dependent bool
	root      objectKey
	// templates is how many specs for Pods the objects have had in turn.
	templates int
}

// A failure is a request of a client that has failed.
type failure struct{ verb, path, client string }

func (f failure) String() string { return fmt.Sprintf("%s of %s by %s", f.verb, f.path, f.client) }

// A life is an object between its creation and its deletion.
type life struct {
	change    *change // the newest
	class     objectKey
	text      string         // normalized
	last      fakeapi.Object // before it was deleted
	born      int64          // revision of its creation
	system    bool           // the system has created it
	dependent bool           // a controller of the cluster has created it
	before    bool           // it existed before the run
	shared    bool           // others than those controllers have changed it too
	garbage   bool           // its owners did not exist when it was created
	late      bool           // the system has created it for what was deleted already; see isLate
	node      string         // to which a controller of the cluster has bound the Pod
}

// A change is what one write did to one object.
type change struct {
	revision int64
	time     time.Time
	client   string
	user     string
	manager  string // field manager of the write
	in       string // the cluster, if there are several
	cluster  bool   // a controller of the cluster has made it; set by summarize
	system   bool   // the system has made it; set by summarize
	what     journal.Change
	object   fakeapi.Object // nil for a deletion
}

func (c *change) key() objectKey {
	return objectKey{c.what.Resource, c.what.Namespace, c.what.Name, c.in}
}

// harvest reads the changes that were made since the last call, before compaction removes
// them. It returns the newest revision whose changes are read.
func (t *trial) harvest() (revision int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.target.writes(t.next) {
		t.next = w.Revision + 1
		for _, c := range progress(w.Write) {
			h := change{revision: w.Revision, time: w.Time, client: clientOf(w.Writer.UserAgent), user: w.Writer.User, manager: w.Writer.Manager, in: w.in, what: c}
			if c.Type != journal.Deleted {
				h.object = t.target.object(h.key(), w.Revision) // nil if it was compacted by someone else
			}
			t.changes = append(t.changes, h)
		}
	}
	return t.next - 1
}

// summarize finds what oracles and the search compare.
func (o *outcome) summarize(pace Pace) {
	o.findAuthors()
	n := newNormalizer(o.changes)
	n.given = sync.OnceValue(o.givenPEM)
	o.created = o.creators()
	o.replay(n)
	o.findOrphans(n)
	o.findDoubles(n)
	o.countRequests(n, pace)
}

// findAuthors marks the changes by the system and by the controllers of the cluster, which run on
// the server as users of Kubernetes.
func (o *outcome) findAuthors() {
	system := map[string]bool{}
	for _, q := range o.requests {
		system[q.client] = true
	}
	for i := range o.changes {
		c := &o.changes[i]
		c.system = system[c.client]
		c.cluster = !c.system && strings.HasPrefix(c.user, "system:")
		o.collects = o.collects || c.cluster && c.user == garbageCollector && c.what.Type == journal.Deleted
	}
}

// garbageCollector is the user that the garbage collector is.
const garbageCollector = "system:serviceaccount:kube-system:generic-garbage-collector"

// replay follows the changes: it sets final, states, at and totals.
func (o *outcome) replay(n *normalizer) {
	live := map[objectKey]*life{}
	var dead []*life
	gone := map[string]bool{} // UIDs of deleted objects
	roots := map[string]objectKey{}
	var state uint64
	atPause := func(before int64) { // for the pauses that ended before a revision
		for i := range o.pauses {
			if p := &o.pauses[i]; p.final == nil && p.revision < before {
				p.final = n.final(maps.Clone(live), maps.Clone(gone))
			}
		}
	}
	o.states, o.at, o.totals, o.writes = map[uint64]bool{}, map[int64]uint64{}, map[objectKey]totals{}, map[objectKey]int{}
	for i := range o.changes {
		c := &o.changes[i]
		key := c.key()
		atPause(c.revision)
		old := live[key]
		if old != nil {
			state ^= hashOf(old.class, old.text)
			delete(live, key)
		}
		l := &life{class: n.class(key), born: c.revision, system: c.system, dependent: c.cluster}
		if old != nil && c.what.Type != journal.Added {
			*l = *old
		} else {
			l.before = c.what.Type != journal.Added
		}
		l.change = c
		o.writes[l.class]++
		l.shared = l.shared || !c.cluster
		t := o.totals[l.class]
		switch {
		case c.what.Type == journal.Added:
			if old != nil {
				gone[uidOf(old.change.object)] = true
			}
			if l.garbage = ownerless(c.object, gone); l.garbage {
				o.garbage++
				gone[uidOf(c.object)] = true // so is what it owns
				break
			}
			if l.late = l.system && o.isLate(c, live, dead); l.late {
				break
			}
			t.dependent, t.root = l.dependent, l.class
			if root, ok := roots[object.String(controllerRef(c.object), "uid")]; ok {
				t.root = root
			}
			roots[uidOf(c.object)] = t.root
			t.created++
			t.now++
			t.most = max(t.most, t.now)
		case c.what.Type == journal.Deleted:
			if old != nil {
				l.last = old.change.object
				gone[uidOf(l.last)] = true
				dead = append(dead, l)
			}
			if !l.garbage && !l.late {
				t.deleted++
				t.now--
			}
		}
		if c.object != nil {
			if c.cluster && object.String(c.object, "spec", "nodeName") != "" && (old == nil || object.String(old.change.object, "spec", "nodeName") == "") {
				l.node = object.String(c.object, "spec", "nodeName")
			}
			if old != nil && !l.garbage && !reflect.DeepEqual(object.Value(c.object, "spec", "template"), object.Value(old.change.object, "spec", "template")) {
				t.templates++
			}
			l.text = n.text(c.object)
			live[key] = l
			state ^= hashOf(l.class, l.text)
		}
		o.states[state] = true
		o.at[c.revision] = state
		o.totals[l.class] = t
	}
	for _, l := range live {
		if t := o.totals[l.class]; l.late {
			t.created++
			o.totals[l.class] = t
		}
	}
	atPause(math.MaxInt64)
	o.final = n.final(live, gone)
	o.findLeftovers(live, dead)
}

// final returns what counts of the objects of a state, by class. It removes garbage from live.
func (n *normalizer) final(live map[objectKey]*life, gone map[string]bool) map[objectKey][]ended {
	collect(live, gone)
	newest := newestRevisions(live)
	out := map[objectKey][]ended{}
	for _, l := range live {
		if object := n.lasting(l); object != nil {
			object, old := withoutRevision(object, newest)
			out[l.class] = append(out[l.class], ended{n.text(object), old})
		}
	}
	for _, objects := range out {
		slices.SortFunc(objects, func(a, b ended) int { return strings.Compare(a.text, b.text) })
	}
	return out
}

// collect removes the objects whose owners do not exist, as the garbage collector does, which may
// not run. gone has the UIDs of deleted objects.
func collect(live map[objectKey]*life, gone map[string]bool) {
	for again := true; again; {
		again = false
		for key, l := range live {
			if ownerless(l.change.object, gone) {
				gone[uidOf(l.change.object)] = true
				delete(live, key)
				again = true
			}
		}
	}
}

// ownerless reports whether an object has owners, and all of them were deleted.
func ownerless(o fakeapi.Object, gone map[string]bool) bool {
	owned := false
	for owner := range object.Each(object.Value(o, "metadata", "ownerReferences")) {
		if !gone[object.String(owner, "uid")] {
			return false
		}
		owned = true
	}
	return owned
}

func uidOf(o fakeapi.Object) string { return object.String(o, "metadata", "uid") }

// findOrphans sets orphans: the objects whose owners were all deleted in the run, if the garbage
// collector runs. Without it they are what it would delete.
func (o *outcome) findOrphans(n *normalizer) {
	live := map[objectKey]*change{}
	deleted := map[string]string{} // objects by UID
	for i := range o.changes {
		c := &o.changes[i]
		key := c.key()
		if before := live[key]; before != nil && c.what.Type != journal.Modified {
			deleted[object.String(before.object, "metadata", "uid")] = key.String()
		}
		delete(live, key)
		if c.object != nil {
			live[key] = c
		}
	}
	for _, c := range live {
		delete(deleted, object.String(c.object, "metadata", "uid"))
	}
	o.orphans = map[objectKey]string{}
	if !o.collects {
		return
	}
	for key, c := range live {
		gone := ""
		for owner := range object.Each(object.Value(c.object, "metadata", "ownerReferences")) {
			if gone = deleted[object.String(owner, "uid")]; gone == "" {
				break // one that exists is enough
			}
		}
		if gone != "" {
			o.orphans[n.class(key)] = gone
		}
	}
}

// countRequests sets attempts, invalid, failures and news. The end is when the system should be
// calm; a watch that ends within a second has failed.
func (o *outcome) countRequests(n *normalizer, pace Pace) {
	o.attempts, o.excused, o.invalid, o.failures, o.news = map[objectKey]int{}, map[objectKey]int{}, map[objectKey]string{}, map[failure]int{}, map[string]int{}
	calm := o.end.Add(-pace.Quiet)
	for _, q := range o.requests {
		class := n.class(q.key())
		if q.isWrite() && q.counts() {
			o.attempts[class]++
		}
		if q.code == http.StatusUnprocessableEntity && !q.decided {
			o.invalid[class] = q.route.Verb
		}
		ended := !q.ended.IsZero()
		failed := ended && (q.code == 0 || q.code >= http.StatusBadRequest)
		short := ended && q.route.Verb == "watch" && q.ended.Sub(q.began) < pace.shortWatch()
		if q.route.IsResource && q.began.After(calm) && (short || failed) {
			o.failures[failure{q.route.Verb, q.path, q.client}]++
		}
	}
	for key, excused := range o.excusedConflicts() {
		o.excused[n.class(key)] += excused
	}
	for _, p := range o.points {
		if p.Event != "" && p.time.After(calm) {
			o.news[p.Client]++
		}
	}
}

// stateAt returns the hash of the state at a revision.
func (o *outcome) stateAt(revision int64) uint64 {
	var state uint64
	for _, c := range o.changes {
		if c.revision > revision {
			break
		}
		state = o.at[c.revision]
	}
	return state
}

// workloadChanges returns the changes that were made neither by the system nor by the
// controllers of the cluster.
func (o *outcome) workloadChanges() []*change {
	var out []*change
	for i := range o.changes {
		if c := &o.changes[i]; !c.system && !c.cluster {
			out = append(out, c)
		}
	}
	return out
}

func hashOf(key objectKey, text string) uint64 {
	h := fnv.New64a()
	if key.in != "" {
		fmt.Fprintf(h, "%s\x00", key.in)
	}
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s", key.resource, key.namespace, key.name, text)
	return h.Sum64()
}
