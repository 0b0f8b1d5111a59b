package conflicts_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/examples/conflicts"
	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// system is the controller, and a user who scales a Deployment a few times.
func system(reread bool) explore.System {
	return explore.System{
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			client := kubernetes.NewForConfigOrDie(rig.Config(srv, "observer"))
			factory := informers.NewSharedInformerFactory(client, 0)
			deployments := factory.Apps().V1().Deployments()
			o := &conflicts.Observer{Client: client, Deployments: deployments.Lister(), Reread: reread}
			return rig.RunUntil(ctx, factory, o.Reconcile, deployments.Informer())
		},
		Workload: func(ctx context.Context, srv *fakeapi.Server) error {
			user := kubernetes.NewForConfigOrDie(rig.Config(srv, "user")).AppsV1().Deployments("default")
			if _, err := user.Create(ctx, deployment("web"), metav1.CreateOptions{}); err != nil {
				return err
			}
			for replicas := range 3 {
				time.Sleep(time.Second)
				scale := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas+2)
				if _, err := user.Patch(ctx, "web", types.MergePatchType, []byte(scale), metav1.PatchOptions{}); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func TestExploreFixed(t *testing.T) { rig.FindsNothing(t, system(true)) }

func TestExploreBuggy(t *testing.T) { rig.Finds(t, system(false), explore.WriteBudget) }
