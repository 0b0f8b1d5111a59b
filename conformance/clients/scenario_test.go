package clients

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
)

const (
	crd = `
metadata: {name: walls.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: walls, kind: Wall}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {color: {type: string, enum: [green, red]}}}}}}}`
	deployment = `
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}`
	hook = `
metadata: {name: paint}
webhooks:
- name: paint.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {namespace: default, name: paint}}
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [walls]}]`
)

// parse returns the object of a YAML document.
func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	var object T
	require.NoError(t, yaml.Unmarshal([]byte(text), &object))
	return &object
}

func wall(name, color string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Wall", "metadata": map[string]any{"name": name}, "spec": map[string]any{"color": color},
	}}
}

// deny denies every object.
func deny(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "red is sold out"}}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(review)
}

// The twelve steps of docs/twelve-steps.md with client-go.
func TestTwelveSteps(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithRBAC(), fakeapi.WithControllers("*"),
		fakeapi.WithManualClock(time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)))
	ctx := t.Context()
	client := kubernetes.NewForConfigOrDie(restconfig.For(srv))
	configMaps := client.CoreV1().ConfigMaps("default")
	wallsOf := func(srv *fakeapi.Server) dynamic.ResourceInterface {
		walls := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "walls"}
		return dynamic.NewForConfigOrDie(restconfig.For(srv)).Resource(walls).Namespace("default")
	}
	walls := wallsOf(srv)

	// 1. CRD: the server validates objects by a definition as soon as it is created.
	definitions := apiextensions.NewForConfigOrDie(restconfig.For(srv)).ApiextensionsV1().CustomResourceDefinitions()
	_, err := definitions.Create(ctx, parse[apiextensionsv1.CustomResourceDefinition](t, crd), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = walls.Create(ctx, wall("north", "blue"), metav1.CreateOptions{})
	assert.True(t, apierrors.IsInvalid(err), "%v", err)
	_, err = walls.Create(ctx, wall("north", "green"), metav1.CreateOptions{})
	require.NoError(t, err)

	// 2. Apply: fields have owners.
	green := corev1ac.ConfigMap("paint", "default").WithData(map[string]string{"color": "green"})
	applied, err := configMaps.Apply(ctx, green, metav1.ApplyOptions{FieldManager: "painter"})
	require.NoError(t, err)
	assert.Equal(t, "painter", applied.ManagedFields[0].Manager)

	// 3. Watch: history that is compacted is 410 Gone, or 410 Expired in the watch.
	require.NoError(t, srv.Compact(0))
	watch, err := configMaps.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
	require.NoError(t, err)
	assert.True(t, apierrors.IsResourceExpired(apierrors.FromObject((<-watch.ResultChan()).Object)))

	// 4. Conflict: an update of an old version fails.
	applied.Data["color"] = "red"
	_, err = configMaps.Update(ctx, applied, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = configMaps.Update(ctx, applied, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsConflict(err), "%v", err)

	// 5. Finalizer: the object is there until the last finalizer is removed.
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept", Finalizers: []string{"example.com/paint"}}}
	_, err = configMaps.Create(ctx, kept, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, configMaps.Delete(ctx, "kept", metav1.DeleteOptions{}))
	kept, err = configMaps.Get(ctx, "kept", metav1.GetOptions{})
	require.NoError(t, err)
	assert.NotNil(t, kept.DeletionTimestamp)
	_, err = configMaps.Patch(ctx, "kept", types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	_, err = configMaps.Get(ctx, "kept", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)

	// 6. Settle: the controllers have nothing left to do.
	deployments := client.AppsV1().Deployments("default")
	_, err = deployments.Create(ctx, parse[appsv1.Deployment](t, deployment), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, srv.Settle(ctx, fakeapi.SettleOptions{Ahead: time.Minute}))
	web, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 2, web.Status.ReadyReplicas)

	// 7. Fork: a server with the same state.
	fork := srv.Fork(t)
	require.NoError(t, wallsOf(fork).Delete(ctx, "north", metav1.DeleteOptions{}))
	_, err = wallsOf(fork).Get(ctx, "north", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	_, err = walls.Get(ctx, "north", metav1.GetOptions{})
	require.NoError(t, err)

	// 8. Freeze: a read from the watch cache is stale.
	require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}))
	_, err = configMaps.Patch(ctx, "paint", types.MergePatchType, []byte(`{"data": {"color": "green"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	stale, err := configMaps.List(ctx, metav1.ListOptions{ResourceVersion: "0", FieldSelector: "metadata.name=paint"})
	require.NoError(t, err)
	assert.Equal(t, "red", stale.Items[0].Data["color"])
	require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{}))

	// 9. Clock: the test moves the time of the server.
	srv.Clock().Advance(time.Hour)
	late, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, 10, late.CreationTimestamp.UTC().Hour())

	// 10. RBAC: a user without roles is forbidden.
	alice := kubernetes.NewForConfigOrDie(restconfig.ForUser(srv, fakeapi.User{Name: "alice", Groups: []string{"developers"}}))
	_, err = alice.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)

	// 11. Webhook: the test serves the webhooks of a configuration.
	_, err = client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, parse[admissionregistrationv1.ValidatingWebhookConfiguration](t, hook), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = srv.InstallWebhooks(fakeapi.WebhookOptions{Handler: http.HandlerFunc(deny)})
	require.NoError(t, err)
	_, err = walls.Create(ctx, wall("south", "red"), metav1.CreateOptions{})
	assert.ErrorContains(t, err, "denied the request: red is sold out")

	// 12. Story: what happened on the server.
	assert.Contains(t, srv.Story(), "denied the request: red is sold out")
}
