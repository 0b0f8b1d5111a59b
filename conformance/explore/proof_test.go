package explore

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/apitest/explored"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// A search finds nothing in a correct controller. With -explore.plans 2000 -explore.for 1h
// -timeout 0 this is the long form.
func TestCorrectControllers(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(correct)) {
		for setting, options := range explored.Settings {
			t.Run(name+"/"+setting, func(t *testing.T) {
				r := explore.Find(t, correct[name].System(t, options))
				assert.Empty(t, r.Findings, "%s", r)
				t.Logf("%d plans in %v", r.Plans, r.Elapsed)
			})
		}
	}
}

// A search finds planted bugs.
func TestPlantedBugs(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(bugs)) {
		for setting, options := range explored.Settings {
			t.Run(name+"/"+setting, func(t *testing.T) {
				bug := bugs[name]
				s := bug.System(t, options)
				s.Plans, s.All = 200, false
				r := explore.Find(t, s)
				require.Len(t, r.Findings, 1, "%s", r)
				f := r.Findings[0]
				assert.Equal(t, bug.oracle, f.Oracle, "%s", f)
				assert.Equal(t, bug.subject, f.Subject, "%s", f)
				assert.Equal(t, bug.without, len(f.Plan) == 0, "%s", f)
				t.Logf("%d plans in %v: %s", r.Plans, r.Elapsed, f.Plan)
			})
		}
	}
}

// A controller that asks for a deleted owner after each event has recovered. The plan in testdata
// holds the events back until the owner is gone.
func TestFailuresAfterEvents(t *testing.T) {
	s := correct["Job runner"].System(t, explored.Settings["all controllers"])
	s.Dir, s.Plans, s.All = "", 1, false
	r := explore.Find(t, s)
	assert.Empty(t, r.Findings, "%s", r)
}
