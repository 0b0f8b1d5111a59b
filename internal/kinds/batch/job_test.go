package batch_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestValidateJob(t *testing.T) {
	const name = "jobs.batch"
	base := `{"metadata":{"name":"a","namespace":"n"},"spec":{` + kindtest.PodTemplate("Never") + `}}`
	indexed := func(more string) string {
		return `{"spec":{"completionMode":"Indexed","completions":4` + more + `}}`
	}
	failure := func(rule string) string {
		return `{"spec":{"podFailurePolicy":{"rules":[` + rule + `]}}}`
	}
	kindtest.TestPatched(t, name, base, []kindtest.PatchRow{
		{"numbers", `{"spec":{"parallelism":-1,"backoffLimit":-2}}`, kindtest.Errors(
			`spec.parallelism: Invalid value: -1: must be greater than or equal to 0`, `spec.backoffLimit: Invalid value: -2: must be greater than or equal to 0`)},
		{"restart policy", `{"spec":{"template":{"spec":{"restartPolicy":"Always"}}}}`,
			`spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`},
		{"own label", `{"spec":{"template":{"metadata":{"labels":{"job-name":"b"}}}}}`,
			`spec.template.metadata.labels[job-name]: Invalid value: {"a":"b","batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"a","controller-uid":"u","job-name":"b"}: must be 'a'`},
		{"own selector", `{"spec":{"selector":{"matchLabels":{"a":"b"}}}}`,
			"spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\",\"batch.kubernetes.io/controller-uid\":\"u\"}}: `selector` not auto-generated"},
		{"manual selector", `{"spec":{"manualSelector":true}}`, kindtest.Errors(`spec.selector: Required value`,
			"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`")},
		{"mode", `{"spec":{"completionMode":"X"}}`, `spec.completionMode: Unsupported value: "X": supported values: "NonIndexed", "Indexed"`},
		{"indexes without completions", `{"spec":{"completionMode":"Indexed","parallelism":1,"successPolicy":{"rules":[{"succeededCount":1}]}}}`, kindtest.Errors(
			`spec.completions: Required value: when completion mode is Indexed`,
			`spec.successPolicy.rules[0].succeededCount: Invalid value: 1: must be less than or equal to 0 (the number of specified completions)`)},
		{"limits of indexes", indexed(`,"maxFailedIndexes":5,"parallelism":100001`), kindtest.Errors(
			`spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified`,
			`spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed`,
			`spec.maxFailedIndexes: Invalid value: 5: must be less than or equal to completions`)},
		{"many completions", `{"spec":{"completionMode":"Indexed","completions":100001,"backoffLimitPerIndex":1,"parallelism":10001}}`, kindtest.Errors(
			`spec.maxFailedIndexes: Required value: must be specified when completions is above 100000`,
			`spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index`)},
		{"limits without indexes", `{"spec":{"backoffLimitPerIndex":1,"maxFailedIndexes":1,"successPolicy":{"rules":[{"succeededCount":1}]}}}`, kindtest.Errors(
			`spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode`,
			`spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode`,
			`spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: requires indexed completion mode`)},
		{"no success rules", indexed(`,"successPolicy":{"rules":[]}`),
			`spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified`},
		{"success rules", indexed(`,"successPolicy":{"rules":[{},{"succeededIndexes":"0-4"},{"succeededIndexes":"1,1"},{"succeededIndexes":"0,2-3","succeededCount":4}]}`), kindtest.Errors(
			`spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified`,
			`spec.successPolicy.rules[1].succeededIndexes: Invalid value: "0-4": error parsing succeededIndexes: too large index: "4"`,
			`spec.successPolicy.rules[2].succeededIndexes: Invalid value: "1,1": error parsing succeededIndexes: non-increasing order, previous: 1, current: 1`,
			`spec.successPolicy.rules[3].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of indexes in the specified succeededIndexes field)`)},
		{"failure rule without a pattern", failure(`{"action":"FailIndex"}`), kindtest.Errors(
			`spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`,
			`spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`)},
		{"failure rule", failure(`{"action":"","onExitCodes":{"containerName":"x","operator":"In","values":[2,0,2]},"onPodConditions":[{"type":"a b","status":"Maybe"}]}`), kindtest.Errors(
			`spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`,
			`spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "x": must be one of the container or initContainer names in the pod template`,
			`spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator`,
			`spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 2`,
			`spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,0,2]: must be ordered`,
			`spec.podFailurePolicy.rules[0].onPodConditions[0].type: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
			`spec.podFailurePolicy.rules[0].onPodConditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`,
			`spec.podFailurePolicy.rules[0]: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported`)},
		{"replacement", `{"spec":{"podReplacementPolicy":"X"}}`,
			`spec.podReplacementPolicy: Unsupported value: "X": supported values: "Failed", "TerminatingOrFailed"`},
		{"manager", `{"spec":{"managedBy":"me"}}`, `spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")`},
	})
	own := `,"template":{"metadata":{"labels":{"job-name":"a","controller-uid":"u","batch.kubernetes.io/job-name":"a","batch.kubernetes.io/controller-uid":"u"}}},"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"u"}}`
	owned := func(base, more string) string {
		return kindtest.MergePatch(t, base, `{"spec":{"suspend":false`+own+more+`}}`)
	}
	kindtest.TestPatchedUpdates(t, name, owned(base, `,"completions":2,"parallelism":2`), []kindtest.PatchRow{
		{"completions", `{"spec":{"completions":3}}`, `spec.completions: Invalid value: 3: field is immutable`},
		{"mode and limit", `{"spec":{"completionMode":"Indexed","backoffLimitPerIndex":1}}`, kindtest.Errors(
			`spec.completionMode: Invalid value: "Indexed": field is immutable`, `spec.backoffLimitPerIndex: Invalid value: 1: field is immutable`)},
		{"parallelism", `{"spec":{"parallelism":5,"suspend":true}}`, ""},
	})
	kindtest.TestPatchedUpdates(t, name, owned(base, `,"completionMode":"Indexed","completions":2,"parallelism":2`), []kindtest.PatchRow{
		{"completions of indexes", `{"spec":{"completions":3}}`, `spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism`},
		{"both", `{"spec":{"completions":3,"parallelism":3}}`, ""},
	})
	kindtest.TestPatchedUpdates(t, name, owned(kindtest.MergePatch(t, base, `{"spec":{"suspend":true}}`), `,"suspend":true`), []kindtest.PatchRow{
		{"scheduling directives of a suspended job", `{"spec":{"template":{"metadata":{"annotations":{"a":"b"}},"spec":{"nodeSelector":{"a":"b"},"affinity":{"nodeAffinity":{}},"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]}}}}`, ""},
	})
}

func TestImmutableJobTemplate(t *testing.T) {
	typ := kindtest.TypeOf(t, "jobs.batch")
	old := kindtest.Create(t, typ, `{"metadata":{"name":"a","namespace":"n"},"spec":{`+kindtest.PodTemplate("Never")+`}}`)
	for _, suspend := range []bool{false, true} {
		was := kindtest.Decode(t, typ, string(typ.Codec.Append(nil, old)))
		was["spec"].(map[string]any)["suspend"] = suspend
		obj := kindtest.Decode(t, typ, string(typ.Codec.Append(nil, was)))
		kindtest.At(obj, "spec.template.spec.containers.0").(map[string]any)["image"] = "j"
		errs := typ.Validate(obj, object.ViewOf(was))
		require.Len(t, errs, 1)
		assert.Equal(t, map[bool]string{false: "spec.template", true: "spec.template.spec"}[suspend], errs[0].Field)
		assert.Contains(t, errs[0].Body(), `"Image":"j"`)
		assert.Contains(t, errs[0].Body(), ": field is immutable")
	}
}

func TestGeneratedJobSelector(t *testing.T) {
	const generated = `"batch.kubernetes.io/job-name":"j","job-name":"j","batch.kubernetes.io/controller-uid":"u","controller-uid":"u"`
	body := func(jobLabels, labels, members string) string {
		return `{"metadata":{"name":"j"` + jobLabels + `},"spec":{` + members + `"template":{"metadata":{` + labels + `},"spec":{"containers":[]}}}}`
	}
	kindtest.TestCreates(t, "jobs.batch", []kindtest.Row{
		{"selector", body("", "", ""), "spec.selector", `{"matchLabels":{"batch.kubernetes.io/controller-uid":"u"}}`},
		{"template", body("", `"labels":{"a":"b"}`, ""), "spec.template.metadata.labels", `{"a":"b",` + generated + `}`},
		{"job without labels", body("", "", ""), "metadata.labels", `{` + generated + `}`},
		{"job labels from its template", body("", `"labels":{"a":"b"}`, ""), "metadata.labels", `{"a":"b",` + generated + `}`},
		{"job with labels", body(`,"labels":{"a":"b"}`, `"labels":{"a":"b"}`, ""), "metadata.labels", `{"a":"b"}`},
		{"template with a generated label", body("", `"labels":{"job-name":"x"}`, ""), "spec.template.metadata.labels.job-name", `"x"`},
		{"manual selector", body("", "", `"manualSelector":true,`), "spec.selector", ``},
	})

	typ := kindtest.TypeOf(t, "jobs.batch")
	for _, tt := range []struct {
		name, labels string
		want         any
	}{
		{"no labels", ``, nil},
		{"empty labels", `"labels":{}`, map[string]any{"batch.kubernetes.io/job-name": "j", "job-name": "j", "batch.kubernetes.io/controller-uid": "u", "controller-uid": "u"}},
	} {
		obj := kindtest.Decode(t, typ, body("", tt.labels, ""))
		obj["metadata"].(map[string]any)["uid"] = "u"
		typ.Prepare(obj, object.View{})
		assert.Equal(t, tt.want, kindtest.At(obj, "metadata.labels"), "a Job shares %s of its template when it is validated", tt.name)
	}
	obj := object.Copy(kindtest.Decode(t, typ, body("", `"labels":{"a":"b"}`, "")))
	typ.Prepare(obj, object.View{})
	assert.Equal(t, map[string]any{"a": "b"}, kindtest.At(obj, "metadata.labels"), "a copy does not share the labels of the template")
}
