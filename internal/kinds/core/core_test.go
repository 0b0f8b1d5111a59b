package core_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestDefaultCore(t *testing.T) {
	kindtest.TestDefaults(t, "namespaces", []kindtest.Row{
		{"label", `{"metadata":{"name":"a"}}`, "metadata.labels", `{"kubernetes.io/metadata.name":"a"}`},
		{"no name yet", `{"metadata":{"generateName":"a-"}}`, "metadata.labels", ``},
	})
	kindtest.TestDefaults(t, "secrets", []kindtest.Row{
		{"type", `{}`, "type", `"Opaque"`},
		{"text", `{"stringData":{"a":"text"}}`, "data", `{"a":"dGV4dA=="}`},
		{"text comes before data", `{"stringData":{"a":"text"},"data":{"a":"eA==","b":"eA=="}}`, "data", `{"a":"dGV4dA==","b":"eA=="}`},
		{"text is not kept", `{"stringData":{"a":"text"}}`, "stringData", ``},
	})
	kindtest.TestDefaults(t, "resourcequotas", []kindtest.Row{{"rounded", `{"spec":{"hard":{"cpu":"1n"}}}`, "spec.hard", `{"cpu":"1m"}`}})
	limits := func(kind string) string {
		return `{"spec":{"limits":[{"type":"` + kind + `","max":{"cpu":"2","memory":"2Gi"},"default":{"cpu":"1"},"min":{"pods":"1"}}]}}`
	}
	kindtest.TestDefaults(t, "limitranges", []kindtest.Row{
		{"default", limits("Container"), "spec.limits.0.default", `{"cpu":"1","memory":"2Gi"}`},
		{"request", limits("Container"), "spec.limits.0.defaultRequest", `{"cpu":"1","memory":"2Gi","pods":"1"}`},
		{"of pods", limits("Pod"), "spec.limits.0.defaultRequest", ``},
	})
}

func TestPrepareCore(t *testing.T) {
	kindtest.TestCreates(t, "serviceaccounts", []kindtest.Row{
		{"names alone", `{"secrets":[{"kind":"Secret","name":"a","namespace":"b"}]}`, "secrets", `[{"name":"a"}]`},
	})
	kindtest.TestCreates(t, "nodes", []kindtest.Row{
		{"status", `{"status":{"phase":"Running"}}`, "status.phase", `"Running"`},
		{"a source of configuration", `{"spec":{"configSource":{"configMap":{"name":"m"}}}}`, "spec.configSource", ``},
	})
	kindtest.TestUpdates(t, "nodes", []kindtest.Change{
		{"status", `{"status":{"phase":"Running"}}`, `{"status":{"phase":"Pending"}}`, "status.phase", `"Running"`},
	})
	kindtest.TestCreates(t, "configmaps", []kindtest.Row{{"as it is", `{"data":{"a":"b"},"immutable":true}`, "data", `{"a":"b"}`}})
}
