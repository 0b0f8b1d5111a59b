//go:build go1.25

package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// maxEntries is how many entries of a sort a journal keeps.
const maxEntries = 4096

func fixedTime() time.Time { return start }

// Entries of the same time have an order, across all sorts.
func TestOrder(t *testing.T) {
	j := journal.New(fixedTime)
	w := j.Open(journal.Watch{Resource: "pods", From: 3})
	j.RecordRequest(journal.Request{URI: "/a"}, j.Order())
	j.RecordNote(journal.Note{Kind: journal.Compaction, Revision: 7})
	w.Reached(4, start)
	w.End("timeout", 0)
	j.RecordRequest(journal.Request{URI: "/b"}, 1)

	watches := j.Watches()
	require.Len(t, watches, 1)
	assert.Equal(t, journal.Watch{Began: 1, Ended: 5, Opened: start, Closed: start, Resource: "pods", From: 3, End: "timeout"}, watches[0])
	assert.Equal(t, []journal.Entry[journal.CompletedRequest]{
		{Order: 2, What: journal.CompletedRequest{Request: journal.Request{URI: "/a"}, Came: 1}},
		{Order: 6, What: journal.CompletedRequest{Request: journal.Request{URI: "/b"}, Came: 1}},
	}, j.Requests())
	assert.Equal(t, []journal.Entry[journal.Note]{{Order: 3, What: journal.Note{Time: start, Kind: journal.Compaction, Revision: 7}}}, j.Notes())
	assert.Equal(t, []journal.Entry[journal.Progress]{{Order: 4, What: journal.Progress{Watch: 1, Time: start, Revision: 4}}}, j.Progress())
}

// Each sort has its own limit: many requests do not displace a note.
func TestLimits(t *testing.T) {
	j := journal.New(fixedTime)
	j.RecordNote(journal.Note{Text: "first"})
	for i := range maxEntries + 10 {
		j.RecordRequest(journal.Request{URI: fmt.Sprint(i)}, 0)
	}
	requests := j.Requests()
	require.Len(t, requests, maxEntries)
	for i, e := range requests {
		require.Equal(t, fmt.Sprint(i+10), e.What.URI)
		require.EqualValues(t, i+12, e.Order)
	}
	assert.Len(t, j.Notes(), 1)
}

// Open watches are kept, however many others end. Watches returns them in the order
// in which they began.
func TestWatches(t *testing.T) {
	j := journal.New(fixedTime)
	first := j.Open(journal.Watch{URI: "first"})
	for range maxEntries + 1 {
		j.Open(journal.Watch{URI: "short"}).End("", 0)
	}
	second := j.Open(journal.Watch{URI: "second"})
	watches := j.Watches()
	require.Len(t, watches, maxEntries+2)
	assert.Equal(t, "first", watches[0].URI)
	assert.Zero(t, watches[0].Ended)
	assert.Equal(t, "second", watches[len(watches)-1].URI)
	second.End("", 0)
	first.End("last", 0)
	watches = j.Watches()
	require.Len(t, watches, maxEntries)
	assert.Equal(t, "last", watches[0].End)
}

func TestReached(t *testing.T) {
	j := journal.New(fixedTime)
	w := j.Open(journal.Watch{From: 5})
	for _, rev := range []mvcc.Revision{5, 4, 6, 6, 9} {
		w.Reached(rev, start)
	}
	var reached []mvcc.Revision
	for _, e := range j.Progress() {
		reached = append(reached, e.What.Revision)
	}
	assert.Equal(t, []mvcc.Revision{6, 9}, reached, "only progress is recorded")
}

func TestRecordTransaction(t *testing.T) {
	j := journal.New(fixedTime)
	store := mvcc.New[*storage.Object](mvcc.Options{})
	write := func(do func(tx storage.Txn) error) {
		store.Update(func(tx *mvcc.Txn[*storage.Object]) error {
			if err := do(tx); err != nil {
				return err
			}
			j.RecordTransaction(tx, journal.Writer{Verb: "update"})
			return nil
		})
	}
	put := func(keys int) func(tx storage.Txn) error {
		return func(tx storage.Txn) error {
			for i := range keys {
				tx.Put(fmt.Sprintf("/pods/default/%d", i), &storage.Object{})
			}
			return nil
		}
	}
	write(put(2))
	write(func(tx storage.Txn) error { tx.Delete("/pods/default/none"); return nil })
	write(func(tx storage.Txn) error { return errors.New("refused") })
	write(put(5000))

	transactions := j.Transactions()
	require.Len(t, transactions, 2, "a transaction without changes is not recorded")
	assert.Equal(t, mvcc.Revision(2), transactions[0].What.First)
	assert.Equal(t, mvcc.Revision(3), transactions[0].What.Revision)
	assert.Equal(t, start, transactions[0].What.Time)
	assert.Equal(t, journal.Writer{Verb: "update"}, transactions[0].What.Writer)
	require.Len(t, transactions[0].What.Changes, 2)
	assert.Equal(t, "/pods/default/1", transactions[0].What.Changes[1].Item.Key)
	assert.Equal(t, mvcc.Revision(4), transactions[1].What.First)
	assert.Equal(t, mvcc.Revision(5003), transactions[1].What.Revision)
	assert.Nil(t, transactions[1].What.Changes, "too many changes to keep")
}

// Concurrent callers get distinct positions.
func TestConcurrent(t *testing.T) {
	j := journal.New(time.Now)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			w := j.Open(journal.Watch{})
			for i := range 100 {
				j.RecordRequest(journal.Request{}, 0)
				w.Reached(mvcc.Revision(i+1), time.Now())
				j.Requests()
				j.Watches()
			}
			w.End("", 0)
		})
	}
	all.Wait()
	seen := map[int64]bool{}
	last := int64(0)
	for _, e := range j.Requests() {
		assert.Greater(t, e.Order, last)
		last = e.Order
		seen[e.Order] = true
	}
	for _, e := range j.Progress() {
		seen[e.Order] = true
	}
	for _, w := range j.Watches() {
		seen[w.Began], seen[w.Ended] = true, true
	}
	assert.Len(t, seen, 8*202)
}

func BenchmarkReached(b *testing.B) {
	j := journal.New(time.Now)
	w := j.Open(journal.Watch{})
	for i := mvcc.Revision(1); b.Loop(); i++ {
		w.Reached(i, start)
	}
}

func BenchmarkRecordRequest(b *testing.B) {
	j := journal.New(time.Now)
	for b.Loop() {
		j.RecordRequest(journal.Request{URI: "/"}, 0)
	}
}

// Limit bounds each sort of entries with texts by its size.
func TestLimitBytes(t *testing.T) {
	const limit = 1 << 20
	text := strings.Repeat("x", 10_000)
	for _, row := range []struct {
		name   string
		record func(j *journal.Journal, n int)
		newest func(j *journal.Journal) (entries int, last string)
		share  int64 // of the limit
	}{
		{"requests", func(j *journal.Journal, n int) {
			j.RecordRequest(journal.Request{URI: text, Message: fmt.Sprint(n)}, 0)
		}, func(j *journal.Journal) (int, string) {
			all := j.Requests()
			return len(all), all[len(all)-1].What.Message
		}, 8},
		{"notes", func(j *journal.Journal, n int) {
			j.RecordNote(journal.Note{Text: text, Resource: fmt.Sprint(n)})
		}, func(j *journal.Journal) (int, string) {
			all := j.Notes()
			return len(all), all[len(all)-1].What.Resource
		}, 8},
		{"watches", func(j *journal.Journal, n int) {
			j.Open(journal.Watch{URI: text, Name: fmt.Sprint(n)}).End("", 0)
		}, func(j *journal.Journal) (int, string) {
			all := j.Watches()
			return len(all), all[len(all)-1].Name
		}, 8},
	} {
		t.Run(row.name, func(t *testing.T) {
			j := journal.New(fixedTime)
			j.Limit(limit)
			for n := range 200 {
				row.record(j, n)
				require.LessOrEqual(t, j.Bytes(), limit/row.share)
				_, last := row.newest(j)
				require.Equal(t, fmt.Sprint(n), last)
			}
			entries, _ := row.newest(j)
			assert.EqualValues(t, limit/row.share/10_300, entries)
			assert.Greater(t, j.Bytes(), limit/row.share*9/10)
		})
	}
}

// The newest entry is kept, however large it is.
func TestLimitKeepsNewest(t *testing.T) {
	j := journal.New(fixedTime)
	j.Limit(1)
	for n := range 3 {
		j.RecordRequest(journal.Request{URI: fmt.Sprint(n)}, 0)
		requests := j.Requests()
		require.Len(t, requests, 1)
		assert.Equal(t, fmt.Sprint(n), requests[0].What.URI)
	}
}

// Between returns the entries of every sort between two positions, and whether others were there.
func TestBetween(t *testing.T) {
	j := journal.New(fixedTime)
	assert.Equal(t, start, j.Began())
	first := j.Open(journal.Watch{Resource: "pods"})   // 1
	j.RecordNote(journal.Note{Text: "a"})              // 2
	second := j.Open(journal.Watch{Resource: "nodes"}) // 3
	first.Reached(7, start)                            // 4
	j.RecordRequest(journal.Request{URI: "/a"}, 0)     // 5
	first.End("timeout", 0)                            // 6
	defer second.End("", 0)
	for _, row := range []struct {
		after, upTo                              int64
		notes, opened, progress, requests, ended int
	}{
		{0, 6, 1, 2, 1, 1, 1}, {0, 5, 1, 2, 1, 1, 0}, {0, 1, 0, 1, 0, 0, 0}, {1, 3, 1, 1, 0, 0, 0}, {3, 5, 0, 0, 1, 1, 0}, {5, 6, 0, 0, 0, 0, 1}, {6, 6, 0, 0, 0, 0, 0},
	} {
		b := j.Between(row.after, row.upTo)
		assert.Equal(t, []int{row.notes, row.opened, row.progress, row.requests, row.ended},
			[]int{len(b.Notes), len(b.Opened), len(b.Progress), len(b.Requests), len(b.Ended)}, "%d to %d", row.after, row.upTo)
		assert.False(t, b.Dropped)
	}
	for range maxEntries {
		j.RecordRequest(journal.Request{}, 0)
	}
	assert.True(t, j.Between(4, j.Order()).Dropped)
	assert.False(t, j.Between(5, j.Order()).Dropped)
	assert.Len(t, j.Between(0, j.Order()).Requests, maxEntries)
}

// Journals that share an Order have one order of all entries.
func TestSharedOrder(t *testing.T) {
	var order journal.Order
	east, west := journal.NewIn(&order, fixedTime), journal.NewIn(&order, fixedTime)
	east.RecordNote(journal.Note{Text: "a"})
	w := west.Open(journal.Watch{})
	east.RecordNote(journal.Note{Text: "b"})
	w.End("", 0)
	assert.EqualValues(t, 4, east.Order())
	assert.EqualValues(t, 4, west.Order())
	notes := east.Notes()
	assert.Equal(t, []int64{1, 3}, []int64{notes[0].Order, notes[1].Order})
	assert.EqualValues(t, 2, west.Watches()[0].Began)
	before, since := east.Between(0, 4), east.Between(3, 4)
	assert.False(t, before.Empty())
	assert.True(t, since.Empty(), "what the other one records is not in a batch")
}
