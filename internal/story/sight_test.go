package story

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// at is a moment whose time is its order, in milliseconds.
func at(order int64) Moment { return Moment{Order: order, At: order * 1000} }

func pod(name string) Target {
	return Target{Resource: "pods", Namespace: "default", Name: name}
}

// write is a revision of one pod.
func write(order, rev int64, name string) Revision {
	return Revision{Moment: at(order), Revision: rev, Verb: "update", Client: Client{Name: "writer"}, Changes: []Change{{Type: "MODIFIED", Target: pod(name)}}}
}

func read(order int64, kind string, rev int64) Mark {
	return Mark{Moment: at(order), Kind: kind, Revision: rev}
}

func end(order int64, why string) Mark { return Mark{Moment: at(order), Kind: markEnd, Text: why} }

// Who saw revision 7 of the pod default/a, which was written at 10?
func TestSaw(t *testing.T) {
	rev := write(10, 7, "a")
	pods := Target{Resource: "pods"}
	for _, row := range []struct {
		name   string
		kind   string
		target Target
		marks  []Mark
		want   int64 // the order of when; 0 is never, -1 that it is nothing to the reader
	}{
		{"a watch tells it", kindWatch, pods, []Mark{read(1, kindWatch, 5), read(11, "step", 7)}, 11},
		{"a watch tells more", kindWatch, pods, []Mark{read(1, kindWatch, 5), read(12, "step", 9)}, 12},
		{"a watch has not told it", kindWatch, pods, []Mark{read(1, kindWatch, 5), read(11, "step", 6)}, 0},
		{"a watch of the namespace", kindWatch, Target{Resource: "pods", Namespace: "default"}, []Mark{read(1, kindWatch, 5)}, 0},
		{"a watch of another namespace", kindWatch, Target{Resource: "pods", Namespace: "other"}, []Mark{read(1, kindWatch, 5), read(11, "step", 7)}, -1},
		{"a watch of another object", kindWatch, pod("b"), []Mark{read(1, kindWatch, 5), read(11, "step", 7)}, -1},
		{"a watch of another resource", kindWatch, Target{Resource: "nodes"}, []Mark{read(1, kindWatch, 5), read(11, "step", 7)}, -1},
		{"a watch that begins later", kindWatch, pods, []Mark{read(11, kindWatch, 7)}, -1},
		{"a watch that was ended", kindWatch, pods, []Mark{read(1, kindWatch, 5), end(9, "too old")}, 0},
		{"a watch that the client ended", kindWatch, pods, []Mark{read(1, kindWatch, 5), end(9, "")}, -1},
		{"and came back, too late", kindWatch, pods, []Mark{read(1, kindWatch, 5), end(9, ""), read(20, kindWatch, 5)}, 0},
		{"and came back by a list", kindWatch, pods, []Mark{read(1, kindWatch, 5), end(9, ""), read(20, kindList, 8)}, 20},
		{"a list of the past, then one of the present", kindList, pods, []Mark{read(1, kindList, 5), read(11, kindList, 6), read(12, kindList, 7)}, 12},
		{"who lists owes nothing", kindList, pods, []Mark{read(1, kindList, 5)}, -1},
		{"a get", kindGet, pods, []Mark{{Moment: at(12), Kind: kindGet, Revision: 7, Name: "default/a"}}, 12},
		{"a get of another", kindGet, pods, []Mark{{Moment: at(12), Kind: kindGet, Revision: 7, Name: "default/b"}}, -1},
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
	tell := &teller{story: &Story{Revisions: []Revision{write(10, 7, "a"), write(20, 8, "a")}}}
	for order, want := range map[int64]int64{0: 0, 9: 0, 10: 7, 19: 7, 20: 8, 99: 8} {
		assert.Equal(t, want, tell.newest(order), order)
	}
}

func TestSightJSON(t *testing.T) {
	all := []Sight{{Reader: 3}, {Reader: 0, Moment: Moment{7, 9}}}
	b, err := json.Marshal(all)
	require.NoError(t, err)
	assert.Equal(t, "[[3],[0,7,9]]", string(b))
	var back []Sight
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, all, back)
	assert.ErrorContains(t, json.Unmarshal([]byte("[[1,2]]"), &back), "a list of one number or of three, not of 2")
	assert.Error(t, json.Unmarshal([]byte(`["x"]`), &back))
}
