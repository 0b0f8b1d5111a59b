package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDefaultCore(t *testing.T) {
	testDefaults(t, "namespaces", []row{
		{"label", `{"metadata":{"name":"a"}}`, "metadata.labels", `{"kubernetes.io/metadata.name":"a"}`},
		{"no name yet", `{"metadata":{"generateName":"a-"}}`, "metadata.labels", ``},
	})
	testDefaults(t, "secrets", []row{
		{"type", `{}`, "type", `"Opaque"`},
		{"text", `{"stringData":{"a":"text"}}`, "data", `{"a":"dGV4dA=="}`},
		{"text comes before data", `{"stringData":{"a":"text"},"data":{"a":"eA==","b":"eA=="}}`, "data", `{"a":"dGV4dA==","b":"eA=="}`},
		{"text is not kept", `{"stringData":{"a":"text"}}`, "stringData", ``},
	})
	testDefaults(t, "endpoints", []row{
		{"protocol", `{"subsets":[{"ports":[{"port":80},{"port":81,"protocol":"UDP"}]}]}`, "subsets.0.ports", `[{"port":80,"protocol":"TCP"},{"port":81,"protocol":"UDP"}]`},
	})
	testDefaults(t, "resourcequotas", []row{{"rounded", `{"spec":{"hard":{"cpu":"1n"}}}`, "spec.hard", `{"cpu":"1m"}`}})
	limits := func(kind string) string {
		return `{"spec":{"limits":[{"type":"` + kind + `","max":{"cpu":"2","memory":"2Gi"},"default":{"cpu":"1"},"min":{"pods":"1"}}]}}`
	}
	testDefaults(t, "limitranges", []row{
		{"default", limits("Container"), "spec.limits.0.default", `{"cpu":"1","memory":"2Gi"}`},
		{"request", limits("Container"), "spec.limits.0.defaultRequest", `{"cpu":"1","memory":"2Gi","pods":"1"}`},
		{"of pods", limits("Pod"), "spec.limits.0.defaultRequest", ``},
	})
	testDefaults(t, "nodes", []row{
		{"allocatable", `{"status":{"capacity":{"cpu":"1.0001"}}}`, "status.allocatable", `{"cpu":"1001m"}`},
		{"range", `{"spec":{"podCIDR":"10.1.0.0/24"}}`, "spec.podCIDRs", `["10.1.0.0/24"]`},
		{"ranges", `{"spec":{"podCIDRs":["10.1.0.0/24","fd::/64"]}}`, "spec.podCIDR", `"10.1.0.0/24"`},
	})
}

func TestPrepareCore(t *testing.T) {
	testCreates(t, "serviceaccounts", []row{
		{"names alone", `{"secrets":[{"kind":"Secret","name":"a","namespace":"b"}]}`, "secrets", `[{"name":"a"}]`},
	})
	testCreates(t, "nodes", []row{
		{"status", `{"status":{"phase":"Running"}}`, "status.phase", `"Running"`},
		{"a source of configuration", `{"spec":{"configSource":{"configMap":{"name":"m"}}}}`, "spec.configSource", ``},
	})
	testUpdates(t, "nodes", []change{
		{"status", `{"status":{"phase":"Running"}}`, `{"status":{"phase":"Pending"}}`, "status.phase", `"Running"`},
	})
	testCreates(t, "configmaps", []row{{"as it is", `{"data":{"a":"b"},"immutable":true}`, "data", `{"a":"b"}`}})
}

func TestNodeStatus(t *testing.T) {
	typ := typeOf(t, "nodes")
	old := created(t, typ, `{"spec":{"providerID":"p"}}`)
	obj := decoded(t, typ, `{"spec":{"providerID":"q"},"status":{"phase":"Running","config":{"error":"e"}}}`)
	typ.PrepareStatus(obj, old)
	assert.Equal(t, "p", at(obj, "spec.providerID"))
	assert.Equal(t, "Running", at(obj, "status.phase"))
	assert.Nil(t, at(obj, "status.config"))
}
