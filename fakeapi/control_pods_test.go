package fakeapi_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestControlPods(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)), fakeapi.WithControllers("kubelet"))
	const path = "/debug/fakeapi/pods"
	code, answer := apitest.Do(t, srv, "POST", path, `{"selector":"app=web","namespace":"default","do":"complete","exitCode":3,"log":"out of memory"}`)
	require.Equal(t, http.StatusOK, code, "%v", answer)
	_, err := srv.Store(`{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}},
		spec: {nodeName: node-1, restartPolicy: Never, containers: [{name: c, image: web}]}, status: {phase: Pending}}`)
	require.NoError(t, err)
	require.NoError(t, srv.Settle(context.Background(), fakeapi.SettleOptions{Ahead: time.Minute}))
	var pod struct {
		Status struct {
			Phase             string
			ContainerStatuses []struct {
				State struct{ Terminated struct{ ExitCode int } }
			}
		}
	}
	o, err := srv.Get("pods", "default", "web")
	require.NoError(t, err)
	require.NoError(t, o.Into(&pod))
	assert.Equal(t, "Failed", pod.Status.Phase)
	assert.Equal(t, 3, pod.Status.ContainerStatuses[0].State.Terminated.ExitCode)
	_, text := index(t, srv, "/api/v1/namespaces/default/pods/web/log", "*/*")
	assert.Equal(t, "out of memory", text)

	for _, row := range []struct{ name, path, body, message string }{
		{"selector", path, `{"selector":"a in"}`, "selector: "},
		{"behavior", path, `{"do":"crash"}`, `do: "crash" is not one of complete, crash-loop, fail-image-pull, hang, run`},
		{"exit code", path, `{"do":"hang","exitCode":1}`, "exitCode: only complete has one"},
		{"usage", path, `{"usage":{"cpu":"much"},"log":"changed"}`, "metric cpu: "},
		{"custom metric", path, `{"metrics":{"requests":"x"}}`, "metric requests: "},
		{"metric", "/debug/fakeapi/metrics", `{"name":"m","value":""}`, "metric m: "},
		{"node", "/debug/fakeapi/nodes", `{"stopped":true}`, "name: the name of a Node is missing"},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, "POST", row.path, row.body)
			assert.Equal(t, http.StatusBadRequest, code)
			assert.Contains(t, answer["message"], row.message)
		})
	}
	_, text = index(t, srv, "/api/v1/namespaces/default/pods/web/log", "*/*")
	assert.Equal(t, "out of memory", text, "a refused change has no effect")
}

func TestControlStatus(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2,
		selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}}`))
	const path = "/debug/fakeapi/status"
	code, answer := apitest.Do(t, srv, "POST", path, `{"resource":"deployments.apps","namespace":"default","name":"web","ready":true,"status":{"collisionCount":1}}`)
	require.Equal(t, http.StatusOK, code, "%v", answer)
	assert.EqualValues(t, srv.Revision(), answer["revision"])
	o, err := srv.Get("deployments.apps", "default", "web")
	require.NoError(t, err)
	assert.Subset(t, o["status"], map[string]any{"availableReplicas": int64(2), "collisionCount": int64(1)})

	code, answer = apitest.Do(t, srv, "POST", path, `{"resource":"deployments.apps","name":"web","status":{"collisionCount":2}}`)
	require.Equal(t, http.StatusOK, code, "the default namespace: %v", answer)
	o, err = srv.Get("deployments.apps", "default", "web")
	require.NoError(t, err)
	assert.Subset(t, o["status"], map[string]any{"collisionCount": int64(2)})

	for _, row := range []struct {
		name, body string
		code       int
	}{
		{"unknown object", `{"resource":"deployments.apps","namespace":"default","name":"api","ready":true}`, http.StatusNotFound},
		{"unknown resource", `{"resource":"x","name":"api"}`, http.StatusNotFound},
		{"invalid status", `{"resource":"deployments.apps","namespace":"default","name":"web","status":{"replicas":-1}}`, http.StatusBadRequest},
		{"no status of a ready one", `{"resource":"namespaces","name":"default","ready":true}`, http.StatusBadRequest},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, "POST", path, row.body)
			assert.Equal(t, row.code, code, "%v", answer)
		})
	}
}
