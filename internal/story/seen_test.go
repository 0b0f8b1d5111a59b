package story

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// at returns a moment whose time is its order, in milliseconds.
func at(order int64) Moment { return Moment{Order: order, At: order * 1000} }

func pod(name string) Target {
	return Target{Resource: "pods", Namespace: "default", Name: name}
}

// write returns a revision that changes one pod.
func write(order, rev int64, name string) Revision {
	return Revision{Moment: at(order), Revision: rev, Verb: "update", Client: Client{Name: "writer"}, Changes: []Change{{Type: "MODIFIED", Target: pod(name)}}}
}

func read(order int64, kind MarkKind, rev int64) Mark {
	return Mark{Moment: at(order), Kind: kind, Revision: rev}
}

func end(order int64, reason string) Mark {
	return Mark{Moment: at(order), Kind: EndMark, Text: reason}
}

// TestSaw checks who saw revision 7 of the pod default/a, written at 10.
func TestSaw(t *testing.T) {
	rev := write(10, 7, "a")
	pods := Target{Resource: "pods"}
	for _, row := range []struct {
		name   string
		kind   ReaderKind
		target Target
		marks  []Mark
		want   int64 // the order of the sighting; 0 is missed, -1 not needed
	}{
		{"watch with a step to the revision", WatchReader, pods, []Mark{read(1, WatchMark, 5), read(11, StepMark, 7)}, 11},
		{"watch with a step beyond it", WatchReader, pods, []Mark{read(1, WatchMark, 5), read(12, StepMark, 9)}, 12},
		{"watch that has not reached it", WatchReader, pods, []Mark{read(1, WatchMark, 5), read(11, StepMark, 6)}, 0},
		{"watch of the namespace", WatchReader, Target{Resource: "pods", Namespace: "default"}, []Mark{read(1, WatchMark, 5)}, 0},
		{"watch of another namespace", WatchReader, Target{Resource: "pods", Namespace: "other"}, []Mark{read(1, WatchMark, 5), read(11, StepMark, 7)}, -1},
		{"watch of another object", WatchReader, pod("b"), []Mark{read(1, WatchMark, 5), read(11, StepMark, 7)}, -1},
		{"watch of another resource", WatchReader, Target{Resource: "nodes"}, []Mark{read(1, WatchMark, 5), read(11, StepMark, 7)}, -1},
		{"watch that begins later", WatchReader, pods, []Mark{read(11, WatchMark, 7)}, -1},
		{"watch that the server ended", WatchReader, pods, []Mark{read(1, WatchMark, 5), end(9, "too old")}, 0},
		{"watch that the client ended", WatchReader, pods, []Mark{read(1, WatchMark, 5), end(9, "")}, -1},
		{"client that watches again, from before", WatchReader, pods, []Mark{read(1, WatchMark, 5), end(9, ""), read(20, WatchMark, 5)}, 0},
		{"client that lists again", WatchReader, pods, []Mark{read(1, WatchMark, 5), end(9, ""), read(20, ListMark, 8)}, 20},
		{"stale list, then a fresh one", ListReader, pods, []Mark{read(1, ListMark, 5), read(11, ListMark, 6), read(12, ListMark, 7)}, 12},
		{"list before", ListReader, pods, []Mark{read(1, ListMark, 5)}, -1},
		{"get", GetReader, pods, []Mark{{Moment: at(12), Kind: GetMark, Revision: 7, Name: "default/a"}}, 12},
		{"get of another object", GetReader, pods, []Mark{{Moment: at(12), Kind: GetMark, Revision: 7, Name: "default/b"}}, -1},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := &Reader{Kind: row.kind, Target: row.target, Marks: row.marks}
			m, ok := r.saw(&rev)
			assert.Equal(t, row.want >= 0, ok)
			assert.Equal(t, max(row.want, 0), m.Order)
		})
	}
}

func TestNewest(t *testing.T) {
	b := &builder{written: []written{{10, 7}, {20, 8}}}
	for order, want := range map[int64]int64{0: 0, 9: 0, 10: 7, 19: 7, 20: 8, 99: 8} {
		assert.Equal(t, want, b.newest(order), order)
	}
}

func TestSightingJSON(t *testing.T) {
	all := []Sighting{{Reader: 3}, {Reader: 0, Moment: Moment{7, 9}}}
	b, err := json.Marshal(all)
	require.NoError(t, err)
	assert.Equal(t, "[[3],[0,7,9]]", string(b))
	var back []Sighting
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, all, back)
	assert.ErrorContains(t, json.Unmarshal([]byte("[[1,2]]"), &back), "a sighting has one number or three, not 2")
	assert.Error(t, json.Unmarshal([]byte(`["x"]`), &back))
}
