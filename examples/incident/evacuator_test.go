package incident_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/kubefake/kubefake/examples/incident"
	"github.com/kubefake/kubefake/examples/internal/rig"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios"
)

// In the recording the Nodes rack-1-a and rack-1-b are not ready for half a minute, and
// later rack-2-a becomes not ready for ever.
func controllerTest(grace time.Duration) rig.Test {
	return func(t testing.TB, srv *fakeapi.Server) {
		night := scenarios.Reenact(t, srv, "testdata/night.yaml")
		client := kubernetes.NewForConfigOrDie(rig.Config(srv, "evacuator"))
		factory := informers.NewSharedInformerFactory(client, 0)
		nodes, pods := factory.Core().V1().Nodes(), factory.Core().V1().Pods()
		e := &incident.Evacuator{Client: client, Nodes: nodes.Lister(), Pods: pods.Lister(), Grace: grace}
		rig.Run(t, factory, e.Reconcile, nodes.Informer(), pods.Informer())

		<-night.Done()
		time.Sleep(5 * time.Minute)
		remaining := podsByNode(t, srv)
		assert.Empty(t, remaining["rack-2-a"], "Pods of the Node that did not come back")
		assert.Equal(t, map[string]int{"rack-1-a": 2, "rack-1-b": 1}, remaining, "Pods of the Nodes that came back")
	}
}

func TestFixed(t *testing.T) { rig.Passes(t, controllerTest(time.Minute)) }

func TestBuggy(t *testing.T) { rig.Fails(t, "Pods of the Nodes that came back", controllerTest(0)) }

func podsByNode(t testing.TB, srv *fakeapi.Server) map[string]int {
	pods, err := srv.List("pods", "")
	require.NoError(t, err)
	out := map[string]int{}
	for _, pod := range pods {
		out[pod["spec"].(map[string]any)["nodeName"].(string)]++
	}
	return out
}
