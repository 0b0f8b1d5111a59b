package story

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/journal"
)

// joined returns the story of two clusters, of which west began a second later:
//
//	order   1     2     3      4     5     6
//	east    r1          seen   +1s         fault
//	west          r1           +1s   r2
func joined() *Story {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pods := func(marks ...Mark) []Reader {
		return []Reader{{Client: Client{Name: "manager"}, Kind: WatchReader, Target: Target{Resource: "pods"}, Marks: marks}}
	}
	east := &Story{
		Began: began, Ended: Moment{7, 2_000_000}, Revision: 1,
		Revisions: []Revision{{Moment: Moment{1, 100}, Revision: 1, Verb: "create", Brief: "pods default/a", Seen: []Sighting{{0, Moment{3, 300}}}}},
		Readers:   pods(Mark{Moment: Moment{3, 300}, Kind: StepMark, Revision: 1}),
		Notes: []Note{
			{Moment: Moment{4, 400}, Kind: journal.Clock, Text: "1s ahead"},
			{Moment: Moment{6, 1_000_600}, Kind: journal.Fault, Text: "reset"},
		},
	}
	west := &Story{
		Began: began.Add(time.Second), Ended: Moment{6, 1_000_000}, Revision: 2, Earlier: 3,
		Revisions: []Revision{
			{Moment: Moment{2, 0}, Revision: 1, Verb: "create", Brief: "pods default/b", Seen: []Sighting{{Reader: 0}}},
			{Moment: Moment{5, 5}, Revision: 2, Verb: "delete", Brief: "pods default/b", Seen: []Sighting{{0, Moment{5, 6}}}},
		},
		Readers: pods(Mark{Moment: Moment{5, 6}, Kind: StepMark, Revision: 2}),
		Notes:   []Note{{Moment: Moment{4, 1}, Kind: journal.Clock, Text: "1s ahead"}},
	}
	return Join("TestShop", []Part{{"east", east}, {"west", west}})
}

// A story of several clusters has the order of their journals, and one time.
func TestJoin(t *testing.T) {
	s := joined()
	assert.Equal(t, `  (3 earlier events)
     +0.000s  east  r1     create pods default/a; seen by manager
     +1.000s  west  r1     create pods default/b; not seen by manager's watch of pods
     +0.000s              clock: 1s ahead
     +1.000s  west  r2     delete pods default/b; seen by manager
     +1.001s  east        fault: reset
`, s.Text(10))
	assert.Equal(t, Moment{7, 2_000_000}, s.Ended)
	assert.Equal(t, []Sighting{{1, Moment{5, 1_000_006}}}, s.Revisions[2].Seen, "sightings refer to the readers of all clusters")
	assert.Equal(t, Place{"west"}, s.Readers[1].Place)
}
