package explore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

func TestParseShard(t *testing.T) {
	for _, row := range []struct {
		name, text, environment string
		want                    explore.Shard
		err                     string
	}{
		{"none", "", "", explore.Shard{}, ""},
		{"second of eight", "2/8", "", explore.Shard{Index: 2, Count: 8}, ""},
		{"a flag before the environment", "2/8", "CI_NODE_INDEX=1 CI_NODE_TOTAL=3", explore.Shard{Index: 2, Count: 8}, ""},
		{"a Job, from 0", "8", "JOB_COMPLETION_INDEX=0", explore.Shard{Index: 1, Count: 8}, ""},
		{"Bazel, from 0", "", "TEST_SHARD_INDEX=7 TEST_TOTAL_SHARDS=8", explore.Shard{Index: 8, Count: 8}, ""},
		{"GitLab, from 1", "", "CI_NODE_INDEX=8 CI_NODE_TOTAL=8", explore.Shard{Index: 8, Count: 8}, ""},
		{"no index", "8", "", explore.Shard{}, `shard "8" has no index, and JOB_COMPLETION_INDEX is not set; write 1/8`},
		{"zero", "0/8", "", explore.Shard{}, "shard 0/8: a shard is written as 2/8, from 1/8 to 8/8"},
		{"too large", "9/8", "", explore.Shard{}, "shard 9/8: a shard is written as 2/8, from 1/8 to 8/8"},
		{"no number", "a/8", "", explore.Shard{}, "shard a/8: a shard is written as 2/8, from 1/8 to 8/8"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, name := range []string{"JOB_COMPLETION_INDEX", "TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", "CI_NODE_INDEX", "CI_NODE_TOTAL"} {
				t.Setenv(name, "")
			}
			for _, variable := range strings.Fields(row.environment) {
				name, value, _ := strings.Cut(variable, "=")
				t.Setenv(name, value)
			}
			got, err := explore.ParseShard(row.text)
			if row.err != "" {
				assert.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

// sharded returns a system with two bugs, whose search leaves a record in dir.
func sharded(t *testing.T, dir string, shard explore.Shard) explore.System {
	s := systemOf(t, copier{generate: true, once: true})
	s.Workload = explore.Steps(time.Minute, paint("red"), paint("green"))
	s.Dir, s.Shard, s.Record, s.All, s.Plans = dir, shard, true, true, 120
	s.Pace.Quiet = 30 * time.Second // one of the bugs makes a request each second
	s.Pace.Patience = -1            // its findings stay, and to look again takes ten times as long
	s.For = 10 * time.Minute        // on a busy machine, too
	return s
}

// text returns the merged report of a directory, which it does not name.
func text(t *testing.T, dir string) string {
	merged, err := explore.Merge(dir)
	require.NoError(t, err)
	require.Len(t, merged, 1)
	_, report, _ := strings.Cut(merged[0].String(), "\n") // without the number of searches
	return strings.ReplaceAll(report, dir, "DIR")
}

// copyFiles copies the files of a directory, as a job does that collects them.
func copyFiles(t *testing.T, to, from string) {
	files, err := filepath.Glob(filepath.Join(from, "*"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, filepath.Base(file)), text, 0o666))
	}
}

// The shards of a search find together what one search finds, and cover the same.
func TestShards(t *testing.T) {
	needsBubble(t)
	one := t.TempDir()
	whole := explore.Find(t, sharded(t, one, explore.Shard{Index: 1, Count: 1}))
	require.GreaterOrEqual(t, len(whole.Findings), 2, "%s", whole)
	union := t.TempDir()
	plans := 0
	const count = 4
	for i := 1; i <= count; i++ {
		dir := t.TempDir()
		r := explore.Find(t, sharded(t, dir, explore.Shard{Index: i, Count: count}))
		plans += r.Plans
		assert.Less(t, r.Plans, whole.Plans/2)
		copyFiles(t, union, dir)
	}
	assert.Equal(t, whole.Plans, plans)
	assert.Equal(t, text(t, one), text(t, union))
}

// Merge shows a search that has not ended.
func TestMergeWhileRunning(t *testing.T) {
	needsBubble(t)
	dir := t.TempDir()
	var during []*explore.Merged
	s := sharded(t, dir, explore.Shard{Index: 1, Count: 2})
	start := s.Start
	s.Start = func(ctx context.Context, srv *fakeapi.Server) error {
		if during == nil {
			during, _ = explore.Merge(dir) // fails until the first plan was run
		}
		return start(ctx, srv)
	}
	report := explore.Find(t, s)
	require.Len(t, during, 1)
	assert.Equal(t, 0, during[0].Searches)
	assert.Positive(t, during[0].States)
	assert.Positive(t, during[0].Plans)
	require.Len(t, during[0].Running, 1)
	running := during[0].Running[0]
	assert.Equal(t, "1/2", running.Shard)
	assert.Equal(t, during[0].Plans, running.Done)
	assert.Contains(t, during[0].String(), fmt.Sprintf("running: shard 1/2: %d of %d plans with one decision, after ", running.Done, running.Plans))

	after, err := explore.Merge(dir)
	require.NoError(t, err)
	assert.Empty(t, after[0].Running)
	assert.Equal(t, []int{1, report.Plans}, []int{after[0].Searches, after[0].Plans})
	files, err := filepath.Glob(filepath.Join(dir, "running*"))
	require.NoError(t, err)
	assert.Empty(t, files)
}

// A search that continues an earlier one tries other plans.
func TestResume(t *testing.T) {
	needsBubble(t)
	dir := t.TempDir()
	first := sharded(t, dir, explore.Shard{})
	first.Plans = 12
	assert.Equal(t, 12, explore.Find(t, first).Plans)
	second := first
	second.Resume = true
	assert.Equal(t, 12, explore.Find(t, second).Plans)
	merged, err := explore.Merge(dir)
	require.NoError(t, err)
	assert.Equal(t, 2, merged[0].Searches)
	assert.Equal(t, 24, merged[0].Plans, "no plan is run twice")
}

// With NewOnly a search tries what a change has added.
func TestNewOnly(t *testing.T) {
	needsBubble(t)
	dir := t.TempDir()
	s := sharded(t, dir, explore.Shard{})
	s.Plans = 1
	explore.Find(t, s)
	s.NewOnly, s.Plans = true, 0
	assert.Zero(t, explore.Find(t, s).Plans, "no point is new")
	s.Workload, s.Plans = explore.Steps(time.Minute, paint("red"), paint("green"), paint("blue")), 30
	r := explore.Find(t, s)
	assert.Equal(t, 30, r.Plans)
	for _, f := range r.Findings {
		assert.Contains(t, fmt.Sprint(f.Plan), "the 2nd", "the change adds second points")
	}
}

func TestMergeErrors(t *testing.T) {
	empty, damaged := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(damaged, "search-1.json"), []byte(`{"version":2}`), 0o666))
	for _, row := range []struct{ name, dir, err string }{
		{"empty", empty, empty + ": no search has left anything in it; -explore.dir and --dir make a search do that"},
		{"missing", filepath.Join(empty, "a"), "no such file or directory"},
		{"another version", damaged, "unsupported version 2 of the format"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := explore.Merge(row.dir)
			assert.ErrorContains(t, err, row.err)
		})
	}
}
