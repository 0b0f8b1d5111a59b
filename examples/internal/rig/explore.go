package rig

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/scenarios/explore"
)

// FindsNothing explores a system that has no bug, with a limited number of plans.
func FindsNothing(t *testing.T, s explore.System) {
	t.Helper()
	s.Plans, s.For, s.Dir = 150, time.Minute, t.TempDir()
	r := explore.Find(t, s)
	t.Logf("%s", r)
	assert.Empty(t, r.Findings, "findings")
}

// Finds explores a system with a bug, which one of the oracles must find. Then it plays the
// file of the finding, as often as the finding was repeated, and each time the bug must
// show. With -explore.repeat 100 that is 100 times.
func Finds(t *testing.T, s explore.System, oracles ...explore.Oracle) {
	t.Helper()
	s.Dir = t.TempDir()
	r := explore.Find(t, s)
	t.Logf("%s", r)
	require.Len(t, r.Findings, 1, "findings")
	finding := r.Findings[0]
	assert.Contains(t, oracles, finding.Oracle)
	assert.LessOrEqual(t, len(finding.Plan), 3, "decisions")
	require.Equal(t, finding.Tried, finding.Repeated, "repetitions")
	for range finding.Tried {
		replayed := explore.Find(t, s).Findings
		require.Len(t, replayed, 1, "findings of %s", finding.File)
		require.Equal(t, len(finding.Plan) > 0, replayed[0].Saved, "a finding without any fault has no file")
		require.Equal(t, finding.Oracle, replayed[0].Oracle)
		require.Equal(t, finding.Subject, replayed[0].Subject)
	}
}
