package fakeapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

func TestSetStatus(t *testing.T) {
	srv := fakeapi.Start(t)
	_, err := srv.Store(`{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: LoadBalancer, clusterIP: 10.0.0.9, clusterIPs: [10.0.0.9], ports: [{port: 80, protocol: TCP, targetPort: 80}]}}`)
	require.NoError(t, err)
	o, err := srv.SetStatus("services.", "default", "web", `{loadBalancer: {ingress: [{ip: 192.0.2.1}]}}`)
	require.NoError(t, err)
	var service struct {
		Status struct {
			LoadBalancer struct{ Ingress []struct{ IP, IPMode string } }
		}
	}
	require.NoError(t, o.Into(&service))
	assert.Equal(t, "192.0.2.1", service.Status.LoadBalancer.Ingress[0].IP)
	assert.Equal(t, "VIP", service.Status.LoadBalancer.Ingress[0].IPMode, "defaults apply")

	_, err = srv.SetStatus("services.", "default", "web", map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": "x"}}}})
	require.ErrorIs(t, err, fakeapi.ErrInvalidObject, "validation applies")
	_, err = srv.SetStatus("services.", "default", "api", "{}")
	require.ErrorIs(t, err, fakeapi.ErrNotFound)
	_, err = srv.SetStatus("services.", "default", "web", "[]")
	require.ErrorIs(t, err, fakeapi.ErrInvalidObject)
}

// A custom resource without the subresource status has one too.
func TestSetStatusOfCustomResource(t *testing.T) {
	srv := fakeapi.Start(t)
	_, err := srv.Store(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: foos.x.io}, spec: {group: x.io, scope: Cluster,
names: {plural: foos, singular: foo, kind: Foo, listKind: FooList}, versions: [{name: v1, served: true, storage: true,
schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`)
	require.NoError(t, err)
	_, err = srv.Store(`{apiVersion: x.io/v1, kind: Foo, metadata: {name: a}, status: {kept: true}}`)
	require.NoError(t, err)
	o, err := srv.SetStatus("foos.x.io", "", "a", `{phase: Ready}`)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"kept": true, "phase": "Ready"}, o["status"])
}

func TestMarkReady(t *testing.T) {
	const template = `template: {metadata: {labels: {app: web}}, spec: {restartPolicy: %s, containers: [{name: c, image: i}]}}`
	pods := "selector: {matchLabels: {app: web}}, " + strings.Replace(template, "%s", "Always", 1)
	for _, row := range []struct {
		resource, object string
		path             []string
		want             any
	}{
		{"deployments.apps", `{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 3, ` + pods + `}`, []string{"status", "availableReplicas"}, int64(3)},
		{"statefulsets.apps", `{apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: s, ` + pods + `}`, []string{"status", "readyReplicas"}, int64(1)},
		{"daemonsets.apps", `{apiVersion: apps/v1, kind: DaemonSet, spec: {` + pods + `}`, []string{"status", "numberReady"}, int64(1)},
		{"replicasets.apps", `{apiVersion: apps/v1, kind: ReplicaSet, spec: {replicas: 2, ` + pods + `}`, []string{"status", "readyReplicas"}, int64(2)},
		{"replicationcontrollers.", `{apiVersion: v1, kind: ReplicationController, spec: {selector: {app: web}, ` + strings.Replace(template, "%s", "Always", 1) + `}`, []string{"status", "readyReplicas"}, int64(1)},
		{"jobs.batch", `{apiVersion: batch/v1, kind: Job, spec: {completions: 2, ` + strings.Replace(template, "%s", "Never", 1) + `}`, []string{"status", "succeeded"}, int64(2)},
		{"pods.", `{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, image: i}]}`, []string{"status", "phase"}, "Running"},
	} {
		t.Run(row.resource, func(t *testing.T) {
			srv := fakeapi.Start(t)
			object := row.object + `, metadata: {name: web, namespace: default}}`
			name, group, _ := strings.Cut(row.resource, ".")
			path := "/api/v1"
			switch group {
			case "apps", "batch":
				path = "/apis/" + group + "/v1"
			}
			req, err := http.NewRequest(http.MethodPost, srv.URL+path+"/namespaces/default/"+name, strings.NewReader(object))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/yaml")
			resp, err := srv.Client().Do(req)
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, http.StatusCreated, resp.StatusCode)
			for range 2 {
				o, err := srv.SetStatus(row.resource, "default", "web", fakeapi.Ready)
				require.NoError(t, err)
				assert.Equal(t, row.want, o["status"].(map[string]any)[row.path[1]])
			}
		})
	}
	srv := fakeapi.Start(t)
	_, err := srv.SetStatus("namespaces.", "", "default", fakeapi.Ready)
	require.ErrorIs(t, err, fakeapi.ErrInvalidObject)
}

func TestFinishDeletion(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithNamespaces("shop"))
	for _, object := range []string{
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop, finalizers: [x.io/a, x.io/b]}}`,
		`{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, finalizers: [x.io/a]}, spec: {nodeName: m, containers: [{name: c, image: i}]}}`,
	} {
		_, err := srv.Store(object)
		require.NoError(t, err)
	}
	require.ErrorIs(t, srv.FinishDeletion("configmaps", "shop", "a"), fakeapi.ErrInvalidObject, "it is not being deleted")
	require.ErrorIs(t, srv.FinishDeletion("configmaps", "shop", "b"), fakeapi.ErrNotFound)
	for _, row := range []struct{ resource, namespace, name, path string }{
		{"configmaps", "shop", "a", "/api/v1/namespaces/shop/configmaps/a"},
		{"pods.", "shop", "a", "/api/v1/namespaces/shop/pods/a"},
		{"namespaces.", "", "shop", "/api/v1/namespaces/shop"},
	} {
		req, err := http.NewRequest(http.MethodDelete, srv.URL+row.path, nil)
		require.NoError(t, err)
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		_, err = srv.Get(row.resource, row.namespace, row.name)
		require.NoError(t, err, "%s is being deleted", row.path)
		require.NoError(t, srv.FinishDeletion(row.resource, row.namespace, row.name))
		_, err = srv.Get(row.resource, row.namespace, row.name)
		assert.ErrorIs(t, err, fakeapi.ErrNotFound, "%s", row.path)
	}
}
