package expiredwatch_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/examples/expiredwatch"
	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// system is the mirror, and a user who changes a ConfigMap.
func system(relist bool) explore.System {
	return explore.System{
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			m := &expiredwatch.Mirror{Client: kubernetes.NewForConfigOrDie(rig.Config(srv, "mirror")), Namespace: "default", Relist: relist}
			return m.Run(ctx)
		},
		Workload: explore.Steps(time.Second, paint("red"), paint("green"), paint("blue")),
	}
}

// paint returns a step that gives the ConfigMap a color.
func paint(color string) func(*fakeapi.Server) error {
	return func(srv *fakeapi.Server) error {
		_, err := srv.Store(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"namespace": "default", "name": "settings"},
			"data":     map[string]any{"color": color},
		})
		return err
	}
}

func TestExploreFixed(t *testing.T) { rig.FindsNothing(t, system(true)) }

func TestExploreBuggy(t *testing.T) { rig.Finds(t, system(false), explore.Recovers) }
