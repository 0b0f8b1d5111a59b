package resourcequota_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/controllertest"
)

const (
	shop = "/api/v1/namespaces/shop"

	widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`
)

func pod(name, cpu, phase string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":%q},"spec":{
"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":%q}}}]},"status":{"phase":%q}}`, name, cpu, phase)
}

func service(name, typ string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"shop","name":%q},"spec":{"type":%q,"ports":[{"port":80}]}}`, name, typ)
}

func quota(hard, more string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"namespace":"shop","name":"q"},"spec":{"hard":{%s}%s}}`, hard, more)
}

func start(t testing.TB) *fakeapi.Server {
	srv := controllertest.Start(t, "resourcequota-controller", fakeapi.WithNamespaces("shop", "other"))
	controllertest.Put(t, srv, widgets)
	return srv
}

func used(t *testing.T, srv *fakeapi.Server) any {
	t.Helper()
	controllertest.Settle(t, srv)
	q, err := srv.Get("resourcequotas", "shop", "q")
	require.NoError(t, err)
	assert.Equal(t, controllertest.Field(q, "spec", "hard"), controllertest.Field(q, "status", "hard"))
	return controllertest.Field(q, "status", "used")
}

func TestUsed(t *testing.T) {
	tests := []struct {
		name    string
		quota   string
		objects []string
		want    map[string]any
	}{
		{"an empty namespace", quota(`"pods":"5","cpu":"1","services":"2"`, ""), nil, map[string]any{"pods": "0", "cpu": "0", "services": "0"}},
		{
			"Pods", quota(`"pods":"5","requests.cpu":"1","count/pods":"9"`, ""),
			[]string{pod("a", "100m", "Running"), pod("b", "250m", "Pending"), pod("c", "1", "Succeeded")},
			map[string]any{"pods": "2", "requests.cpu": "350m", "count/pods": "3"},
		},
		{
			"a scope", quota(`"pods":"5"`, `,"scopes":["BestEffort"]`),
			[]string{pod("a", "100m", "Running"), pod("b", "0", "Running")}, map[string]any{"pods": "1"},
		},
		{
			"Services", quota(`"services":"5","services.nodeports":"5","services.loadbalancers":"1"`, ""),
			[]string{service("a", "ClusterIP"), service("b", "NodePort"), service("c", "LoadBalancer")},
			map[string]any{"services": "3", "services.nodeports": "2", "services.loadbalancers": "1"},
		},
		{
			"counts of any resource", quota(`"configmaps":"5","count/widgets.example.com":"2","count/deployments.apps":"3"`, ""),
			[]string{
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop","name":"a"}}`,
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"other","name":"b"}}`,
				`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"shop","name":"w"}}`,
			},
			map[string]any{"configmaps": "1", "count/widgets.example.com": "1", "count/deployments.apps": "0"},
		},
		{"unknown quantities", quota(`"example.com/none":"5","pods":"1"`, ""), nil, map[string]any{"pods": "0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := start(t)
			controllertest.Put(t, srv, tt.objects...)
			controllertest.Put(t, srv, tt.quota)
			assert.Equal(t, tt.want, used(t, srv))
		})
	}
}

// What is created is charged by admission, and what is deleted or ends is returned.
func TestReplenish(t *testing.T) {
	srv := start(t)
	controllertest.Do(t, srv, "POST", shop+"/resourcequotas", quota(`"pods":"2","cpu":"1"`, ""))
	controllertest.Settle(t, srv)
	controllertest.Do(t, srv, "POST", shop+"/pods", pod("a", "100m", ""))
	controllertest.Do(t, srv, "POST", shop+"/pods", pod("b", "100m", ""))
	assert.Equal(t, map[string]any{"pods": "2", "cpu": "200m"}, used(t, srv))
	code, _ := controllertest.Try(t, srv, "POST", shop+"/pods", pod("c", "100m", ""))
	assert.Equal(t, 403, code)

	controllertest.Delete(t, srv, shop+"/pods/a", "")
	assert.Equal(t, map[string]any{"pods": "1", "cpu": "100m"}, used(t, srv))
	controllertest.Do(t, srv, "PATCH", shop+"/pods/b/status", `{"status":{"phase":"Succeeded"}}`)
	assert.Equal(t, map[string]any{"pods": "0", "cpu": "0"}, used(t, srv))

	controllertest.Do(t, srv, "PATCH", shop+"/resourcequotas/q", `{"spec":{"hard":{"configmaps":"3","cpu":null}}}`)
	assert.Equal(t, map[string]any{"pods": "0", "configmaps": "0"}, used(t, srv))
	revision := srv.Revision()
	controllertest.SettleWithin(t, srv, time.Hour)
	assert.Equal(t, revision, srv.Revision(), "nothing is written twice")
}

// A wrong status is corrected after five minutes.
func TestResync(t *testing.T) {
	srv := start(t)
	controllertest.Put(t, srv, quota(`"pods":"2"`, ""))
	controllertest.Settle(t, srv)
	controllertest.Do(t, srv, "PATCH", shop+"/resourcequotas/q/status", `{"status":{"used":{"pods":"7"}}}`)
	assert.Equal(t, map[string]any{"pods": "7"}, used(t, srv))
	controllertest.SettleWithin(t, srv, 5*time.Minute)
	assert.Equal(t, map[string]any{"pods": "0"}, used(t, srv))
}
