package control

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/internal/story"
	"github.com/kubefake/kubefake/mvcc"
)

// A Group is the clusters that share a clock and the order of what happens: often one. They
// settle together, because a client may read from one and write to another. It is safe for
// concurrent use.
type Group struct {
	clock *clock.Clock
	order *journal.Order

	mu      sync.Mutex // guards members
	members []*Control // of the first API servers, in the order of their starts
}

// NewGroup returns a group without clusters.
func NewGroup(c *clock.Clock) *Group { return &Group{clock: c, order: &journal.Order{}} }

// Fork returns a group without clusters, for forks of those of g. Its clock is a fork.
func (g *Group) Fork() *Group { return NewGroup(g.clock.Fork()) }

// Clock returns the clock of the clusters.
func (g *Group) Clock() *clock.Clock { return g.clock }

// NewJournal returns an empty journal for a cluster of the group.
func (g *Group) NewJournal() *journal.Journal { return journal.NewIn(g.order, g.clock.Now) }

// Add adds a cluster. It stays when it is closed: it has settled then, and its story is kept.
func (g *Group) Add(c *Control) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = append(g.members, c)
}

// all returns the clusters.
func (g *Group) all() []*Control {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.members)
}

// advance moves the clock forward. On a manual clock it runs what the controllers of all
// clusters have to do meanwhile, each thing at its time; at the same time those of the first
// cluster come first.
func (g *Group) advance(d time.Duration) error {
	if d < 0 {
		return g.clock.Advance(d)
	}
	members := g.all()
	for _, c := range members {
		c.cluster.Journal().RecordNote(journal.Note{Kind: journal.Clock, Text: d.String() + " ahead"})
	}
	if !g.clock.Manual() {
		return g.clock.Advance(d)
	}
	for runOutside(members) {
		at, ok := next(members)
		step := at.Sub(g.clock.Now())
		if !ok || step <= 0 || step > d {
			break
		}
		d -= step
		if err := g.clock.Advance(step); err != nil {
			return err
		}
	}
	err := g.clock.Advance(d)
	runOutside(members)
	return err
}

// runOutside runs what the controllers of clusters have to do now. It reports whether one of the
// clusters has controllers that may have more to do later.
func runOutside(members []*Control) (on bool) {
	for _, c := range members {
		on = c.manager.RunOutside() || on
	}
	return on
}

// next returns the next time at which a controller of the clusters has something to do; false if
// there is none.
func next(members []*Control) (first time.Time, ok bool) {
	for _, c := range members {
		if at, due := c.manager.Next(); due && (!ok || at.Before(first)) {
			first, ok = at, true
		}
	}
	return first, ok
}

// settle waits until the clusters have settled, as Control.Settle says.
func (g *Group) settle(ctx context.Context, o Settlement) error {
	members := g.all()
	came := make([]int64, len(members))
	for i, c := range members {
		came[i] = c.cluster.Journal().Order()
	}
	err := g.waitSettled(ctx, o, members)
	for i, c := range members {
		note := journal.Note{Kind: journal.Settle, Text: "the server has settled", Came: came[i], Revision: c.cluster.Store().Revision()}
		if err != nil {
			note.Text = "the wait ended before the server had settled"
		}
		c.cluster.Journal().RecordNote(note)
	}
	return err
}

// waitSettled is settle without its notes.
func (g *Group) waitSettled(ctx context.Context, o Settlement, members []*Control) error {
	asked, before := time.Now(), revisions(members)
	end := g.clock.Now().Add(o.Ahead)
	for {
		if err := settleNow(ctx, o.Quiet, asked, members); err != nil {
			return unsettled(err, members, before)
		}
		at, ok := next(members)
		if !ok || !g.clock.Manual() || at.After(end) {
			return nil
		}
		if err := g.clock.Advance(max(0, at.Sub(g.clock.Now()))); err != nil {
			return err
		}
	}
}

// revisions returns the newest revision of each cluster.
func revisions(members []*Control) []mvcc.Revision {
	out := make([]mvcc.Revision, len(members))
	for i, c := range members {
		out[i] = c.cluster.Store().Revision()
	}
	return out
}

// settleNow waits until the clusters have settled at their present time: all at the same time,
// because what one of them is asked may lead to a request to another. asked is when the test
// began to wait: a client that it has started just before may need time to connect.
func settleNow(ctx context.Context, quiet time.Duration, asked time.Time, members []*Control) error {
	var q quietTime
	for {
		before, busy := revisions(members), false
		for _, c := range members {
			if err := c.manager.RunContext(ctx); err != nil {
				return err
			}
		}
		var end time.Time
		for _, c := range members {
			state := c.activity.State()
			busy = busy || len(state.Busy) > 0
			end = latest(end, quietAt(state, quiet, asked))
		}
		wait := pollInterval
		if busy || !slices.Equal(before, revisions(members)) {
			q.restart()
		} else if left := q.left(end, time.Now()); left <= 0 {
			return nil
		} else {
			wait = q.next(left)
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// unsettled returns the error of settle: cause, what is left, and the writers of what was
// written most often since a revision of each cluster.
func unsettled(cause error, members []*Control, since []mvcc.Revision) error {
	reasons := []string{printable.Line(cause.Error())}
	var loops []string
	for i, c := range members {
		state, s := c.activity.State(), c.scrubber(false)
		for _, reason := range slices.Concat(state.Busy, state.Awaited) {
			reasons = append(reasons, c.labelled(printable.Line(s.Text(reason))))
		}
		for _, l := range c.loops(since[i], minLoop, "*") {
			loops = append(loops, c.labelled(l.line(s)))
		}
	}
	return fmt.Errorf("%w: %s", ErrUnsettled, strings.Join(append(reasons, loops...), "\n\t"))
}

// labelled returns a text about the cluster with its name, if it has one.
func (c *Control) labelled(text string) string {
	if c.name == "" {
		return text
	}
	return c.name + ": " + text
}

// Inject injects faults: those for a cluster with a name into that cluster, and the others into this
// one. It injects either all faults or none. It returns their rules in the order of the faults.
func (c *Control) Inject(list ...faults.Fault) ([]*fault.Rule, error) {
	sets := []*fault.Set{c.faults}
	of := map[*fault.Set][]int{} // indexes in list
	for i, f := range list {
		set := c.faultsOf(f.In)
		if !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
		of[set] = append(of[set], i)
	}
	out := make([]*fault.Rule, len(list))
	for _, set := range sets {
		part := make([]faults.Fault, len(of[set]))
		for n, i := range of[set] {
			part[n] = list[i]
		}
		rules, err := set.Inject(part...)
		if err != nil {
			for _, r := range out {
				if r != nil {
					r.Remove()
				}
			}
			return nil, err
		}
		for n, i := range of[set] {
			out[i] = rules[n]
		}
	}
	return out, nil
}

// faultsOf returns the faults of the cluster with a name. For "", for the own name, and for a name
// that no cluster has, they are the own ones.
func (c *Control) faultsOf(name string) *fault.Set {
	if name != c.name {
		for _, other := range c.group.all() {
			if other.name == name && name != "" {
				return other.faults
			}
		}
	}
	return c.faults
}

// Story returns what happened on the clusters of the group since they were fresh, under a title.
func (g *Group) Story(title string) *story.Story {
	members := g.all()
	if len(members) == 1 {
		return members[0].Story(title)
	}
	parts := make([]story.Part, len(members))
	for i, c := range members {
		parts[i] = story.Part{Cluster: c.name, Story: c.Story(title)}
	}
	return story.Join(title, parts)
}
