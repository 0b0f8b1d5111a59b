package apps_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestValidateDaemonSet(t *testing.T) {
	const name = "daemonsets.apps"
	rolling := func(rolling string) string {
		return `{"spec":{"updateStrategy":{"rollingUpdate":` + rolling + `}}}`
	}
	kindtest.TestPatched(t, name, workload(""), []kindtest.PatchRow{
		{"no selector", `{"spec":{"selector":null}}`,
			"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"},
		{"empty selector", `{"spec":{"selector":{"matchLabels":null}}}`, `spec.selector: Invalid value: {}: empty selector is invalid for daemonset`},
		{"both", rolling(`{"maxSurge":1,"maxUnavailable":"10%"}`),
			`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`},
		{"neither", rolling(`{"maxUnavailable":0}`),
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`},
		{"strategy", `{"spec":{"updateStrategy":{"type":"X"}}}`,
			`spec.updateStrategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"`},
	})
	kindtest.TestPatchedUpdates(t, name, workload(""), []kindtest.PatchRow{
		{"selector", `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`,
			`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable`},
	})
}

func TestDaemonSetStatusKeepsTemplateGeneration(t *testing.T) {
	typ := kindtest.TypeOf(t, "daemonsets.apps")
	old := kindtest.Create(t, typ, `{"spec":{`+template+`}}`)
	obj := kindtest.Decode(t, typ, `{"status":{"numberReady":1}}`)
	typ.SubresourceStrategies["status"].Prepare(obj, object.ViewOf(old))
	kindtest.CheckRow(t, kindtest.Row{Path: `metadata.annotations.deprecated\.daemonset\.template\.generation`, Want: `"1"`}, obj)
}
