package clients

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/kubefake/kubefake/fakeapi"
)

// TestKubectlWithControllers runs commands that need the controllers, the scheduler and
// the kubelet of a cluster: they wait for what these do. Each story has a server of its
// own, and the namespace default.
func TestKubectlWithControllers(t *testing.T) {
	type step struct{ args, match, fails string } // as in TestKubectl
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"delete a namespace", []step{
			{args: "create namespace shop", match: `namespace/shop created`},
			{args: "create configmap a -n shop", match: `configmap/a created`},
			{args: "create deployment web --image=web:1 --replicas=2 -n shop", match: `deployment.apps/web created`},
			{args: "rollout status deployment/web -n shop --timeout=20s", match: `(?s:.*)deployment "web" successfully rolled out`},
			{args: "delete namespace shop --timeout=20s", match: `namespace "shop" deleted`},
			{args: "get namespace shop", fails: `Error from server \(NotFound\): namespaces "shop" not found`},
		}},
		{"rollouts", []step{
			{args: "create deployment web --image=web:1 --replicas=2", match: `deployment.apps/web created`},
			{args: "rollout status deployment/web --timeout=20s", match: `(?s:.*)deployment "web" successfully rolled out`},
			{args: "set image deployment/web web=web:2", match: `deployment.apps/web image updated`},
			{args: "rollout status deployment/web --timeout=20s", match: `(?s:.*)deployment "web" successfully rolled out`},
			{args: "rollout history deployment/web", match: `deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>\n`},
			{args: "rollout undo deployment/web", match: `deployment.apps/web rolled back`},
			{args: "rollout status deployment/web --timeout=20s", match: `(?s:.*)deployment "web" successfully rolled out`},
			{args: "get deployment web -o jsonpath={.spec.template.spec.containers[0].image}", match: `web:1`},
			{args: "rollout restart deployment/web", match: `deployment.apps/web restarted`},
			{args: "rollout status deployment/web --timeout=20s", match: `(?s:.*)deployment "web" successfully rolled out`},
			{args: "rollout history deployment/web", match: `deployment.apps/web \nREVISION  CHANGE-CAUSE\n2         <none>\n3         <none>\n4         <none>\n`},
		}},
		{"wait and scale", []step{
			{args: "create deployment web --image=web:1", match: `deployment.apps/web created`},
			{args: "wait --for=condition=Available deployment/web --timeout=20s", match: `deployment.apps/web condition met`},
			{args: "scale deployment/web --replicas=3", match: `deployment.apps/web scaled`},
			{args: "wait --for=jsonpath={.status.readyReplicas}=3 deployment/web --timeout=20s", match: `deployment.apps/web condition met`},
			{args: "get deployment web", match: `NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +3/3 +3 +3 +\d+s`},
			{args: "autoscale deployment/web --min=2 --max=5", match: `horizontalpodautoscaler.autoscaling/web autoscaled`},
		}},
		{"pods", []step{
			{args: "run p --image=p:1", match: `pod/p created`},
			{args: "wait --for=condition=Ready pod/p --timeout=20s", match: `pod/p condition met`},
			{args: "get pod p", match: `NAME +READY +STATUS +RESTARTS +AGE\np +1/1 +Running +0 +\d+s`},
			{args: "delete pod p --timeout=20s", match: `pod "p" deleted from default namespace`},
			{args: "create token default", match: `eyJ\S+`},
		}},
		{"jobs", []step{
			{args: "create job work --image=work:1 -- true", match: `job.batch/work created`},
			{args: "wait --for=condition=Complete job/work --timeout=20s", match: `job.batch/work condition met`},
			{args: "get job work", match: `NAME +STATUS +COMPLETIONS +DURATION +AGE\nwork +Complete +1/1 +\d+s +\d+s`},
		}},
		{"drain", []step{
			{args: "create deployment web --image=web:1 --replicas=2", match: `deployment.apps/web created`},
			{args: "wait --for=jsonpath={.status.readyReplicas}=2 deployment/web --timeout=20s", match: `deployment.apps/web condition met`},
			{args: "drain -l kubernetes.io/hostname --ignore-daemonsets --timeout=20s", match: `(?s:.*)evicted(?s:.*)drained`},
			{args: "get deployment web -o jsonpath={.status.unavailableReplicas}", match: `2`},
			{args: "uncordon -l kubernetes.io/hostname", match: `(?s:.*)uncordoned`},
			{args: "wait --for=jsonpath={.status.readyReplicas}=2 deployment/web --timeout=20s", match: `deployment.apps/web condition met`},
		}},
		{"cascading deletion", []step{
			{args: "create deployment web --image=web:1", match: `deployment.apps/web created`},
			{args: "rollout status deployment/web --timeout=20s", match: `(?s:.*)deployment "web" successfully rolled out`},
			{args: "delete deployment web --cascade=foreground --timeout=20s", match: `deployment.apps "web" deleted from default namespace`},
			{args: "get deployments,replicasets,pods", match: ``},
			{args: "create deployment kept --image=kept:1", match: `deployment.apps/kept created`},
			{args: "rollout status deployment/kept --timeout=20s", match: `(?s:.*)deployment "kept" successfully rolled out`},
			{args: "delete deployment kept --cascade=orphan --timeout=20s", match: `deployment.apps "kept" deleted from default namespace`},
			{args: "get replicasets -l app=kept -o jsonpath={.items[*].status.readyReplicas}", match: `1`},
			{args: "delete replicaset -l app=kept --cascade=background --timeout=20s", match: `replicaset.apps "kept-\w+" deleted from default namespace`},
			{args: "wait --for=delete pod -l app=kept --timeout=20s", match: `(?s:.*)`},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithControllers("*"))
			k := newKubectl(t, &rest.Config{Host: srv.URL}, "default")
			for _, s := range test.steps {
				if failure := check(k, s.args, s.match, s.fails); failure != "" {
					t.Fatal(failure)
				}
			}
		})
	}
}

// TestHelmWithControllers installs, upgrades, tests and removes a chart, and waits each
// time. It is skipped if Helm is not installed.
func TestHelmWithControllers(t *testing.T) {
	helm, err := exec.LookPath("helm")
	if err != nil {
		t.Skip("helm is not installed")
	}
	srv := fakeapi.Start(t, fakeapi.WithControllers("*"), fakeapi.WithTLS())
	require.NoError(t, srv.Kubelet().Pods("app=check").Complete(0)) // helm test waits for it
	config := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(config, srv.Kubeconfig(), 0o600))
	for _, args := range [][]string{
		{"install", "web", "testdata/chart", "--wait", "--timeout", "30s"},
		{"upgrade", "web", "testdata/chart", "--wait", "--timeout", "30s", "--set", "image=web:2"},
		{"test", "web", "--timeout", "30s"},
		{"uninstall", "web", "--wait", "--timeout", "30s"},
	} {
		out, err := exec.Command(helm, append(args, "--kubeconfig", config)...).CombinedOutput()
		require.NoError(t, err, "helm %v\n%s", args, out)
	}
	resp, err := srv.Client().Get(srv.URL + "/apis/apps/v1/namespaces/default/deployments/web")
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
}
