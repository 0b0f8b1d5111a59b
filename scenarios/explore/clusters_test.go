package explore_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/internal/apitest/explored"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// mirror returns a system of two clusters, which copies the ConfigMaps of east to west. If a write
// fails, it is not repeated if the system gives up, which is a bug.
func mirror(givesUp bool) explore.System {
	step := func(value string) func(srv *fakeapi.Server) error {
		return func(srv *fakeapi.Server) error {
			_, err := srv.Store(fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: a}, data: {n: %q}}`, value))
			return err
		}
	}
	return explore.System{
		Options: []fakeapi.Option{clusters.With("east"), clusters.With("west")},
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			west := explored.API{Ctx: ctx, Srv: clusters.Get(srv, "west"), Agent: "mirror"}
			c := &explored.Controller{API: explored.API{Ctx: ctx, Srv: srv, Agent: "mirror"}, Watches: []explored.Watched{{Path: configMaps, Keys: explored.Self}}}
			c.Reconcile = func(c *explored.Controller, key string) error {
				source := c.Cached(configMaps, key)
				if source == nil {
					return west.Remove(configMaps+"/a", "")
				}
				err := west.Apply(configMaps+"/a", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": source["data"]})
				if givesUp {
					return nil
				}
				return err
			}
			c.Run()
			return nil
		},
		Workload: explore.Steps(time.Minute, step("1"), step("2")),
		Plans:    120,
	}
}

// The points of a run are in all clusters. Those of both have an object with one name.
func TestClusters(t *testing.T) {
	needsBubble(t)
	s := mirror(false)
	s.Dir = t.TempDir()
	s.Invariants = []explore.Invariant{explore.Always("copies", func(s explore.State) error {
		east, west := s.In("east").List("configmaps"), s.In("west").List("configmaps")
		switch {
		case len(s.List("configmaps")) != len(east)+len(west):
			return fmt.Errorf("%d are not those of east and of west", len(s.List("configmaps")))
		case len(west) > len(east):
			return fmt.Errorf("%d copies of %d", len(west), len(east))
		}
		return nil
	})}
	r := explore.Find(t, s)
	assert.Empty(t, r.Findings)
	assert.Empty(t, r.Unrepeated)
	assert.Equal(t, 120, r.Plans)
	done := map[explore.Action]int{}
	for _, c := range r.Coverage {
		done[c.Action] += c.Done
	}
	for _, do := range []explore.Action{explore.Crash, explore.CrashAfter, explore.Lose, explore.Hold, explore.Rewind, explore.Compact, explore.Partition} {
		assert.NotZero(t, done[do], "%s", do)
	}
}

// A partition shows that a system gives up, and its file that it still does.
func TestPartition(t *testing.T) {
	needsBubble(t)
	s := mirror(true)
	s.Dir, s.Actions = t.TempDir(), []explore.Action{explore.Partition}
	r := explore.Find(t, s)
	require.Len(t, r.Findings, 1)
	found := r.Findings[0]
	assert.Equal(t, explore.EndState, found.Oracle)
	assert.Equal(t, "configmaps default/a in west", found.Subject)
	assert.Regexp(t, `^partition at the \w+ patch of configmaps default/a in west by mirror$`, found.Plan.String())
	assert.Equal(t, found.Tried, found.Repeated)
	require.Len(t, found.OtherStories, 1)
	assert.Equal(t, strings.TrimSuffix(found.Story, ".html")+"-west.html", found.OtherStories[0])
	assert.Contains(t, found.String(), "story: "+found.Story+", "+found.OtherStories[0])
	west, err := os.ReadFile(found.OtherStories[0])
	require.NoError(t, err)
	assert.Contains(t, string(west), "explore: partition", "the story marks the decision")
	again := explore.Find(t, s)
	require.Len(t, again.Findings, 1)
	assert.True(t, again.Findings[0].Saved)

	fixed := mirror(false)
	fixed.Dir, fixed.Actions, fixed.Ignore = s.Dir, s.Actions, nil
	assert.Empty(t, explore.Find(t, fixed).Findings)
}

// An exception may be for one cluster.
func TestExceptionOfCluster(t *testing.T) {
	needsBubble(t)
	for cluster, findings := range map[string]int{"west": 0, "east": 1} {
		s := mirror(true)
		s.Dir, s.Actions = t.TempDir(), []explore.Action{explore.Partition}
		s.Ignore = []explore.Exception{{Cluster: cluster, Resource: "configmaps", Reason: "it gives up"}}
		assert.Len(t, explore.Find(t, s).Findings, findings, cluster)
	}
}

// A partition needs several clusters.
func TestPartitionOfOneCluster(t *testing.T) {
	needsBubble(t)
	s := mirror(false)
	s.Options, s.Dir = nil, t.TempDir()
	s.Start = func(ctx context.Context, srv *fakeapi.Server) error {
		_, err := (&explored.API{Ctx: ctx, Srv: srv, Agent: "one"}).Do(http.MethodGet, configMaps, explored.JSONType, nil)
		return err
	}
	plan := "version: 1\nplan:\n- do: partition\n  at: {client: one, verb: create, resource: configmaps, namespace: default, name: a, nth: 1}\n"
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "a.yaml"), []byte(plan), 0o600))
	_, err := explore.Search(context.Background(), s)
	assert.ErrorContains(t, err, "partition cannot be done at the 1st create of configmaps default/a by one")
}
