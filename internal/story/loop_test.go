package story

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
)

// An act is a write in a test of loops.
type act struct {
	at     int64  // in milliseconds
	client string // "" for manager
	name   string // of a Pod; "" for a
	change journal.ChangeType
	field  Field
	also   Field // of the same change
	idle   bool  // nothing is changed
}

// storyOf returns a story of writes.
func storyOf(acts []act) *Story {
	s := &Story{Format: Format}
	objects := map[string]map[string]any{} // by name
	for i, a := range acts {
		m := Moment{Order: int64(i + 1), At: a.at * 1000}
		who, what := Client{Name: cmp.Or(a.client, "manager")}, pod(cmp.Or(a.name, "a"))
		if a.idle {
			s.Requests = append(s.Requests, Request{Moment: m, Client: who, Method: "PUT", URI: "/" + what.Name, Verb: "update", Target: what, Code: 200})
			continue
		}
		if objects[what.Name] == nil {
			objects[what.Name] = map[string]any{}
		}
		c := Change{Type: cmp.Or(a.change, journal.Modified), Target: what}
		for _, f := range []Field{a.field, a.also} {
			if f.Path != "" {
				c.Fields = append(c.Fields, f)
				object.Set(objects[what.Name], f.New, strings.Split(f.Path, ".")...)
			}
		}
		c.object = object.Copy(objects[what.Name])
		r := Revision{Moment: m, Revision: int64(i + 10), Verb: "update", Client: who, Changes: []Change{c}}
		r.Brief = r.brief()
		s.Revisions = append(s.Revisions, r)
	}
	s.Loops = s.loops()
	return s
}

// repeat returns n rounds of writes, every 100 ms.
func repeat(n int, round func(i int) []act) []act {
	var out []act
	for i := range n {
		for _, a := range round(i) {
			a.at = int64(i)*100 + int64(len(out))
			out = append(out, a)
		}
	}
	return out
}

func TestLoops(t *testing.T) {
	replicas := func(old, new int) Field { return Field{Path: "spec.replicas", Old: old, New: new} }
	for _, row := range []struct {
		name  string
		acts  []act
		loops []string
	}{
		{
			"two clients that disagree",
			repeat(6, func(int) []act {
				return []act{{client: "autoscaler", field: replicas(1, 5)}, {client: "operator", field: replicas(5, 1)}}
			}),
			[]string{
				"loop: autoscaler wrote pods default/a 6 times in 510ms, from r10 to r20: spec.replicas 1 → 5",
				"loop: operator wrote pods default/a 6 times in 510ms, from r11 to r21: spec.replicas 5 → 1",
			},
		},
		{
			"times differ",
			repeat(5, func(i int) []act {
				return []act{{field: Field{Path: "status.checked", Old: "2030-01-01T09:00:00Z", New: fmt.Sprintf("2030-01-01T09:00:%02d.5Z", i)}}}
			}),
			[]string{"loop: manager wrote pods default/a 5 times in 404ms, from r10 to r14: status.checked 2030-01-01T09:00:00Z → 2030-01-01T09:00:04.5Z"},
		},
		{
			"generations differ",
			repeat(5, func(i int) []act { return []act{{field: Field{Path: "status.observedGeneration", Old: i, New: i + 1}}} }),
			[]string{"loop: manager wrote pods default/a 5 times in 404ms, from r10 to r14: status.observedGeneration 4 → 5"},
		},
		{
			"writes that change nothing",
			repeat(41, func(int) []act { return []act{{idle: true}} }),
			[]string{"loop: manager wrote pods default/a 41 times in 4.04s: nothing"},
		},
		{
			"created and deleted again and again",
			repeat(5, func(int) []act { return []act{{change: journal.Added}, {change: journal.Deleted}} }),
			[]string{
				"loop: manager wrote pods default/a 5 times in 408ms, from r10 to r18: created",
				"loop: manager wrote pods default/a 5 times in 408ms, from r11 to r19: deleted",
			},
		},
		{
			"a rollout: numbers go up and down, one only up",
			repeat(9, func(i int) []act {
				return []act{
					{field: Field{Path: "status.ready", Old: 3, New: 4}, also: Field{Path: "status.updated", New: i}},
					{field: Field{Path: "status.ready", Old: 4, New: 3}, also: Field{Path: "status.updated", New: i}},
				}
			}),
			nil,
		},
		{
			"a fight, while something else is counted",
			repeat(5, func(i int) []act {
				return []act{{field: replicas(5, 1)}, {client: "autoscaler", field: replicas(1, 5), also: Field{Path: "status.n", New: i}}}
			}),
			[]string{"loop: manager wrote pods default/a 5 times in 408ms, from r10 to r18: spec.replicas 5 → 1"},
		},
		{"a counter", repeat(9, func(i int) []act { return []act{{field: replicas(i, i+1)}} }), nil},
		{"too few", repeat(4, func(int) []act { return []act{{field: replicas(1, 5)}} }), nil},
		{"other objects", repeat(9, func(i int) []act { return []act{{name: fmt.Sprint(i), field: replicas(1, 5)}} }), nil},
		{"other clients", repeat(9, func(i int) []act { return []act{{client: fmt.Sprint("c", i), field: replicas(1, 5)}} }), nil},
		{
			"a heartbeat",
			[]act{{at: 0, field: replicas(1, 5)}, {at: 1e4, field: replicas(1, 5)}, {at: 2e4, field: replicas(1, 5)}, {at: 3e4, field: replicas(1, 5)}, {at: 4e4, field: replicas(1, 5)}},
			nil,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, l := range storyOf(row.acts).Loops {
				got = append(got, l.line())
			}
			assert.Equal(t, row.loops, got)
		})
	}
}

// Leases are renewed again and again.
func TestLoopsOfLeases(t *testing.T) {
	s := storyOf(repeat(9, func(int) []act { return []act{{field: Field{Path: "spec.renewTime", New: "2030-01-01T09:00:00Z"}}} }))
	assert.Len(t, s.Loops, 1)
	for i := range s.Revisions {
		s.Revisions[i].Changes[0].Resource = "leases.coordination.k8s.io"
	}
	assert.Empty(t, s.loops())
}

// A loop leaves room for the rest of the story.
func TestTextOfLoop(t *testing.T) {
	acts := append([]act{{name: "b", field: Field{Path: "spec.x", New: 1}}}, repeat(50, func(int) []act { return []act{{field: Field{Path: "spec.y", New: 1}}, {idle: true, name: "c"}} })...)
	assert.Equal(t, ""+
		"     +0.000s  r10   manager update pods default/b: spec.x = 1\n"+
		"     +0.000s  r11   manager update pods default/a: spec.y = 1\n"+
		"     +0.001s        200 PUT /c (manager): nothing changed\n"+
		"     +4.998s        loop: manager wrote pods default/a 50 times in 4.998s, from r11 to r109: spec.y = 1\n"+
		"     +4.999s        loop: manager wrote pods default/c 50 times in 4.998s: nothing\n",
		storyOf(acts).Text(40))
}
