package mvcc

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestModel applies random operations to a store and to a model that keeps a copy of
// each revision, and compares them. A failure has the seed; -run 'TestModel/seed=N$'
// repeats it.
func TestModel(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			exercise(t, random.IntN, func(step int) bool { return step < 300 })
		})
	}
}

// FuzzModel is TestModel with choices from the fuzzer, one byte each.
func FuzzModel(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		seed := make([]byte, 2000)
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		choose := func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			c := choices[0]
			choices = choices[1:]
			return int(c) % n
		}
		exercise(t, choose, func(int) bool { return len(choices) > 0 })
	})
}

var (
	modelKeys     = []string{"", "a", "a/1", "a/2", "a/3", "ab", "b", "b/1", "b\xff", "b\xff\xff", "c/1/2", "\xff"}
	modelPrefixes = []string{"", "a", "a/", "a/1", "b", "b\xff", "c/1/", "\xff", "zzz"}
)

// A sized is a value with a size.
type sized int

func (v sized) Size() int64 { return int64(v) * 10 }

// A world is a store and its model.
type world struct {
	t      *testing.T
	choose func(n int) int
	store  *Store[sized]
	opts   Options
	clock  time.Time

	states    []map[string]*Item[sized] // by revision
	log       []logged                  // by revision
	compacted Revision
	grown     int64      // the size of the log at the last call of Options.Grown
	calls     []Revision // of Options.Grown
	watchers  []*modelWatcher
	replicas  []*modelReplica
}

// A logged is a change in the log.
type logged struct {
	*Transaction[sized]
	event  Event[sized]
	before int64 // bytes of all earlier changes
}

// A modelReplica is the model of a replica.
type modelReplica struct {
	replica *Replica[sized]
	lag     Lag
	at      Revision // while it lags
}

// A modelWatcher is the model of a watcher. It searches the whole log each time.
type modelWatcher struct {
	watcher *Watcher[sized]
	replica *modelReplica // nil for a watcher of the store
	prefix  string
	next    Revision
	synced  Revision // the revision of the store when the watcher was synced, -1 if it is not
}

// exercise does random steps in a growing number of worlds, which are forks of each
// other.
func exercise(t *testing.T, choose func(n int) int, more func(step int) bool) {
	first := &world{t: t, choose: choose, clock: time.Unix(1000, 0)}
	first.states = []map[string]*Item[sized]{nil, {}}
	first.log = []logged{{}, {}} // no change has revision 1
	first.opts = first.options()
	first.store = New[sized](first.opts)

	worlds := []*world{first}
	for step := 0; more(step); step++ {
		w := worlds[choose(len(worlds))]
		switch op := choose(24); {
		case op < 8:
			w.update()
			w.latest()
		case op < 10:
			w.view()
		case op == 10:
			w.compact()
		case op == 11:
			w.clock = w.clock.Add(time.Duration(choose(8)) * time.Second)
		case op < 14:
			w.watch()
		case op < 18:
			w.poll()
		case op == 18 && len(worlds) < 4:
			worlds = append(worlds, w.fork())
		case op == 20:
			w.lag()
		case op == 21:
			w.advance()
		case op == 22:
			w.trim()
		default:
			w.inspect()
		}
	}
	for _, w := range worlds {
		w.inspect()
	}
}

func (w *world) options() Options {
	return Options{
		Now:           func() time.Time { return w.clock },
		KeepRevisions: int64(w.choose(3) * 5),
		KeepFor:       time.Duration(w.choose(3)*10) * time.Second,
		KeepBytes:     int64(w.choose(3) * w.choose(12) * 500),
		Grown:         func(compacted Revision) { w.calls = append(w.calls, compacted) },
	}
}

func (w *world) rev() Revision { return Revision(len(w.states) - 1) }

func (w *world) key() string { return modelKeys[w.choose(len(modelKeys))] }

func (w *world) prefix() string { return modelPrefixes[w.choose(len(modelPrefixes))] }

// someRevision returns a random revision, which can usually be read.
func (w *world) someRevision() Revision { return Revision(w.choose(len(w.states) + 2)) }

// newest returns the first revision of the newest transaction, 0 if there is none.
func (w *world) newest() Revision {
	if tx := w.log[w.rev()].Transaction; tx != nil {
		return tx.First()
	}
	return 0
}

// expire updates the model's compacted revision.
func (w *world) expire() {
	if w.opts.KeepRevisions > 0 {
		w.compacted = max(w.compacted, min(w.rev()-Revision(w.opts.KeepRevisions), w.newest()))
	}
	if w.opts.KeepFor > 0 {
		for rev := w.rev(); rev >= 2 && rev > w.compacted; rev-- {
			if !w.log[rev].Time.After(w.clock.Add(-w.opts.KeepFor)) {
				w.compacted = rev
			}
		}
	}
}

func (w *world) requireRevisionError(err, cause error) {
	w.t.Helper()
	require.ErrorIs(w.t, err, cause)
	var re *RevisionError
	require.ErrorAs(w.t, err, &re)
	require.Equal(w.t, w.rev(), re.Current)
	require.Equal(w.t, w.compacted, re.Compacted)
}

func inRange(key, from, to string) bool { return key >= from && (to == "" || key < to) }

// between returns the items of a state in a range, sorted by key.
func between(state map[string]*Item[sized], from, to string) []*Item[sized] {
	var items []*Item[sized]
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if inRange(key, from, to) {
			items = append(items, state[key])
		}
	}
	return items
}

func (w *world) update() {
	defer w.moves()()
	before := w.rev()
	state := w.states[before]
	var states []map[string]*Item[sized]
	var events []Event[sized]
	// change adds a change of a key, to nil for a deletion.
	change := func(key string, to *Item[sized]) {
		prev := state[key]
		state = maps.Clone(state)
		if e := (Event[sized]{Put, to, prev}); to != nil {
			state[key] = to
			events = append(events, e)
		} else {
			delete(state, key)
			events = append(events, Event[sized]{Delete, &Item[sized]{Key: key, Modified: before + Revision(len(events)) + 1}, prev})
		}
		states = append(states, state)
	}
	fail := w.choose(8) == 0
	failed := errors.New("failed")

	got, err := w.store.Update(func(tx *Txn[sized]) error {
		for range w.choose(14) {
			key, rev := w.key(), before+Revision(len(events))+1
			require.Equal(w.t, rev, tx.Revision())
			switch w.choose(6) {
			case 0, 1, 2:
				item := &Item[sized]{Key: key, Value: sized(w.choose(100)), Created: rev, Modified: rev, Version: 1}
				if prev := state[key]; prev != nil {
					item.Created, item.Version = prev.Created, prev.Version+1
				}
				tx.Put(key, item.Value)
				change(key, item)
			case 3:
				require.Equal(w.t, state[key] != nil, tx.Delete(key))
				if state[key] != nil {
					change(key, nil)
				}
			case 4:
				item, ok := tx.Get(key)
				require.Equal(w.t, state[key] != nil, ok)
				require.Equal(w.t, state[key], item)
			case 5:
				to := w.key()
				require.Equal(w.t, between(state, key, to), slices.Collect(tx.Range(key, to)))
			}
		}
		require.Equal(w.t, events, tx.Events())
		if fail {
			return failed
		}
		return nil
	})
	if fail {
		require.Same(w.t, failed, err)
		return
	}
	require.NoError(w.t, err)
	if len(events) > 0 {
		w.append(&Transaction[sized]{Revision: before + Revision(len(events)), Time: w.clock, Events: events}, states)
	}
	require.Equal(w.t, w.rev(), got)
}

func (w *world) view() {
	w.expire()
	at := w.someRevision()
	v, err := w.store.View(at)
	switch {
	case at == 0:
		at = w.rev()
	case at > w.rev():
		w.requireRevisionError(err, ErrFutureRevision)
		return
	case at < w.compacted:
		w.requireRevisionError(err, ErrCompacted)
		return
	}
	require.NoError(w.t, err)
	require.Equal(w.t, at, v.Revision())

	if w.choose(4) == 0 {
		// What happens later must not show in the view.
		w.update()
		w.compact()
	}
	state := w.states[at]
	for _, key := range modelKeys {
		item, ok := v.Get(key)
		require.Equal(w.t, state[key], item, "%q at %d", key, at)
		require.Equal(w.t, state[key] != nil, ok)
	}
	for _, r := range [][2]string{{w.key(), w.key()}, {w.key(), ""}, {"", ""}} {
		want := between(state, r[0], r[1])
		require.Equal(w.t, want, slices.Collect(v.Range(r[0], r[1])), "%q at %d", r, at)
		require.Equal(w.t, len(want), v.Count(r[0], r[1]))
		require.Equal(w.t, len(want), w.store.Count(v, r[0], r[1]), "%q at %d", r, at)
		if page := w.choose(len(want) + 1); page > 0 {
			next := want[page-1].Key + "\x00"
			require.Equal(w.t, len(want)-page, w.store.CountAfter(v, r[0], next, r[1], page), "%q after %q at %d", r, next, at)
			require.Equal(w.t, len(want)-page, w.store.Count(v, next, r[1]), "%q after %q at %d", r, next, at)
		}
		n := w.choose(len(want) + 1)
		for item := range v.Range(r[0], r[1]) {
			if n--; n <= 0 {
				require.Contains(w.t, want, item)
				break
			}
		}
	}
}

// latest reads some keys and ranges of the newest revision.
func (w *world) latest() {
	state := w.states[w.rev()]
	for range w.choose(8) {
		key := w.key()
		item, ok, at := w.store.Latest(key)
		require.Equal(w.t, state[key], item, "%q", key)
		require.Equal(w.t, state[key] != nil, ok)
		require.Equal(w.t, w.rev(), at)
	}
	for range w.choose(8) {
		prefix := w.prefix()
		items, ok := w.store.LatestFew(prefix)
		require.True(w.t, ok)
		require.Equal(w.t, between(state, prefix, PrefixEnd(prefix)), items, "%q", prefix)
	}
}

func (w *world) compact() {
	w.expire()
	rev := w.someRevision()
	err := w.store.Compact(rev)
	switch {
	case rev <= w.compacted:
		w.requireRevisionError(err, ErrCompacted)
	case rev > w.rev():
		w.requireRevisionError(err, ErrFutureRevision)
	default:
		require.NoError(w.t, err)
		w.compacted = rev
		oldest, ok := w.store.log.entries.Min()
		require.True(w.t, ok && oldest.rev >= rev || rev == 1, "everything below is freed")
	}
	require.Equal(w.t, w.compacted, w.store.Compacted())
}

// trim frees what is compacted.
func (w *world) trim() {
	w.expire()
	w.store.Trim()
	require.Equal(w.t, w.compacted, w.store.Compacted())
	oldest, ok := w.store.log.entries.Min()
	require.True(w.t, !ok || oldest.rev >= w.compacted, "everything below is freed")
}

// end returns the newest revision that a replica shows, or the store if m is nil.
func (w *world) end(m *modelReplica) Revision {
	if m == nil || m.lag == (Lag{}) {
		return w.rev()
	}
	return m.at
}

// bound returns the last revision that a replica's lag allows, regardless of time.
func (w *world) bound(m *modelReplica) Revision {
	bound := w.rev() - Revision(m.lag.Revisions)
	if m.lag.Until > 0 {
		bound = min(bound, m.lag.Until)
	}
	return bound
}

// advanceOne moves a replica to the newest revision that can be viewed and that its lag
// allows.
func (w *world) advanceOne(m *modelReplica) {
	to := m.at
	for rev := max(m.at+1, w.compacted); rev <= w.bound(m); rev++ {
		if m.lag.By == 0 || !w.log[rev].Time.After(w.clock.Add(-m.lag.By)) {
			to = rev
		}
	}
	m.at = to
}

// append adds a transaction to the log, with the states after its changes, compacts the
// history, and moves the replicas.
func (w *world) append(tx *Transaction[sized], states []map[string]*Item[sized]) {
	for i, e := range tx.Events {
		w.log = append(w.log, logged{tx, e, w.added()})
		w.states = append(w.states, states[i])
	}
	w.expire()
	w.fit()
	for _, m := range w.replicas {
		w.advanceOne(m)
	}
}

// added returns the bytes of all changes, compacted ones included.
func (w *world) added() int64 {
	newest := &w.log[len(w.log)-1]
	return newest.before + newest.bytes()
}

// bytes returns the bytes of a change.
func (l *logged) bytes() int64 {
	switch {
	case l.Transaction == nil:
		return 0
	case l.event.Prev != nil:
		return bytesPerEvent + l.event.Prev.Value.Size()
	}
	return bytesPerEvent
}

// fit updates the model's compacted revision as Options.KeepBytes requires after a
// transaction.
func (w *world) fit() {
	keep := w.opts.KeepBytes
	var calls []Revision
	if keep > 0 {
		// from returns the bytes of the history that is left by a compaction.
		from := func(rev Revision) (bytes int64) {
			for ; rev <= w.rev(); rev++ {
				bytes += w.log[rev].bytes()
			}
			return bytes
		}
		if readable := from(w.compacted); readable > keep || w.added()-w.grown > keep/3 {
			calls, w.grown = []Revision{0}, w.added()
			if newest := w.newest(); readable > keep && max(w.compacted, 2) < newest {
				w.compacted = max(w.compacted+1, 3)
				for w.compacted < newest && from(w.compacted) > keep-keep/4 {
					w.compacted++
				}
				calls[0] = w.compacted
			}
		}
		kept := w.store.HistoryBytes()
		require.True(w.t, kept <= keep || kept == from(w.newest()), "%d of at most %d bytes", kept, keep)
	}
	require.Equal(w.t, calls, w.calls)
	w.calls = nil
}

// moves returns a check that replicas have signalled their moves since.
func (w *world) moves() (check func()) {
	type state struct {
		*modelReplica
		end   Revision
		moved <-chan struct{}
	}
	var before []state
	for _, m := range w.replicas {
		before = append(before, state{m, w.end(m), m.replica.Moved()})
	}
	return func() {
		for _, m := range before {
			select {
			case <-m.moved:
			default:
				require.Equal(w.t, m.end, w.end(m.modelReplica), "it moved without a signal")
			}
		}
	}
}

// lag creates a replica or changes the lag of one.
func (w *world) lag() {
	w.expire()
	if len(w.replicas) == 0 || len(w.replicas) < 3 && w.choose(3) == 0 {
		m := &modelReplica{replica: w.store.Replica()}
		if len(w.replicas) > 0 && w.choose(2) == 0 {
			from := w.replicas[w.choose(len(w.replicas))]
			m.lag, m.at = from.lag, from.at
			m.replica = from.replica.Fork(w.store)
			w.advanceOne(m)
		}
		w.replicas = append(w.replicas, m)
		return
	}
	m := w.replicas[w.choose(len(w.replicas))]
	defer w.moves()()
	m.at = w.end(m)
	m.lag = Lag{}
	if w.choose(2) == 0 {
		m.lag.By = time.Duration(w.choose(15)) * time.Second
	}
	if w.choose(2) == 0 {
		m.lag.Revisions = int64(w.choose(8))
	}
	if w.choose(3) == 0 {
		m.lag.Until = w.someRevision() - 1
	}
	m.replica.SetLag(m.lag)
	if m.lag.Until != 0 {
		m.lag.Until = max(m.lag.Until, m.at)
	}
	require.Equal(w.t, m.lag, m.replica.Lag())
	w.advanceOne(m)
}

// advance calls Advance or Skip for a replica.
func (w *world) advance() {
	if len(w.replicas) == 0 {
		return
	}
	w.expire()
	m := w.replicas[w.choose(len(w.replicas))]
	defer w.moves()()
	before := w.end(m)
	if w.choose(4) == 0 {
		to := w.someRevision()
		m.replica.Skip(to)
		if to > m.at {
			m.at = min(max(to, w.compacted), w.rev())
		}
	} else {
		due, ok := m.replica.Due()
		w.advanceOne(m)
		m.replica.Advance()
		require.False(w.t, ok && !due.After(w.clock) && w.end(m) == before, "it was due and did not move")
		require.False(w.t, (!ok || due.After(w.clock)) && w.end(m) > before, "it moved and was not due")
	}
}

func (w *world) watch() {
	w.expire()
	m := &modelWatcher{prefix: w.prefix(), next: w.someRevision(), synced: -1}
	var err error
	if i := w.choose(4); i < len(w.replicas) {
		m.replica = w.replicas[i]
		m.watcher, err = m.replica.replica.Watch(m.prefix, m.next)
	} else {
		m.watcher, err = w.store.Watch(m.prefix, m.next)
	}
	if m.next == 0 {
		m.next = w.end(m.replica) + 1
	}
	if m.next <= w.end(m.replica) && m.next < w.compacted {
		w.requireRevisionError(err, ErrCompacted)
		return
	}
	require.NoError(w.t, err)
	m.next = max(m.next, 2)
	w.updateSynced(m)
	w.watchers = append(w.watchers, m)
}

// updateSynced records whether a watcher has returned all events.
func (w *world) updateSynced(m *modelWatcher) {
	m.synced = -1
	if end := w.end(m.replica); m.next > end && !w.lags(m) {
		m.synced = w.rev()
	}
}

func (w *world) lags(m *modelWatcher) bool { return m.replica != nil && m.replica.lag != (Lag{}) }

// sees reports whether a watcher returns the change of a revision.
func (w *world) sees(m *modelWatcher, rev Revision) bool {
	return w.log[rev].Transaction != nil && strings.HasPrefix(w.log[rev].event.Item.Key, m.prefix)
}

// missed returns the first revision with a matching event since the watcher was synced,
// 0 if there is none.
func (w *world) missed(m *modelWatcher) Revision {
	for rev := m.synced + 1; rev <= w.rev(); rev++ {
		if w.sees(m, rev) {
			return rev
		}
	}
	return 0
}

func (w *world) poll() {
	if len(w.watchers) == 0 {
		return
	}
	w.expire()
	i := w.choose(len(w.watchers))
	m := w.watchers[i]
	if w.choose(10) == 0 {
		m.watcher.Close()
		m.watcher.Close()
		_, err := m.watcher.Poll(0)
		require.ErrorIs(w.t, err, ErrClosed)
		w.watchers = slices.Delete(w.watchers, i, i+1)
		return
	}

	end := w.end(m.replica)
	progress := m.next - 1
	idle := false
	if m.synced >= 0 {
		switch missed := w.missed(m); missed {
		case 0:
			idle = true
			progress = max(progress, end)
		default:
			progress = max(progress, min(missed-1, end))
		}
	}
	if w.lags(m) {
		idle = progress >= end
	}
	require.Equal(w.t, w.compacted, w.store.Compacted())
	require.Equal(w.t, progress, m.watcher.Revision())
	select {
	case <-m.watcher.Wait():
		require.False(w.t, idle, "woken for nothing")
	default:
		require.True(w.t, idle, "not woken")
	}

	limit := w.choose(6)
	events, err := m.watcher.Poll(limit)
	m.next = progress + 1
	if m.next <= end && m.next < w.compacted {
		w.requireRevisionError(err, ErrCompacted)
		require.Empty(w.t, events)
		m.synced = -1
		return
	}
	require.NoError(w.t, err)
	var want []Event[sized]
	for m.next <= end && (limit == 0 || len(want) < limit) {
		if w.sees(m, m.next) {
			want = append(want, w.log[m.next].event)
		}
		m.next++
	}
	require.Equal(w.t, want, append([]Event[sized](nil), events...))
	w.updateSynced(m)
	require.Equal(w.t, m.next-1, m.watcher.Revision())
}

func (w *world) fork() *world {
	child := *w
	child.watchers = nil
	child.states = slices.Clone(w.states)
	child.log = slices.Clone(w.log)
	w.expire()
	child.compacted = w.compacted
	child.opts = child.options()
	child.store = w.store.Fork(child.opts)
	child.replicas = nil
	require.Equal(w.t, w.store.HistoryBytes(), child.store.HistoryBytes())
	child.expire()
	for _, m := range w.replicas {
		f := &modelReplica{replica: m.replica.Fork(child.store), lag: m.lag, at: m.at}
		child.advanceOne(f)
		child.replicas = append(child.replicas, f)
	}
	return &child
}

// inspect compares the log and checks the invariants of the store.
func (w *world) inspect() {
	w.expire()
	require.Equal(w.t, w.rev(), w.store.Revision())
	require.Equal(w.t, w.compacted, w.store.Compacted())

	from := w.someRevision()
	var want []*Transaction[sized]
	for rev := max(from, w.compacted, 2); rev <= w.rev(); rev++ {
		tx := w.log[rev].Transaction
		if skipped := rev - tx.First(); skipped > 0 {
			tx = &Transaction[sized]{tx.Revision, tx.Time, tx.Events[skipped:]}
		}
		want = append(want, tx)
		rev = tx.Revision
	}
	require.Equal(w.t, want, slices.Collect(w.store.Log(from)))

	lagging := 0
	for _, m := range w.replicas {
		end := w.end(m)
		require.Equal(w.t, end, m.replica.Revision())
		v := m.replica.View()
		require.Equal(w.t, end, v.Revision())
		require.Equal(w.t, between(w.states[end], "", ""), slices.Collect(v.Range("", "")), "at %d", end)
		if m.lag != (Lag{}) {
			lagging++
		}
	}
	require.Len(w.t, w.store.lagging, lagging)

	oldest := max(w.compacted, 1)
	at := w.clock.Add(-time.Duration(w.choose(30)) * time.Second)
	for rev := oldest + 1; rev <= w.rev() && !w.log[rev].Time.After(at); rev++ {
		oldest = rev
	}
	require.Equal(w.t, oldest, w.store.RevisionAt(at))

	type ended struct {
		key string
		end Revision
	}
	indexed := make(map[ended]*Item[sized])
	for e := range w.store.past.entries.Ascend {
		indexed[ended{e.key, e.end}] = e.item
	}
	logged := make(map[ended]*Item[sized])
	bytes := int64(0)
	for e := range w.store.log.entries.Ascend {
		bytes += w.log[e.rev].bytes()
		require.Equal(w.t, w.log[e.rev].event, *e.event())
		if prev := e.event().Prev; prev != nil {
			logged[ended{prev.Key, e.rev}] = prev
		}
	}
	require.Equal(w.t, logged, indexed, "the past is an index of the log")
	require.Equal(w.t, bytes, w.store.HistoryBytes(), "the bytes of the log")
	var live int64
	for _, item := range w.states[w.rev()] {
		live += item.Value.Size()
	}
	require.Equal(w.t, live, w.store.LiveBytes())

	groups := make(map[string]int)
	for _, m := range w.watchers {
		groups[m.prefix]++
	}
	require.Len(w.t, w.store.groups.byPrefix, len(groups))
	lengths := make(map[int]int)
	for prefix, n := range groups {
		require.Equal(w.t, n, w.store.groups.byPrefix[prefix].watchers)
		lengths[len(prefix)]++
	}
	require.Len(w.t, w.store.groups.lengths, len(lengths))
	for _, l := range w.store.groups.lengths {
		require.Equal(w.t, lengths[l.length], l.groups)
	}
}
