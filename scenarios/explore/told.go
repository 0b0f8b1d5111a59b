package explore

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi/faults"
)

// A tell is what an incarnation of the system was told of an object, or by a list of all objects of a
// resource. The answer to a write tells nothing: a system that takes all objects from its cache does not
// keep it.
type tell struct {
	to       *incarnation
	revision int64     // of the server at the time
	key      objectKey // without a name for a list
	version  string    // resourceVersion of the object
	deleted  string    // UID of the object, if it is deleted
	event    bool      // it is an event of a watch
}

// tellLocked notes what a request of the system is told. Callers hold t.mu.
func (t *trial) tellLocked(q *request, said tell) {
	said.to, said.revision = q.of, t.target.revision()
	t.tells = append(t.tells, said)
}

// delivered notes an event that was delivered to the system. A bookmark says that nothing else has
// changed.
func (t *trial) delivered(p *faults.Point) {
	q := requestOf(p.Request)
	if p.Event == "BOOKMARK" && q.of.old.Load() {
		return
	}
	said := tell{key: objectKey{p.Resource, p.Namespace, p.Name, q.in}, version: p.ResourceVersion, event: true}
	if strings.EqualFold(p.Event, "DELETED") {
		said.deleted = p.UID
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tellLocked(q, said)
}

// answeredLocked notes what an answer tells the system. A list of a view that stays behind tells of
// nothing new.
func (t *trial) answeredLocked(q *request, code int) {
	if q.route.Verb == "list" && code == http.StatusOK && !q.of.old.Load() {
		t.tellLocked(q, tell{key: objectKey{resource: q.resource(), in: q.in}})
	}
}

// toldOf returns the revision of the newest change of an object of which the system was told when it made a
// request, 0 if there is none.
func (o *outcome) toldOf(q *request, key objectKey, changes []*change) int64 {
	for _, said := range slices.Backward(o.tells[:q.told]) {
		if said.to != q.of || said.key.resource != key.resource || said.key.in != key.in {
			continue
		}
		switch {
		case said.key.name == "":
			return newestAt(changes, said.revision)
		case said.key == key:
			for _, c := range slices.Backward(changes) {
				if c.object != nil && c.object.ResourceVersion() == said.version {
					return c.revision
				}
			}
			return newestAt(changes, said.revision) // a deletion
		}
	}
	return 0
}

// newestAt returns the revision of the newest change at a revision of the server, 0 if there is none.
func newestAt(changes []*change, revision int64) int64 {
	for _, c := range slices.Backward(changes) {
		if c.revision <= revision {
			return c.revision
		}
	}
	return 0
}

// knewOf reports whether the system was told of a deletion when it made a request.
func (o *outcome) knewOf(q *request, deletion *life) bool {
	uid := uidOf(deletion.last)
	return slices.ContainsFunc(o.tells[:q.told], func(said tell) bool {
		list := said.key.name == "" && said.key.resource == deletion.change.what.Resource && said.key.in == deletion.change.in
		return said.to == q.of && (said.deleted == uid || list && said.revision >= deletion.change.revision)
	})
}

// A lag is a time in which an incarnation of the system was not told of the newest version of an object.
type lag struct {
	of   *incarnation
	key  objectKey
	told int64 // the revision of which it was told
}

// firstRetry is the first delay of the queues of client-go, which double it after each failure.
const firstRetry = 5 * time.Millisecond

// excusedConflicts returns, by object, how many writes of the system were refused with 409 that are no
// mistake: its view of the object is behind, so it cannot know better. While a view is behind it may try
// once, and again for each event that it gets, and as often as a queue with the back-off of client-go does.
// A client that tries more often repeats what cannot succeed.
func (o *outcome) excusedConflicts() map[objectKey]int {
	changes := changesOf(o.changes)
	refused := map[lag][]*request{}
	for _, q := range o.requests {
		if !q.isWrite() || q.code != http.StatusConflict {
			continue
		}
		key := q.key()
		if told := o.toldOf(q, key, changes[key]); told < newestAt(changes[key], q.revision) {
			l := lag{q.of, key, told}
			refused[l] = append(refused[l], q)
		}
	}
	excused := map[objectKey]int{}
	for l, requests := range refused {
		first, last := requests[0], requests[len(requests)-1]
		allowed := 1 + int(math.Log2(1+float64(last.began.Sub(first.began))/float64(firstRetry)))
		for _, said := range o.tells[first.told:last.told] {
			if said.to == l.of && said.event {
				allowed++
			}
		}
		excused[l.key] += min(allowed, len(requests))
	}
	return excused
}

// changesOf returns the changes by object.
func changesOf(changes []change) map[objectKey][]*change {
	out := map[objectKey][]*change{}
	for i := range changes {
		c := &changes[i]
		out[c.key()] = append(out[c.key()], c)
	}
	return out
}

// creators returns the requests that have created objects, by UID.
func (o *outcome) creators() map[string]*request {
	out := map[string]*request{}
	for _, q := range o.requests {
		if q.made != "" && out[q.made] == nil {
			out[q.made] = q
		}
	}
	return out
}

// isLate reports whether the system has created an object for one that is deleted, of which it was not told.
// That an object is for another one shows in its name, its labels or its annotations.
func (o *outcome) isLate(c *change, live map[objectKey]*life, dead []*life) bool {
	q := o.created[uidOf(c.object)]
	if q == nil {
		return false
	}
	for _, l := range live {
		if !l.system && refersTo(c.object, l.change.object) {
			return false
		}
	}
	return slices.ContainsFunc(dead, func(d *life) bool {
		return !d.system && !d.dependent && refersTo(c.object, d.last) && !o.knewOf(q, d)
	})
}
