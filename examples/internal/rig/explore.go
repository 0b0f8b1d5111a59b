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
	s.Plans, s.For = 150, time.Minute
	assert.Empty(t, find(t, s).Findings, "findings")
}

// Finds explores a system with a bug, which one of the oracles must find.
func Finds(t *testing.T, s explore.System, oracles ...explore.Oracle) {
	t.Helper()
	findings := find(t, s).Findings
	require.Len(t, findings, 1, "findings")
	assert.Contains(t, oracles, findings[0].Oracle)
	assert.Equal(t, findings[0].Tried, findings[0].Repeated, "repetitions")
}

func find(t *testing.T, s explore.System) *explore.Report {
	t.Helper()
	s.Dir = t.TempDir()
	r := explore.Find(t, s)
	t.Logf("%s", r)
	return r
}
