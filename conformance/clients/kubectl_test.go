package clients

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/kubectl/pkg/cmd"

	"github.com/kubefake/kubefake/conformance/clientsuite"
	"github.com/kubefake/kubefake/conformance/clientsuite/target"
	"github.com/kubefake/kubefake/conformance/pending"
)

// exit is the value with which a failed kubectl command panics.
type exit struct {
	message string
	code    int
}

// A kubectl runs commands with its own directory, with the rights of an
// administrator, in one namespace.
type kubectl struct {
	dir       string
	namespace string
}

func newKubectl(t *testing.T, cfg *rest.Config, namespace string) kubectl {
	dir := t.TempDir()
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: cfg.Host, InsecureSkipTLSVerify: strings.HasPrefix(cfg.Host, "https:")}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: cfg.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u", Namespace: namespace}},
		CurrentContext: "x",
	}, filepath.Join(dir, "kubeconfig"))
	require.NoError(t, err)
	return kubectl{dir: dir, namespace: namespace}
}

// run runs a command and returns what it printed, and its error as kubectl
// prints it. $NS in an argument is the namespace; $DIR/ begins the name of a
// file in testdata.
func (k kubectl) run(args ...string) (out, failure string) {
	names := strings.NewReplacer("$NS", k.namespace, "$DIR", "testdata")
	for i := range args {
		args[i] = names.Replace(args[i])
	}
	var stdout, stderr bytes.Buffer
	all := append([]string{"--kubeconfig=" + filepath.Join(k.dir, "kubeconfig"), "--cache-dir=" + filepath.Join(k.dir, "cache")}, args...)
	root := cmd.NewKubectlCommand(cmd.KubectlOptions{
		Arguments:   append([]string{"kubectl"}, all...),
		ConfigFlags: genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50),
		IOStreams:   genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr},
	})
	root.SetArgs(all)
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit:
			out, failure = stdout.String(), p.message
		default:
			panic(p)
		}
	}()
	if err := root.Execute(); err != nil {
		return stdout.String(), err.Error()
	}
	return stdout.String(), ""
}

// fixtures creates the objects that the commands read and change:
//
//	ConfigMap settings   color=blue, label app=demo
//	ConfigMap held       finalizer example.com/hold
//	Deployment web       condition Available, one replica
func fixtures(t *testing.T, client kubernetes.Interface, namespace string) {
	ctx := t.Context()
	for _, cm := range []*corev1.ConfigMap{
		{
			ObjectMeta: metav1.ObjectMeta{Name: "settings", Labels: map[string]string{"app": "demo"}},
			Data:       map[string]string{"color": "blue"},
		},
		{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/hold"}}},
	} {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, cm, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	one := int32(1)
	labels := map[string]string{"app": "web"}
	web, err := client.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &one,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	web.Status = appsv1.DeploymentStatus{
		ObservedGeneration: web.Generation,
		Replicas:           1,
		UpdatedReplicas:    1,
		ReadyReplicas:      1,
		AvailableReplicas:  1,
		Conditions: []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(), Reason: "Enough", Message: "enough",
		}},
	}
	_, err = client.AppsV1().Deployments(namespace).UpdateStatus(ctx, web, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// TestKubectl runs commands, each on a server that holds only the fixtures.
// The commands of testdata/kubectl-pending.txt do not work yet.
func TestKubectl(t *testing.T) {
	type step struct {
		args  string // separated by spaces
		match string // a pattern for the whole output, its last newline left off
		fails string // a pattern for the error
	}
	tests := []struct {
		name string
		// meanwhile runs concurrently with the steps; its context ends if one
		// fails.
		meanwhile func(ctx context.Context, client kubernetes.Interface, namespace string) error
		steps     []step
	}{
		{name: "get name", steps: []step{
			{args: "get configmap settings -o name", match: `configmap/settings`},
			{args: "get cm -o name", match: `configmap/held\nconfigmap/settings`},
			{args: "get configmaps,deployments -o name", match: `configmap/held\nconfigmap/settings\ndeployment.apps/web`},
		}},
		{name: "get yaml", steps: []step{
			{args: "get cm settings -o yaml", match: `apiVersion: v1\ndata:\n  color: blue\nkind: ConfigMap\nmetadata:\n  creationTimestamp: "\S+"\n  labels:\n    app: demo\n  name: settings\n  namespace: $NS\n  resourceVersion: "\d+"\n  uid: \S+`},
		}},
		{name: "get json", steps: []step{
			{args: "get cm settings -o json", match: `\{\n    "apiVersion": "v1",\n    "data": \{\n        "color": "blue"\n    \},\n    "kind": "ConfigMap",\n(?s:.*)\}`},
		}},
		{name: "get jsonpath", steps: []step{
			{args: "get cm -o jsonpath={.items[*].metadata.name}", match: `held settings`},
			{args: "get cm settings -o go-template={{.data.color}}", match: `blue`},
			{args: "get cm -o custom-columns=N:.metadata.name,C:.data.color", match: `N +C\nheld +<none>\nsettings +blue`},
		}},
		{name: "get selected", steps: []step{
			{args: "get cm -l app=demo -o name", match: `configmap/settings`},
			{args: "get cm -l app!=demo -o name", match: `configmap/held`},
			{args: "get cm --field-selector metadata.name=held -o name", match: `configmap/held`},
			{args: "get cm -A --field-selector metadata.namespace=$NS -o name", match: `configmap/held\nconfigmap/settings`},
			{args: "get cm --chunk-size=1 -o name", match: `configmap/held\nconfigmap/settings`},
		}},
		{name: "get table", steps: []step{
			{args: "get cm settings", match: `NAME +DATA +AGE\nsettings +1 +\d+s`},
			{args: "get deployments", match: `NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +1/1 +1 +1 +\d+s`},
		}},
		{name: "get missing", steps: []step{
			{args: "get cm missing", fails: `Error from server \(NotFound\): configmaps "missing" not found`},
			{args: "get missings", fails: `error: the server doesn't have a resource type "missings"`},
			{args: "get cm missing --ignore-not-found", match: ``},
		}},
		{name: "get raw", steps: []step{
			{args: "get --raw /healthz", match: `ok`},
			{args: "get --raw /api/v1/namespaces/$NS/configmaps/none", fails: `Error from server \(NotFound\): .*not found`},
		}},
		{name: "describe", steps: []step{
			{args: "describe cm settings", match: `Name: +settings\nNamespace: +$NS\nLabels: +app=demo\nAnnotations: +<none>\n\nData\n====\ncolor:\n----\nblue\n(?s:.*)Events: +<none>`},
			{args: "describe deployment web", match: `Name: +web\nNamespace: +$NS\n(?s:.*)Replicas: +1 desired \| 1 updated \| 1 total \| 1 available \| 0 unavailable\n(?s:.*)Events: +<none>`},
		}},
		{name: "create from files", steps: []step{
			{args: "create -f $DIR/made.yaml", match: `configmap/made created\nservice/made created`},
			{args: "get -f $DIR/made.yaml -o name", match: `configmap/made\nservice/made`},
			{args: "create -f $DIR/made.yaml", fails: `Error from server \(AlreadyExists\): error when creating "testdata/made.yaml": configmaps "made" already exists(?s:.*)`},
		}},
		{name: "create from flags", steps: []step{
			{args: "create configmap literal --from-literal=a=b", match: `configmap/literal created`},
			{args: "create configmap dry --from-literal=a=b --dry-run=server -o name", match: `configmap/dry`},
			{args: "get cm dry", fails: `(?s:.*)not found`},
			{args: "create namespace $NS-more", match: `namespace/$NS-more created`},
		}},
		{name: "create refused by field validation", steps: []step{
			{args: "create -f $DIR/unknown-field.yaml", fails: `Error from server \(BadRequest\): error when creating "testdata/unknown-field.yaml": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "date"`},
		}},
		{name: "create refused by validation", steps: []step{
			{args: "create configmap Capital", fails: `(?s:.*)Invalid value: "Capital"(?s:.*)`},
		}},
		{name: "replace", steps: []step{
			{args: "create -f $DIR/made.yaml", match: `(?s:.*)`},
			{args: "replace -f $DIR/replacement.yaml", match: `configmap/made replaced`},
			{args: "get cm made -o jsonpath={.data}", match: `\{"k":"w"\}`},
		}},
		{name: "label", steps: []step{
			{args: "label cm settings tier=front", match: `configmap/settings labeled`},
			{args: "label cm settings app=other", fails: `(?s:.*)'app' already has a value \(demo\), and --overwrite is false`},
			{args: "label cm settings app-", match: `configmap/settings unlabeled`},
			{args: "get cm settings -o jsonpath={.metadata.labels}", match: `\{"tier":"front"\}`},
		}},
		{name: "annotate", steps: []step{
			{args: "annotate cm --all note=seen", match: `configmap/held annotated\nconfigmap/settings annotated`},
			{args: "annotate cm settings note=again --overwrite", match: `configmap/settings annotated`},
			{args: "get cm -o jsonpath={.items[*].metadata.annotations.note}", match: `seen again`},
		}},
		{name: "patch merge", steps: []step{
			{args: `patch cm settings --type=merge -p {"data":{"color":null,"size":"big"}}`, match: `configmap/settings patched`},
			{args: "get cm settings -o jsonpath={.data}", match: `\{"size":"big"\}`},
		}},
		{name: "patch json", steps: []step{
			{args: `patch cm settings --type=json -p [{"op":"replace","path":"/data/color","value":"red"}]`, match: `configmap/settings patched`},
			{args: "get cm settings -o jsonpath={.data.color}", match: `red`},
		}},
		{name: "patch strategic", steps: []step{
			{args: `patch deployment web -p {"spec":{"template":{"spec":{"containers":[{"name":"more","image":"more:1"}]}}}}`, match: `deployment.apps/web patched`},
			{args: "get deployment web -o jsonpath={.spec.template.spec.containers[*].name}", match: `more web`},
		}},
		{name: "set image", steps: []step{
			{args: "set image deployment/web web=web:2", match: `deployment.apps/web image updated`},
			{args: "get deployment web -o jsonpath={.spec.template.spec.containers[0].image}", match: `web:2`},
		}},
		{name: "scale", steps: []step{
			{args: "scale deployment web --replicas=3", match: `deployment.apps/web scaled`},
			{args: "get deployment web -o jsonpath={.spec.replicas}", match: `3`},
		}},
		{name: "rollout status", steps: []step{
			{args: "rollout status deployment web --timeout=10s", match: `deployment "web" successfully rolled out`},
		}},
		{name: "apply", steps: []step{
			{args: "apply -f $DIR/made.yaml", match: `configmap/made created\nservice/made created`},
			{args: "apply -f $DIR/replacement.yaml", match: `configmap/made configured`},
			{args: "apply -f $DIR/replacement.yaml", match: `configmap/made unchanged`},
		}},
		{name: "apply server-side", steps: []step{
			{args: "apply --server-side -f $DIR/made.yaml", match: `configmap/made serverside-applied\nservice/made serverside-applied`},
			{args: "apply --server-side --field-manager=other -f $DIR/replacement.yaml", fails: `error: Apply failed with 1 conflict: conflict with "kubectl": .data.k(?s:.*)`},
			{args: "apply --server-side -f $DIR/replacement.yaml", match: `configmap/made serverside-applied`},
		}},
		{name: "delete", steps: []step{
			{args: "delete cm settings", match: `configmap "settings" deleted from $NS namespace`},
			{args: "delete cm settings", fails: `Error from server \(NotFound\): configmaps "settings" not found`},
			{args: "delete deployment --all", match: `deployment.apps "web" deleted from $NS namespace`},
			{args: "get deployments -o name", match: ``},
		}},
		{
			name: "delete waits for finalizers",
			meanwhile: func(ctx context.Context, client kubernetes.Interface, namespace string) error {
				return updateHeld(ctx, client, namespace, func(cm *corev1.ConfigMap) bool { return cm.DeletionTimestamp != nil }, func(cm *corev1.ConfigMap) {
					cm.Finalizers = nil
				})
			},
			steps: []step{
				{args: "delete cm held --timeout=20s", match: `configmap "held" deleted from $NS namespace`},
				{args: "get cm held", fails: `Error from server \(NotFound\): configmaps "held" not found`},
			},
		},
		{
			name: "wait",
			meanwhile: func(ctx context.Context, client kubernetes.Interface, namespace string) error {
				return updateHeld(ctx, client, namespace, func(*corev1.ConfigMap) bool { return true }, func(cm *corev1.ConfigMap) {
					cm.Data = map[string]string{"phase": "ready"}
				})
			},
			steps: []step{
				{args: "wait --for=condition=Available deployment/web --timeout=10s", match: `deployment.apps/web condition met`},
				{args: "wait --for=jsonpath={.data.phase}=ready cm/held --timeout=20s", match: `configmap/held condition met`},
				{args: "wait --for=create cm/settings --timeout=10s", match: `configmap/settings condition met`},
				{args: "wait --for=jsonpath={.data.phase}=never cm/settings --timeout=1ms", fails: `error: timed out waiting for the condition on configmaps/settings`},
			},
		},
		{
			name: "wait for deletion",
			meanwhile: func(ctx context.Context, client kubernetes.Interface, namespace string) error {
				return client.CoreV1().ConfigMaps(namespace).Delete(ctx, "settings", metav1.DeleteOptions{})
			},
			// kubectl prints nothing if the object is deleted already.
			steps: []step{{args: "wait --for=delete cm/settings --timeout=20s", match: `(configmap/settings condition met)?`}},
		},
		{name: "api-resources", steps: []step{
			{args: "api-resources -o name --api-group=", match: `(?s:.*)configmaps\n(?s:.*)services`},
			{args: "api-resources --namespaced=true --api-group=apps", match: `NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND\n(?s:.*)deployments +deploy +apps/v1 +true +Deployment\n(?s:.*)`},
			{args: "api-resources --api-group=apps --verbs=patch,watch --sort-by=name -o name", match: `controllerrevisions.apps\ndaemonsets.apps\ndeployments.apps\nreplicasets.apps\nstatefulsets.apps`},
		}},
		{name: "api-versions", steps: []step{
			{args: "api-versions", match: `(?s:.*\n)apps/v1\n(?s:.*\n)rbac.authorization.k8s.io/v1\n(?s:.*\n)v1(?s:\n.*)?`},
		}},
		{name: "explain", steps: []step{
			{args: "explain configmap.data", match: `KIND:       ConfigMap\nVERSION:    v1\n\nFIELD: data <map\[string\]string>\n(?s:.*)`},
			{args: "explain deployments.spec.replicas", match: `GROUP:      apps\nKIND:       Deployment\nVERSION:    v1\n\nFIELD: replicas <integer>\n(?s:.*)`},
			{args: "explain configmap.none", match: `KIND:       ConfigMap\nVERSION:    v1\n(?s:.*)`, fails: `error: field "none" does not exist`},
		}},
		{name: "version", steps: []step{
			// A kubectl that is not a release build has no version.
			{args: "version", match: `Client Version: .*\nKustomize Version: .*\nServer Version: v\S+`, fails: `error: client version error: .*`},
		}},
		{name: "cluster-info", steps: []step{
			{args: "cluster-info", match: `.*Kubernetes control plane.* is running at .*http.*(?s:.*)`},
		}},
		{name: "events", steps: []step{
			{args: "events", match: ``},
			{args: "get events -o name", match: ``},
		}},
		{name: "auth", steps: []step{
			{args: "auth can-i create pods", match: `yes`},
			{args: "auth whoami -o jsonpath={.status.userInfo.username}", match: `admin`},
		}},
		{name: "create token", steps: []step{
			{args: "create serviceaccount robot", match: `serviceaccount/robot created`},
			{args: "create token robot", match: `\S+\.\S+\.\S+`},
		}},
	}
	var names []string
	for _, test := range tests {
		names = append(names, test.name)
	}
	list := &pending.List{}
	if !target.Remote() {
		list = pending.Load(t, "testdata/kubectl-pending.txt", names)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg := clientsuite.JSON(clientsuite.Config(target.Start(t)))
			namespace := clientsuite.Namespace(t, cfg)
			client, err := kubernetes.NewForConfig(cfg)
			require.NoError(t, err)
			fixtures(t, client, namespace)
			k := newKubectl(t, cfg, namespace)

			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			meanwhile := make(chan error, 1)
			go func() {
				if test.meanwhile == nil {
					meanwhile <- nil
					return
				}
				meanwhile <- test.meanwhile(ctx, client, namespace)
			}()
			var failure string
			for _, s := range test.steps {
				if failure = check(k, s.args, s.match, s.fails); failure != "" {
					cancel()
					break
				}
			}
			if err := <-meanwhile; err != nil && failure == "" {
				failure = err.Error()
			}
			list.Verdict(t, test.name, failure)
		})
	}
}

// check runs a command and returns how its output or its error differs from the
// patterns, "" if neither does. An empty pattern matches only an empty text.
func check(k kubectl, args, match, fails string) string {
	out, err := k.run(strings.Fields(args)...)
	matches := func(pattern, s string) bool {
		pattern = strings.ReplaceAll(pattern, "$NS", k.namespace)
		return regexp.MustCompile(`^` + pattern + `$`).MatchString(strings.TrimSuffix(s, "\n"))
	}
	if matches(match, out) && matches(fails, err) {
		return ""
	}
	return fmt.Sprintf("kubectl %s\nwant output %s\nwant error %s\ngot output %s\ngot error %s", args, match, fails, out, err)
}

// updateHeld updates the ConfigMap held once, as soon as condition is true for it.
func updateHeld(ctx context.Context, client kubernetes.Interface, namespace string, condition func(*corev1.ConfigMap) bool, change func(*corev1.ConfigMap)) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	w, err := maps.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=held"})
	if err != nil {
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		cm, ok := e.Object.(*corev1.ConfigMap)
		if !ok || !condition(cm) {
			continue
		}
		change(cm)
		_, err := maps.Update(ctx, cm, metav1.UpdateOptions{})
		return err
	}
	return io.ErrUnexpectedEOF
}
