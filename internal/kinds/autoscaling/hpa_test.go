package autoscaling_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestDefaultAutoscaler(t *testing.T) {
	const percent, pods = `{"type":"Percent","value":100,"periodSeconds":15}`, `{"type":"Pods","value":4,"periodSeconds":15}`
	kindtest.TestDefaults(t, "horizontalpodautoscalers.autoscaling", []kindtest.Row{
		{"replicas", `{}`, "spec.minReplicas", `1`},
		{"metrics", `{}`, "spec.metrics", `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`},
		{"no behavior", `{}`, "spec.behavior", ``},
		{"behavior", `{"spec":{"behavior":{}}}`, "spec.behavior", `{"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[` + pods + `,` + percent + `]},"scaleDown":{"selectPolicy":"Max","policies":[` + percent + `]}}`},
		{"behavior in part", `{"spec":{"behavior":{"scaleUp":{"stabilizationWindowSeconds":5,"policies":[` + pods + `]}}}}`, "spec.behavior.scaleUp", `{"stabilizationWindowSeconds":5,"selectPolicy":"Max","policies":[` + pods + `]}`},
		{"annotations of v1", `{"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[]","k":"v"}}}`, "metadata.annotations", `{"k":"v"}`},
	})
}

func TestValidateAutoscaler(t *testing.T) {
	const name = "horizontalpodautoscalers.autoscaling"
	const base = `{"metadata":{"name":"a","namespace":"n"},"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`
	metric := func(metric string) string { return `{"spec":{"metrics":[` + metric + `]}}` }
	kindtest.TestPatched(t, name, base, []kindtest.PatchRow{
		{"replicas", `{"spec":{"minReplicas":0,"maxReplicas":-1}}`, kindtest.Errors(
			"spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`",
			`spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas`,
			`spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1`)},
		{"no policies", `{"spec":{"behavior":{"scaleUp":{"policies":[]}}}}`,
			`spec.behavior.scaleUp.policies: Required value: must specify at least one Policy`},
		{"target", `{"spec":{"scaleTargetRef":{"apiVersion":"v1","kind":"","name":"a/b"}}}`, kindtest.Errors(
			`spec.scaleTargetRef.kind: Required value`, `spec.scaleTargetRef.name: Invalid value: "a/b": may not contain '/'`,
			`spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group`)},
		{"core target", `{"spec":{"scaleTargetRef":{"apiVersion":"v1","kind":"ReplicationController"}}}`, ""},
		{"invalid apiVersion", `{"spec":{"scaleTargetRef":{"apiVersion":"a/b/c"}}}`,
			`spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`},
		{"no type", metric(`{"type":""}`), kindtest.Errors(
			`spec.metrics[0].type: Required value: must specify a metric source type`,
			`spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`)},
		{"no source", metric(`{"type":"Pods"}`), `spec.metrics[0].pods: Required value: must populate information for the given metric source`},
		{"two sources", metric(`{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}},"resource":{"name":"cpu","target":{"type":"X"}}}`),
			`spec.metrics[0].resource: Forbidden: must populate the given metric source only`},
		{"pods", metric(`{"type":"Pods","pods":{"metric":{"name":""},"target":{"type":"X","value":"0"}}}`), kindtest.Errors(
			`spec.metrics[0].pods.metric.name: Required value: must specify a metric name`,
			`spec.metrics[0].pods.target.type: Invalid value: "X": must be either Utilization, Value, or AverageValue`,
			`spec.metrics[0].pods.target.value: Invalid value: "0": must be positive`,
			`spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue`)},
		{"external", metric(`{"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1","averageValue":"1"}}}`),
			`spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target`},
		{"object", metric(`{"type":"Object","object":{"describedObject":{"kind":"K","name":"n"},"metric":{"name":"m"},"target":{"type":"Value"}}}`),
			`spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue`},
		{"container", metric(`{"type":"ContainerResource","containerResource":{"name":"x","container":"","target":{"type":"Utilization","averageUtilization":0}}}`), kindtest.Errors(
			`spec.metrics[0].containerResource.name: Invalid value: "x": must be a standard resource type or fully qualified`,
			`spec.metrics[0].containerResource.name: Invalid value: "x": must be a standard resource for containers`,
			`spec.metrics[0].containerResource.container: Required value: must specify a container`,
			`spec.metrics[0].containerResource.target.averageUtilization: Invalid value: 0: must be greater than 0`)},
		{"behavior", `{"spec":{"behavior":{"scaleUp":{"stabilizationWindowSeconds":3601,"selectPolicy":"X","tolerance":"-1","policies":[{"type":"Y","value":0,"periodSeconds":1801}]},"scaleDown":{"stabilizationWindowSeconds":-1}}}}`, kindtest.Errors(
			`spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600`,
			`spec.behavior.scaleUp.selectPolicy: Unsupported value: "X": supported values: "Disabled", "Max", "Min"`,
			`spec.behavior.scaleUp.policies[0].type: Unsupported value: "Y": supported values: "Percent", "Pods"`,
			`spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero`,
			`spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800`,
			`spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0`,
			`spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero`)},
	})
	kindtest.TestPatchedUpdates(t, name, kindtest.MergePatch(t, base, `{"spec":{"minReplicas":0,"scaleTargetRef":{"apiVersion":"v1"},"metrics":[
		{"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1"}}}]}}`), []kindtest.PatchRow{
		{"metrics", metric(`{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}}}`),
			`spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas`},
		{"target's name", `{"spec":{"scaleTargetRef":{"name":"e"}}}`, ""},
		{"target's kind", `{"spec":{"scaleTargetRef":{"kind":"X"}}}`,
			`spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group`},
	})
	kindtest.TestPatchedStatus(t, name, `{}`, []kindtest.PatchRow{
		{"replicas", `{"status":{"currentReplicas":-1,"desiredReplicas":-2}}`, kindtest.Errors(
			`status.currentReplicas: Invalid value: -1: must be greater than or equal to 0`, `status.desiredReplicas: Invalid value: -2: must be greater than or equal to 0`)},
	})
}
