package multicluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/examples/multicluster"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// system is the controller, and a user who moves a ConfigMap twice.
func system(v multicluster.Version) explore.System {
	move := func(region string) func(hub *fakeapi.Server) error {
		return func(hub *fakeapi.Server) error { return put(hub, region) }
	}
	return explore.System{
		Options: world(),
		Start: func(ctx context.Context, hub *fakeapi.Server) error {
			return run(ctx, hub, v)
		},
		Workload: explore.Steps(time.Minute, move("east"), move("west"), move("east")),
	}
}

func TestExploreFixed(t *testing.T) { rig.FindsNothing(t, system(multicluster.Everywhere)) }

// The controller stops before it deletes the copy in east, and the user moves the ConfigMap back to
// east before it starts again: the copy in west remains.
func TestExploreAttempt(t *testing.T) {
	rig.Finds(t, system(multicluster.RecordsLast), explore.EndState)
}

func TestExploreBuggy(t *testing.T) {
	rig.Finds(t, system(multicluster.RecordsFirst), explore.EndState)
}

// A partition is enough to find the bug.
func TestExplorePartition(t *testing.T) {
	s := system(multicluster.RecordsFirst)
	s.Actions = []explore.Action{explore.Partition}
	rig.Finds(t, s, explore.EndState)
}
