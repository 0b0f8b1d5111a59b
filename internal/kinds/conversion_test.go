package kinds

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/schema"
)

// versionsOf are the types that an object of the resource can be asked for as:
// the stored one, and the one of another version.
func versionsOf(t testing.TB, name string) (stored, other *resource.Type) {
	t.Helper()
	stored = typeOf(t, name)
	for _, v := range stored.Versions {
		if v.GroupVersion != stored.GroupVersion {
			return stored, v
		}
	}
	require.Fail(t, "no other version", name)
	return nil, nil
}

// converted is the object as another version has it.
func converted(t testing.TB, to *resource.Type, obj map[string]any) map[string]any {
	t.Helper()
	out, err := to.Convert(context.Background(), []map[string]any{object.Copy(obj)})
	require.NoError(t, err)
	normal, _, err := to.Codec.Normalize(out[0], true)
	require.NoError(t, err)
	assert.Equal(t, normal, out[0], "canonical")
	return out[0]
}

func TestAutoscalerVersions(t *testing.T) {
	v2, v1 := versionsOf(t, "horizontalpodautoscalers.autoscaling")
	metric := func(metric string) string { return `{"spec":{"metrics":[` + metric + `]}}` }
	const metrics = `metadata.annotations.autoscaling\.alpha\.kubernetes\.io/metrics`
	for _, r := range []row{
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
		t.Run(r.name, func(t *testing.T) {
			obj := decoded(t, v2, r.body)
			other := converted(t, v1, obj)
			r.check(t, other)
			assert.Equal(t, obj, converted(t, v2, other), "and back")
		})
	}
}

func TestAutoscalerAnnotations(t *testing.T) {
	v2, v1 := versionsOf(t, "horizontalpodautoscalers.autoscaling")
	annotated := func(name, text string) string {
		body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"autoscaling.alpha.kubernetes.io/" + name: text}}})
		require.NoError(t, err)
		return string(body)
	}
	const cpu = `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`
	for _, r := range []row{
		{"nothing", `{}`, "spec.metrics", cpu},
		{"no JSON", annotated("metrics", "nonsense"), "spec.metrics", cpu},
		{"other types", annotated("metrics", `[{"type":"Pods","pods":{"metricName":5}}]`), "spec.metrics", cpu},
		{"no list", annotated("conditions", `{}`), "status.conditions", ``},
		{"quantities", annotated("metrics", `[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1000m"}}]`), "spec.metrics",
			`[{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}}}]`},
		{"no behavior", annotated("behavior", `[]`), "spec.behavior", ``},
		{"gone", annotated("behavior", `{"ScaleUp":{"SelectPolicy":"Min"}}`), "metadata.annotations", ``},
		{"behavior", annotated("behavior", `{"ScaleUp":{"SelectPolicy":"Min"}}`), "spec.behavior", `{"scaleUp":{"selectPolicy":"Min"}}`},
	} {
		t.Run(r.name, func(t *testing.T) { r.check(t, converted(t, v2, decoded(t, v1, r.body))) })
	}
}

// What version 1 has in annotations is the specification's and the status's, and
// is kept from the writes that may not change these.
func TestWritesInAnotherVersion(t *testing.T) {
	v2, v1 := versionsOf(t, "horizontalpodautoscalers.autoscaling")
	old := decoded(t, v2, `{"spec":{"metrics":[{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}}}]},
		"status":{"conditions":[{"type":"A","status":"True","lastTransitionTime":null}]}}`)
	was := converted(t, v1, old)

	obj := decoded(t, v1, `{"metadata":{"annotations":{"a":"b"}},"spec":{"maxReplicas":7},"status":{"currentReplicas":3}}`)
	v1.Prepare(obj, was)
	next := converted(t, v2, obj)
	assert.Equal(t, old["status"], next["status"])
	assert.Equal(t, int64(7), at(next, "spec.maxReplicas"))

	obj = decoded(t, v1, `{"metadata":{"annotations":{"a":"b"}},"spec":{"maxReplicas":7},"status":{"currentReplicas":3}}`)
	v1.PrepareStatus(obj, was)
	next = converted(t, v2, obj)
	assert.Equal(t, old["spec"], next["spec"])
	assert.Equal(t, int64(3), at(next, "status.currentReplicas"))

	errs := v1.Validate(decoded(t, v1, `{"spec":{"targetCPUUtilizationPercentage":0,"maxReplicas":1,"scaleTargetRef":{"apiVersion":"a/v1","kind":"K","name":"n"}}}`), nil)
	assert.Equal(t, "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0", errs.Message())
}

func FuzzAutoscalerAnnotations(f *testing.F) {
	f.Add(`[{"type":"Object","object":{"target":{},"averageValue":"1"}}]`)
	f.Add(`{"ScaleUp":{"":[{}]}}`)
	v2, v1 := versionsOf(f, "horizontalpodautoscalers.autoscaling")
	f.Fuzz(func(t *testing.T, text string) {
		annotations := map[string]any{}
		for _, name := range autoscalerAnnotations {
			annotations[name] = text
		}
		obj := decoded(t, v1, `{}`)
		object.Set(obj, annotations, "metadata", "annotations")
		converted(t, v1, converted(t, v2, obj))
	})
}

func TestEventVersions(t *testing.T) {
	v1, events := versionsOf(t, "events")
	obj := decoded(t, v1, `{"involvedObject":{"kind":"Pod","name":"p"},"message":"m","reason":"R","count":3,"source":{"component":"c"},"firstTimestamp":"2024-01-02T03:04:05Z","reportingComponent":"a/b"}`)
	other := converted(t, events, obj)
	row{path: "", want: `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{},"regarding":{"kind":"Pod","name":"p"},"note":"m","reason":"R","deprecatedCount":3,
		"deprecatedSource":{"component":"c"},"deprecatedFirstTimestamp":"2024-01-02T03:04:05Z","deprecatedLastTimestamp":null,"eventTime":null,"reportingController":"a/b"}`}.check(t, other)
	assert.Equal(t, obj, converted(t, v1, other), "and back")
}

func TestValidateNewEvent(t *testing.T) {
	_, typ := versionsOf(t, "events")
	const base = `{"metadata":{"name":"a","namespace":"n","resourceVersion":"1"},"eventTime":"2024-01-02T03:04:05.000006Z","type":"Normal","reason":"R","action":"A",
		"reportingController":"a/b","reportingInstance":"i","regarding":{"kind":"Pod","name":"p","namespace":"n"},"note":"m"}`
	for _, r := range verdicts(t, "", "", base, []variant{
		{"no time", `{"eventTime":null}`, `eventTime: Required value`},
		{"no reporter", `{"reportingController":null}`, all(
			`reportingController: Required value`,
			`reportingController: Invalid value: "": name part must be non-empty`,
			`reportingController: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`)},
		{"type", `{"type":"Odd"}`, `type: Invalid value: "": has invalid value: Odd`},
		{"series", `{"series":{"count":1,"lastObservedTime":null}}`, all(
			`series.count: Invalid value: "": should be at least 2`, `series.lastObservedTime: Required value`)},
		{"what older ones had", `{"deprecatedCount":1,"deprecatedSource":{"host":"h"},"deprecatedFirstTimestamp":"2024-01-02T03:04:05Z"}`, all(
			`firstTimestamp: Invalid value: "": needs to be unset`, `count: Invalid value: "": needs to be unset`, `source: Invalid value: "": needs to be unset`)},
	}) {
		t.Run(r.name, func(t *testing.T) { r.judge(t, typ.Validate, decoded(t, typ, r.body), nil) })
	}
	for _, r := range verdicts(t, "update ", base, base, []variant{
		{"series", `{"series":{"count":2,"lastObservedTime":"2024-01-02T03:04:05.000006Z"}}`, ""},
		{"finalizers", `{"metadata":{"finalizers":["f"]}}`, `metadata.finalizers[0]: Invalid value: "f": name is neither a standard finalizer name nor is it fully qualified`},
		{"note", `{"note":"n"}`, `message: Invalid value: "n": field is immutable`},
		{"reason is told twice", `{"reason":"S"}`, all(`reason: Invalid value: "S": field is immutable`, `reason: Invalid value: "S": field is immutable`)},
		{"count", `{"deprecatedCount":2}`, `count: Invalid value: 2: field is immutable`},
		{"reporter", `{"reportingController":"a/c"}`, `reportingController: Invalid value: "a/c": field is immutable`},
		{"object", `{"regarding":{"uid":"u"}}`,
			`involvedObject: Invalid value: {"Kind":"Pod","Namespace":"n","Name":"p","UID":"u","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable`},
	}) {
		t.Run(r.name, func(t *testing.T) {
			r.judge(t, typ.Validate, decoded(t, typ, r.body), decoded(t, typ, r.old))
		})
	}
}

// Resources of the same shape have the same members in all their versions.
func TestSameShape(t *testing.T) {
	for _, typ := range everything(t) {
		if !slices.Contains(sameShape[typ.GroupVersion], typ.Name) || typ.GroupVersion == typ.Stored {
			continue
		}
		t.Run(typ.GroupVersion.String()+" "+typ.Name, func(t *testing.T) {
			require.NotNil(t, typ.Versions)
			stored := typ.Storage()
			require.NotSame(t, typ, stored)
			assert.Equal(t, members(t, stored), members(t, typ))
			obj := decoded(t, stored, `{"metadata":{"name":"a"}}`)
			assert.Equal(t, obj, converted(t, stored, converted(t, typ, obj)))
		})
	}
}

// members are the paths of everything that a type's objects can have.
func members(t testing.TB, typ *resource.Type) []string {
	t.Helper()
	p, err := release.Open("v1.36-all")
	require.NoError(t, err)
	s, ok := schema.ForKind(p, typ.Group, typ.Version, typ.Kind)
	require.True(t, ok)
	return schemaMembers(s, typ.Kind)
}

func schemaMembers(s *schema.Schema, path string) []string {
	if s == nil {
		return nil
	}
	out := []string{path + " " + s.Type}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, schemaMembers(s.Properties[name], path+"."+name)...)
	}
	return append(append(out, schemaMembers(s.Items, path+"[]")...), schemaMembers(s.Additional, path+"{}")...)
}
