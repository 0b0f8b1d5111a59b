package story

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/journal"
)

const (
	minLoop = 5                // writes
	loopGap = 10 * time.Second // between two writes of a loop
)

// A Loop is a client that writes the same values to an object again and again: at least five
// times, each less than ten seconds after the time before. Moment is that of the last write.
type Loop struct {
	Moment
	Place
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
	effect     string // of Change.effect
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
		add(r.Moment, r.Revision, r.Client, c.Target, c.effect(), c.effectText())
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
	switch r.Method {
	case http.MethodPut, http.MethodPatch, http.MethodDelete:
		return r.Code < http.StatusMultipleChoices && r.Name != ""
	}
	return false
}

// timePattern matches a time in JSON.
var timePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"`)
})

// effect returns a text that is equal for changes after which the object is the same, in the
// parts that they change: its spec, its status, its data or its metadata. Times are equal to
// each other, and generations do not count. So a rollout, in which a number goes up and down
// but another one only up, has no two changes with the same effect.
func (c *Change) effect() string {
	if c.Type != journal.Modified {
		return string(c.Type)
	}
	parts := map[string]any{}
	for _, f := range c.Fields {
		name, _, _ := strings.Cut(f.Path, ".")
		parts[name] = withoutGenerations(name, c.object[name])
	}
	return timePattern().ReplaceAllString(encode(parts), "time")
}

// withoutGenerations returns the member of an object that has a name, without generations and
// what ignored has.
func withoutGenerations(path string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			if inner := path + "." + name; !ignored[inner] && !strings.HasSuffix(strings.ToLower(name), "generation") {
				out[name] = withoutGenerations(inner, e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutGenerations(path+"[]", e)
		}
		return out
	}
	return v
}

// effectText returns what a change did in words.
func (c *Change) effectText() string {
	switch c.Type {
	case journal.Added:
		return "created"
	case journal.Deleted:
		return "deleted"
	}
	return briefFields(c.Fields)
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
