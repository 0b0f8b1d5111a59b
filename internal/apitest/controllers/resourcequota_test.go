package controllers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

func podUsing(name, cpu, phase string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":%q},"spec":{
"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":%q}}}]},"status":{"phase":%q}}`, name, cpu, phase)
}

func shopService(name, typ string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"shop","name":%q},"spec":{"type":%q,"ports":[{"port":80}]}}`, name, typ)
}

func quota(hard, more string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"namespace":"shop","name":"q"},"spec":{"hard":{%s}%s}}`, hard, more)
}

func startQuota(t testing.TB) cluster {
	c := startCluster(t, "resourcequota-controller", fakeapi.WithNamespaces("shop", "other"))
	c.Put(widgets)
	return c
}

func quotaUsed(c cluster) any {
	c.t.Helper()
	c.Settle()
	q := c.Get("resourcequotas", "shop", "q")
	assert.Equal(c.t, object.Value(q, "spec", "hard"), object.Value(q, "status", "hard"))
	return object.Value(q, "status", "used")
}

func TestResourceQuotaUsed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		quota   string
		objects []string
		want    map[string]any
	}{
		{"an empty namespace", quota(`"pods":"5","cpu":"1","services":"2"`, ""), nil, map[string]any{"pods": "0", "cpu": "0", "services": "0"}},
		{
			"Pods", quota(`"pods":"5","requests.cpu":"1","count/pods":"9"`, ""),
			[]string{podUsing("a", "100m", "Running"), podUsing("b", "250m", "Pending"), podUsing("c", "1", "Succeeded")},
			map[string]any{"pods": "2", "requests.cpu": "350m", "count/pods": "3"},
		},
		{
			"a scope", quota(`"pods":"5"`, `,"scopes":["BestEffort"]`),
			[]string{podUsing("a", "100m", "Running"), podUsing("b", "0", "Running")}, map[string]any{"pods": "1"},
		},
		{
			"Services", quota(`"services":"5","services.nodeports":"5","services.loadbalancers":"1"`, ""),
			[]string{shopService("a", "ClusterIP"), shopService("b", "NodePort"), shopService("c", "LoadBalancer")},
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
			c := startQuota(t)
			c.Put(tt.objects...)
			c.Put(tt.quota)
			assert.Equal(t, tt.want, quotaUsed(c))
		})
	}
}

// What is created is charged by admission, and what is deleted or ends is returned.
func TestResourceQuotaReplenish(t *testing.T) {
	t.Parallel()
	c := startQuota(t)
	c.Do("POST", shopPath+"/resourcequotas", quota(`"pods":"2","cpu":"1"`, ""))
	c.Settle()
	c.Do("POST", shopPath+"/pods", podUsing("a", "100m", ""))
	c.Do("POST", shopPath+"/pods", podUsing("b", "100m", ""))
	assert.Equal(t, map[string]any{"pods": "2", "cpu": "200m"}, quotaUsed(c))
	code, _ := c.Try("POST", shopPath+"/pods", podUsing("c", "100m", ""))
	assert.Equal(t, 403, code)

	c.Delete(shopPath + "/pods/a")
	assert.Equal(t, map[string]any{"pods": "1", "cpu": "100m"}, quotaUsed(c))
	c.MergePatch(shopPath+"/pods/b/status", `{"status":{"phase":"Succeeded"}}`)
	assert.Equal(t, map[string]any{"pods": "0", "cpu": "0"}, quotaUsed(c))

	c.MergePatch(shopPath+"/resourcequotas/q", `{"spec":{"hard":{"configmaps":"3","cpu":null}}}`)
	assert.Equal(t, map[string]any{"pods": "0", "configmaps": "0"}, quotaUsed(c))
	revision := c.Revision()
	c.SettleWithin(time.Hour)
	assert.Equal(t, revision, c.Revision(), "nothing is written twice")
}

// A wrong status is corrected after five minutes.
func TestResourceQuotaResync(t *testing.T) {
	t.Parallel()
	c := startQuota(t)
	c.Put(quota(`"pods":"2"`, ""))
	c.Settle()
	c.MergePatch(shopPath+"/resourcequotas/q/status", `{"status":{"used":{"pods":"7"}}}`)
	assert.Equal(t, map[string]any{"pods": "7"}, quotaUsed(c))
	c.SettleWithin(5 * time.Minute)
	assert.Equal(t, map[string]any{"pods": "0"}, quotaUsed(c))
}
