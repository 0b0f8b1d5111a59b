package autoscaling_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestAutoscalerVersions(t *testing.T) {
	v2, v1 := kindtest.Versions(t, "horizontalpodautoscalers.autoscaling")
	metric := func(metric string) string { return `{"spec":{"metrics":[` + metric + `]}}` }
	const metrics = `metadata.annotations.autoscaling\.alpha\.kubernetes\.io/metrics`
	for _, r := range []kindtest.Row{
		{"CPU", metric(`{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}}`),
			"spec", `{"maxReplicas":0,"minReplicas":1,"scaleTargetRef":{"kind":"","name":""},"targetCPUUtilizationPercentage":60}`},
		{"CPU by value", metric(`{"type":"Resource","resource":{"name":"cpu","target":{"type":"AverageValue","averageValue":"1"}}}`),
			metrics, `"[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"targetAverageValue\":\"1\"}}]"`},
		{"pods", metric(`{"type":"Pods","pods":{"metric":{"name":"m","selector":{"matchLabels":{"a":"b"}}},"target":{"type":"AverageValue","averageValue":"10"}}}`),
			metrics, `"[{\"type\":\"Pods\",\"pods\":{\"metricName\":\"m\",\"targetAverageValue\":\"10\",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}}]"`},
		{"object", metric(`{"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"K","name":"n"},"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"10"}}}`),
			metrics, `"[{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"K\",\"name\":\"n\",\"apiVersion\":\"v1\"},\"metricName\":\"m\",\"targetValue\":\"0\",\"averageValue\":\"10\"}}]"`},
		{"object's value", metric(`{"type":"Object","object":{"describedObject":{"kind":"K","name":"n"},"metric":{"name":"m"},"target":{"type":"Value","value":"10"}}}`),
			metrics, `"[{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"K\",\"name\":\"n\"},\"metricName\":\"m\",\"targetValue\":\"10\"}}]"`},
		{"external", metric(`{"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1k"}}}`),
			metrics, `"[{\"type\":\"External\",\"external\":{\"metricName\":\"m\",\"targetValue\":\"1k\"}}]"`},
		{"container", metric(`{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"type":"Utilization","averageUtilization":5}}}`),
			metrics, `"[{\"type\":\"ContainerResource\",\"containerResource\":{\"name\":\"cpu\",\"targetAverageUtilization\":5,\"container\":\"c\"}}]"`},
		{"behavior", `{"spec":{"behavior":{"scaleDown":{"policies":[{"type":"Pods","value":1,"periodSeconds":60}],"tolerance":"500m"}}}}`,
			`metadata.annotations.autoscaling\.alpha\.kubernetes\.io/behavior`,
			`"{\"ScaleUp\":{\"StabilizationWindowSeconds\":0,\"SelectPolicy\":\"Max\",\"Policies\":[{\"Type\":\"Pods\",\"Value\":4,\"PeriodSeconds\":15},{\"Type\":\"Percent\",\"Value\":100,\"PeriodSeconds\":15}],\"Tolerance\":null},` +
				`\"ScaleDown\":{\"StabilizationWindowSeconds\":null,\"SelectPolicy\":\"Max\",\"Policies\":[{\"Type\":\"Pods\",\"Value\":1,\"PeriodSeconds\":60}],\"Tolerance\":\"500m\"}}"`},
		{"conditions", `{"status":{"conditions":[{"type":"A","status":"True","reason":"R","lastTransitionTime":"2024-01-02T03:04:05Z"}]}}`,
			`metadata.annotations.autoscaling\.alpha\.kubernetes\.io/conditions`,
			`"[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"2024-01-02T03:04:05Z\",\"reason\":\"R\"}]"`},
		{"status", `{"status":{"currentReplicas":2,"desiredReplicas":3,"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":40,"averageValue":"1"}}}]}}`,
			"status", `{"currentReplicas":2,"desiredReplicas":3,"currentCPUUtilizationPercentage":40}`},
		{"current metrics", `{"status":{"currentMetrics":[{"type":"External","external":{"metric":{"name":"m"},"current":{"value":"3"}}}]}}`,
			`metadata.annotations.autoscaling\.alpha\.kubernetes\.io/current-metrics`,
			`"[{\"type\":\"External\",\"external\":{\"metricName\":\"m\",\"currentValue\":\"3\"}}]"`},
	} {
		t.Run(r.Name, func(t *testing.T) {
			obj := kindtest.Decode(t, v2, r.Body)
			other := kindtest.Convert(t, v1, obj)
			kindtest.CheckRow(t, r, other)
			assert.Equal(t, obj, kindtest.Convert(t, v2, other), "round trip")
		})
	}
}

func TestAutoscalerAnnotations(t *testing.T) {
	v2, v1 := kindtest.Versions(t, "horizontalpodautoscalers.autoscaling")
	annotated := func(name, text string) string {
		body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"autoscaling.alpha.kubernetes.io/" + name: text}}})
		require.NoError(t, err)
		return string(body)
	}
	const cpu = `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`
	for _, r := range []kindtest.Row{
		{"nothing", `{}`, "spec.metrics", cpu},
		{"invalid JSON", annotated("metrics", "nonsense"), "spec.metrics", cpu},
		{"other types", annotated("metrics", `[{"type":"Pods","pods":{"metricName":5}}]`), "spec.metrics", cpu},
		{"not a list", annotated("conditions", `{}`), "status.conditions", ``},
		{"quantities", annotated("metrics", `[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1000m"}}]`), "spec.metrics",
			`[{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}}}]`},
		{"no behavior", annotated("behavior", `[]`), "spec.behavior", ``},
		{"annotations are removed", annotated("behavior", `{"ScaleUp":{"SelectPolicy":"Min"}}`), "metadata.annotations", ``},
		{"behavior", annotated("behavior", `{"ScaleUp":{"SelectPolicy":"Min"}}`), "spec.behavior", `{"scaleUp":{"selectPolicy":"Min"}}`},
	} {
		t.Run(r.Name, func(t *testing.T) { kindtest.CheckRow(t, r, kindtest.Convert(t, v2, kindtest.Decode(t, v1, r.Body))) })
	}
}

// Validate in version v1 names the fields of the storage version.
func TestValidateInV1(t *testing.T) {
	_, v1 := kindtest.Versions(t, "horizontalpodautoscalers.autoscaling")
	errs := v1.Validate(kindtest.Decode(t, v1, `{"spec":{"targetCPUUtilizationPercentage":0,"maxReplicas":1,"scaleTargetRef":{"apiVersion":"a/v1","kind":"K","name":"n"}}}`), object.View{})
	assert.Equal(t, "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0", errs.Message())
}

func FuzzAutoscalerAnnotations(f *testing.F) {
	f.Add(`[{"type":"Object","object":{"target":{},"averageValue":"1"}}]`)
	f.Add(`{"ScaleUp":{"":[{}]}}`)
	v2, v1 := kindtest.Versions(f, "horizontalpodautoscalers.autoscaling")
	f.Fuzz(func(t *testing.T, text string) {
		annotations := map[string]any{}
		for _, name := range v1.ConversionAnnotations {
			annotations[name] = text
		}
		obj := kindtest.Decode(t, v1, `{}`)
		object.Set(obj, annotations, "metadata", "annotations")
		kindtest.Convert(t, v1, kindtest.Convert(t, v2, obj))
	})
}
