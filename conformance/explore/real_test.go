package explore

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/scenarios/explore"
)

// realKubeconfig is of another server than one of this module: see docs/explore-real.md.
var realKubeconfig = flag.String("real", "", "play the plan of TestRealFinding against the API server of this kubeconfig file")

// realPace is for runs of a second or two.
var realPace = explore.Pace{Quiet: 300 * time.Millisecond, Hold: 200 * time.Millisecond, Restart: 20 * time.Millisecond}

// The plan of a finding in memory fails on a real server too, and not without the bug.
func TestRealFinding(t *testing.T) {
	if *realKubeconfig == "" {
		t.Skip("with -real only: it takes half a minute")
	}
	const name = "early removal of the finalizer"
	bug := bugs[name]
	s := bug.System(t, nil)
	s.Plans, s.All = 200, false
	found := explore.Find(t, s)
	require.Len(t, found.Findings, 1, "%s", found)
	t.Log(found.Findings[0])

	fixed := planted{Shape: correct["finalizer and external child"]}
	for _, row := range []struct {
		planted
		findings int
	}{{bug, 1}, {fixed, 0}} {
		s := row.System(t, nil)
		s.Workload, s.Pace, s.Repeat = row.Users.WorkloadWith(500*time.Millisecond), realPace, 3
		s.PlanFile, s.Real = found.Findings[0].File, *realKubeconfig
		r, err := explore.Search(context.Background(), s)
		require.NoError(t, err)
		t.Log(r)
		require.Len(t, r.Findings, row.findings)
		for _, f := range r.Findings {
			assert.Equal(t, bug.oracle, f.Oracle)
			assert.Equal(t, bug.subject, f.Subject)
			assert.Equal(t, f.Tried, f.Repeated)
		}
	}
}
