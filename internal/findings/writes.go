package findings

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/story"
)

// staleWrites finds writes that replace a value of another client which the writer has not seen.
func (b *builder) staleWrites() {
	arrived := map[int64]int64{} // of the requests that wrote, by revision
	for i := range b.requests {
		if r := &b.requests[i]; r.What.Revision != 0 && r.Verb != "get" && r.Verb != "list" {
			arrived[r.What.Revision] = r.What.Came
		}
	}
	last := map[story.Target]*story.Revision{}
	for i := range b.Story.Revisions {
		rev := &b.Story.Revisions[i]
		for j := range rev.Changes {
			c := &rev.Changes[j]
			previous := last[c.Target]
			last[c.Target] = rev
			came, ok := arrived[rev.Revision]
			if previous == nil || !ok || c.Type != journal.Modified || isRenewed(c.Resource) {
				continue
			}
			if clientOf(previous.Client) == clientOf(rev.Client) || b.knew(clientOf(rev.Client), c.Target, previous.Revision, came) {
				continue
			}
			if lost := overlap(c, previous); lost != "" {
				b.add("stale-write", clientOf(rev.Client), c.Resource, fmt.Sprintf("%s of %s replaced %s, which %s had written in r%d and it had not seen",
					rev.Verb, name(c.Target), lost, previous.Client, previous.Revision), "", rev.Order)
			}
		}
	}
}

// knew reports whether a client had seen a revision of an object before a position in the journal.
func (b *builder) knew(who client, what story.Target, revision, before int64) bool {
	path := strings.TrimPrefix(what.Namespace+"/"+what.Name, "/")
	for i := range b.Story.Readers {
		r := &b.Story.Readers[i]
		if clientOf(r.Client) != who || r.Resource != what.Resource || r.Kind != story.GetReader && !covers(r.Target, what) {
			continue
		}
		for _, m := range r.Marks {
			if m.Order > before {
				break
			}
			if m.Revision >= revision && (r.Kind != story.GetReader || m.Name == path) {
				return true
			}
		}
	}
	return false
}

// overlap returns a field that both a change and the revision before it have changed in an object.
func overlap(c *story.Change, previous *story.Revision) string {
	for i := range previous.Changes {
		p := &previous.Changes[i]
		if p.Target != c.Target || p.Type != journal.Modified {
			continue
		}
		for _, f := range c.Fields {
			if f.Path == "metadata.generation" {
				continue
			}
			if slices.ContainsFunc(p.Fields, func(g story.Field) bool { return g.Path == f.Path }) {
				return f.Path
			}
		}
	}
	return ""
}

// minLater is how many requests of a client after a conflict, or after the deletion of an object,
// show that it does something else.
const minLater = 10

// conflicts finds conflicts of a client that has not tried to write the object again. A client that
// watches the object has got the newer version, by which it is reconciled again, and may find that
// nothing is left to write.
func (b *builder) conflicts() {
	for i := range b.requests {
		r := &b.requests[i]
		if r.What.Code != http.StatusConflict || r.Verb != "update" && r.Verb != "patch" || r.What.Apply || isRenewed(r.resource()) {
			continue
		}
		later, retried := 0, false
		for j := i + 1; j < len(b.requests) && !retried; j++ {
			next := &b.requests[j]
			if next.client() != r.client() {
				continue
			}
			later++
			retried = next.target() == r.target() && next.Verb != "watch" && (next.Verb != "get" || next.What.Code == http.StatusNotFound)
		}
		if !retried && later >= minLater && !b.watched(r) {
			b.add("conflict-not-retried", r.client(), r.resource(), fmt.Sprintf("409 for %s, and %d other requests later no further write of it", name(r.target()), later), b.text(r), r.Order)
		}
	}
}

// watched reports whether the client of a request had a watch of its object when it was answered.
func (b *builder) watched(r *request) bool {
	what := r.target()
	return slices.ContainsFunc(b.Story.Readers, func(w story.Reader) (open bool) {
		if w.Kind != story.WatchReader || clientOf(w.Client) != r.client() || !covers(w.Target, what) {
			return false
		}
		for _, m := range w.Marks {
			if m.Order > r.Order {
				break
			}
			open = m.Kind != story.EndMark
		}
		return open
	})
}

// loops finds clients that write the same values again and again.
func (b *builder) loops() {
	for i := range b.Story.Loops {
		l := &b.Story.Loops[i]
		if l.Effect == "nothing" {
			continue // idleWrites finds it
		}
		text := fmt.Sprintf("wrote %s %d times: %s", name(l.Target), len(l.Writes), l.Effect)
		for j := range b.Story.Loops {
			if other := &b.Story.Loops[j]; other.Target == l.Target && clientOf(other.Client) != clientOf(l.Client) {
				text += fmt.Sprintf(", against %s, which writes %s", other.Client, other.Effect)
			}
		}
		b.add("loop", clientOf(l.Client), l.Resource, text, "", l.Writes[0])
	}
}

// minIdle is how many writes of an object that change nothing are a finding.
const minIdle = 3

// idleWrites finds clients that write objects without changing them.
func (b *builder) idleWrites() {
	type key struct {
		client
		story.Target
		subresource string
	}
	counts := map[key]int{}
	for i := range b.requests {
		r := &b.requests[i]
		if r.What.Code >= http.StatusMultipleChoices || r.What.Revision != 0 || r.Verb != "update" && r.Verb != "patch" || !r.IsResource || r.query.Has("dryRun") {
			continue
		}
		k := key{r.client(), r.target(), r.Subresource}
		if counts[k]++; counts[k] == minIdle {
			b.add("idle-write", r.client(), r.resource(), fmt.Sprintf("wrote %s %d times and changed nothing", name(k.Target), minIdle), b.text(r), r.Order)
		}
	}
}
