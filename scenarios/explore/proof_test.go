package explore_test

import (
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// settings are the controllers of the cluster beside the system.
var settings = map[string][]fakeapi.Option{
	"no controllers":    nil,
	"basic controllers": {fakeapi.WithControllers(fakeapi.BasicControllers...)},
	"all controllers":   {fakeapi.WithControllers("*")},
}

func (s shape) system(t *testing.T, options []fakeapi.Option) explore.System {
	definitions := fstest.MapFS{"things.yaml": {Data: []byte(thingDefinition)}}
	return explore.System{
		Options:  append([]fakeapi.Option{fakeapi.WithCRDs(definitions, "things.yaml")}, options...),
		Start:    s.start,
		Workload: s.users.workload(),
		Dir:      t.TempDir(),
		Plans:    10,
		All:      true,
	}
}

// A search finds nothing in a correct controller. With -explore.plans 2000 -explore.for 1h
// -timeout 0 this is the long form.
func TestCorrectControllers(t *testing.T) {
	needsBubble(t)
	for _, name := range slices.Sorted(maps.Keys(correct)) {
		for setting, options := range settings {
			t.Run(name+"/"+setting, func(t *testing.T) {
				r := explore.Find(t, correct[name].system(t, options))
				assert.Empty(t, r.Findings, "%s", r)
				t.Logf("%d plans in %v", r.Plans, r.Elapsed)
			})
		}
	}
}

// A search finds planted bugs.
func TestPlantedBugs(t *testing.T) {
	needsBubble(t)
	for _, name := range slices.Sorted(maps.Keys(bugs)) {
		for setting, options := range settings {
			t.Run(name+"/"+setting, func(t *testing.T) {
				bug := bugs[name]
				s := bug.system(t, options)
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
	needsBubble(t)
	s := correct["Job runner"].system(t, settings["all controllers"])
	s.Dir, s.Plans, s.All = "", 1, false
	r := explore.Find(t, s)
	assert.Empty(t, r.Findings, "%s", r)
}
