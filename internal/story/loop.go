package story

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/storage"
)

const (
	minLoop = 5                // writes
	loopGap = 10 * time.Second // between two writes of a loop
)

// A Loop is a client that writes an object again and again with the same effect: at least
// five times, each less than ten seconds after the time before. Moment is that of the last
// write.
type Loop struct {
	Moment
	Client Client `json:"client"`
	Target
	// Effect describes what the last write changed: "spec.replicas 1 → 5", "created",
	// "deleted" or "nothing".
	Effect string `json:"effect"`
	// Lasted is the time from the first write to the last one, in microseconds.
	Lasted int64 `json:"lasted"`
	// Writes are the writes, as their Moment.Order.
	Writes []int64 `json:"writes"`
	// Revisions are the revisions of the writes; empty if they changed nothing.
	Revisions []int64 `json:"revisions,omitempty"`
}

// A loopKey identifies the writes that may be a loop.
type loopKey struct {
	name, user string
	target     Target
	effect     string // with values
}

// loops returns the loops of the story, sorted by their ends.
func (s *Story) loops() []Loop {
	open := map[loopKey]*Loop{}
	var out []Loop
	end := func(l *Loop) {
		if l != nil && len(l.Writes) >= minLoop {
			out = append(out, *l)
		}
	}
	add := func(m Moment, revision int64, who Client, what Target, effect, text string) {
		key := loopKey{who.Name, who.User, what, effect}
		l := open[key]
		if l == nil || time.Duration(m.At-l.At)*time.Microsecond >= loopGap {
			end(l)
			l = &Loop{Client: who, Target: what, Moment: m}
			open[key] = l
		}
		l.Lasted += m.At - l.At
		l.Moment, l.Effect, l.Writes = m, text, append(l.Writes, m.Order)
		if revision != 0 {
			l.Revisions = append(l.Revisions, revision)
		}
	}
	for i := range s.Revisions {
		r := &s.Revisions[i]
		if len(r.Changes) != 1 || r.Omitted > 0 || isRenewed(r.Changes[0].Resource) {
			continue
		}
		c := &r.Changes[0]
		effect, text := c.effect()
		add(r.Moment, r.Revision, r.Client, c.Target, effect, text)
	}
	for i := range s.Requests {
		if r := &s.Requests[i]; r.isIdleWrite() && !isRenewed(r.Resource) {
			add(r.Moment, 0, r.Client, r.Target, "", "nothing")
		}
	}
	for _, l := range open {
		end(l)
	}
	slices.SortFunc(out, func(a, b Loop) int { return cmp.Compare(a.Order, b.Order) })
	return out
}

// isRenewed reports whether clients write the objects of a resource periodically.
func isRenewed(resource string) bool {
	switch resource {
	case "leases.coordination.k8s.io", "events", "events.events.k8s.io":
		return true
	}
	return false
}

// isIdleWrite reports whether the request is a write of an object that changed nothing.
func (r *Request) isIdleWrite() bool {
	switch r.Verb {
	case "update", "patch", "delete":
		return r.Code < http.StatusMultipleChoices && r.Name != ""
	}
	return false
}

// timePattern matches a time in JSON.
var timePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"`)
})

// effect returns what a change did: in a form that is equal for changes with the same
// effect, and in words. Times are equal to each other, and so are generations.
func (c *Change) effect() (key, text string) {
	switch c.Type {
	case storage.Added:
		return string(c.Type), "created"
	case storage.Deleted:
		return string(c.Type), "deleted"
	}
	var b strings.Builder
	b.WriteString(string(c.Type))
	for _, f := range c.Fields {
		b.WriteString("\n" + f.Path)
		if strings.HasSuffix(strings.ToLower(f.Path), "generation") {
			continue
		}
		value, err := json.Marshal(f.New)
		if err != nil {
			panic("story: a decoded value does not encode: " + err.Error()) // unreachable: it came from JSON
		}
		b.Write(timePattern().ReplaceAll(value, []byte("time")))
	}
	return b.String(), briefFields(c.Fields)
}

// line describes the loop: "loop: manager wrote pods default/a 41 times in 3.2s, from r7 to
// r47: status.phase = Running".
func (l *Loop) line() string {
	lasted := (time.Duration(l.Lasted) * time.Microsecond).Round(time.Millisecond)
	line := fmt.Sprintf("loop: %s wrote %s %d times in %v", l.Client, l.Target, len(l.Writes), lasted)
	if n := len(l.Revisions); n > 0 {
		line += fmt.Sprintf(", from r%d to r%d", l.Revisions[0], l.Revisions[n-1])
	}
	return line + ": " + l.Effect
}
