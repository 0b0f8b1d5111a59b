package explore

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

// An outcome is what a trial has come to.
type outcome struct {
	base      *fakeapi.Server // of which the run had a fork
	plan      Plan
	fired     []bool // the decisions of the plan that were made
	points    []seenPoint
	requests  []*request
	changes   []change
	watches   []string        // open at the end
	begun     map[string]bool // watches of the last incarnation
	workload  error
	unsettled bool
	exits     []string
	panics    []string
	end       time.Time
	page      []byte // the story
	leaked    string // goroutines that have not ended

	// What summarize finds. Objects with generated names are one class; see normalizer.
	final    map[objectKey][]string // normalized objects at the end, by class
	states   map[uint64]bool        // hashes of the normalized states
	at       map[int64]uint64       // the state at each revision
	totals   map[objectKey]totals   // by class
	orphans  map[objectKey]string   // owners, which do not exist, of objects at the end, by class
	attempts map[objectKey]int      // writes that the system has tried, by class
	invalid  map[objectKey]string   // verbs of requests that were refused with 422, by class
	failures map[string]int         // requests that have failed at the end
}

// totals are the creations and deletions of a class of objects, and how many there were
// at a time. Objects that existed before the run count from their first change on.
type totals struct{ created, deleted, now, most int }

// A change is what one write did to one object.
type change struct {
	revision int64
	time     time.Time
	client   string
	user     string
	what     fakeapi.Change
	object   fakeapi.Object // nil for a deletion
}

func (c *change) key() objectKey { return objectKey{c.what.Resource, c.what.Namespace, c.what.Name} }

// harvest reads the changes that were made since the last call, before compaction removes
// them. It returns the newest revision whose changes are read.
func (t *trial) harvest() (revision int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.srv.Writes(t.next) {
		t.next = w.Revision + 1
		for _, c := range progress(w) {
			h := change{revision: w.Revision, time: w.Time, client: clientOf(w.Writer.UserAgent), user: w.Writer.User, what: c}
			if c.Type != fakeapi.Deleted {
				h.object, _ = t.srv.Get(c.Resource, c.Namespace, c.Name, fakeapi.AtRevision(w.Revision)) // nil if it was compacted by someone else
			}
			t.changes = append(t.changes, h)
		}
	}
	return t.next - 1
}

// summarize finds what oracles and the search compare.
func (o *outcome) summarize(pace Pace) {
	n := newNormalizer(o.changes)
	o.replay(n)
	o.findOrphans(n)
	o.countRequests(n, pace)
}

// replay follows the changes: it sets final, states, at and totals.
func (o *outcome) replay(n *normalizer) {
	live := map[objectKey]string{}
	var state uint64
	o.states, o.at, o.totals = map[uint64]bool{}, map[int64]uint64{}, map[objectKey]totals{}
	for i := range o.changes {
		c := &o.changes[i]
		key := c.key()
		class := n.class(key)
		if old, ok := live[key]; ok {
			state ^= hashOf(class, old)
			delete(live, key)
		}
		if c.object != nil {
			live[key] = n.text(c.object)
			state ^= hashOf(class, live[key])
		}
		o.states[state] = true
		o.at[c.revision] = state
		t := o.totals[class]
		switch c.what.Type {
		case fakeapi.Added:
			t.created++
			t.now++
			t.most = max(t.most, t.now)
		case fakeapi.Deleted:
			t.deleted++
			t.now--
		}
		o.totals[class] = t
	}
	o.final = map[objectKey][]string{}
	for key, text := range live {
		o.final[n.class(key)] = append(o.final[n.class(key)], text)
	}
	for _, texts := range o.final {
		slices.Sort(texts)
	}
}

// findOrphans sets orphans: the objects whose owners were all deleted in the run.
func (o *outcome) findOrphans(n *normalizer) {
	live := map[objectKey]*change{}
	deleted := map[string]string{} // objects by UID
	for i := range o.changes {
		c := &o.changes[i]
		key := c.key()
		if before := live[key]; before != nil && c.what.Type != fakeapi.Modified {
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

// countRequests sets attempts, invalid and failures. A request has failed at the end if the
// system should be calm then; a watch that ends within a second has failed.
func (o *outcome) countRequests(n *normalizer, pace Pace) {
	o.attempts, o.invalid, o.failures = map[objectKey]int{}, map[objectKey]string{}, map[string]int{}
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
			o.failures[fmt.Sprintf("%s of %s by %s", q.route.Verb, q.path, q.client)]++
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
// controllers of the server.
func (o *outcome) workloadChanges() []*change {
	system := map[string]bool{}
	for _, q := range o.requests {
		system[q.client] = true
	}
	var out []*change
	for i := range o.changes {
		if c := &o.changes[i]; !system[c.client] && !strings.HasPrefix(c.user, "system:") {
			out = append(out, c)
		}
	}
	return out
}

func hashOf(key objectKey, text string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s", key.resource, key.namespace, key.name, text)
	return h.Sum64()
}

// A normalizer removes from objects what differs from run to run: generated names, UIDs,
// versions, times and allocated addresses.
type normalizer struct {
	classes map[objectKey]objectKey
	names   *strings.Replacer // of generated names; nil if there are none
}

func newNormalizer(changes []change) *normalizer {
	n := &normalizer{classes: map[objectKey]objectKey{}}
	generated := map[string]string{}
	for i := range changes {
		c := &changes[i]
		if c.object == nil {
			continue
		}
		if name := stableName(c.object); name != c.what.Name {
			key := c.key()
			key.name = name
			n.classes[c.key()] = key
			generated[c.what.Name] = name
		}
	}
	var pairs []string
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(generated))) { // longer ones first
		pairs = append(pairs, name, generated[name])
	}
	if pairs != nil {
		n.names = strings.NewReplacer(pairs...)
	}
	return n
}

// class returns the key that objects have which should be equal in all runs.
func (n *normalizer) class(key objectKey) objectKey {
	if class, ok := n.classes[key]; ok {
		return class
	}
	return key
}

// text returns the normalized object as JSON.
func (n *normalizer) text(o fakeapi.Object) string {
	generation := any(nil)
	out := make(map[string]any, len(o))
	for k, v := range o {
		if k != "metadata" {
			out[k] = v
			continue
		}
		meta, _ := v.(map[string]any)
		kept := make(map[string]any, len(meta))
		for k, v := range meta {
			switch k {
			case "uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink":
			case "generation":
				generation = v
			case "annotations":
				if v = withoutTriggerTime(v); v != nil {
					kept[k] = v
				}
			default:
				kept[k] = v
			}
		}
		out[k] = kept
	}
	b, err := json.Marshal(n.value("", out, generation))
	if err != nil {
		return err.Error() // unreachable: the object was decoded from JSON
	}
	return string(b)
}

// withoutTriggerTime returns annotations without the time of the last change of Endpoints.
// Endpoints have it if the change is that of a Pod and not that of a Service.
func withoutTriggerTime(annotations any) any {
	const triggerTime = "endpoints.kubernetes.io/last-change-trigger-time"
	m, ok := annotations.(map[string]any)
	if _, found := m[triggerTime]; !ok || !found {
		return annotations
	}
	m = maps.Clone(m)
	if delete(m, triggerTime); len(m) == 0 {
		return nil
	}
	return m
}

// uidLength is the length of a UID.
const uidLength = 36

var (
	uidPattern  = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	timePattern = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`)
)

// value returns a normalized value of the field with a name.
func (n *normalizer) value(field string, v any, generation any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = n.value(k, e, generation)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = n.value(field, e, generation)
		}
		return out
	case string:
		switch field {
		case "clusterIP", "clusterIPs", "podIP", "ip":
			if v != "None" && v != "" {
				return "<ip>"
			}
		case "containerID":
			return "<id>"
		case "resourceVersion":
			return "<version>"
		}
		if len(v) >= len("2006-01-02T15:04:05Z") && v[4] == '-' && timePattern.MatchString(v) {
			return "<time>"
		}
		if len(v) == uidLength && uidPattern.MatchString(v) {
			return "<uid>"
		}
		if n.names != nil {
			return n.names.Replace(v)
		}
		return v
	}
	switch field {
	case "observedGeneration":
		if v == generation {
			return "<current>"
		}
		return "<old>"
	case "nodePort", "healthCheckNodePort":
		return "<port>"
	}
	return v
}
