package batch_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestDefaultJobs(t *testing.T) {
	body := func(members string) string {
		return `{"spec":{` + members + `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[]}}}}`
	}
	kindtest.TestDefaults(t, "jobs.batch", []kindtest.Row{
		{"one pod", body(""), "spec.completions", `1`},
		{"parallelism without completions", body(`"parallelism":3,`), "spec.completions", ``},
		{"completions without parallelism", body(`"completions":3,`), "spec.parallelism", `1`},
		{"retries", body(""), "spec.backoffLimit", `6`},
		{"retries by index", body(`"backoffLimitPerIndex":1,`), "spec.backoffLimit", `2147483647`},
		{"pod replacement", body(""), "spec.podReplacementPolicy", `"TerminatingOrFailed"`},
		{"pod replacement with a failure policy", body(`"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"T"}]}]},`), "spec.podReplacementPolicy", `"Failed"`},
		{"conditions", body(`"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"T"}]}]},`), "spec.podFailurePolicy.rules.0.onPodConditions", `[{"type":"T","status":"True"}]`},
		{"labels", body(""), "metadata.labels", `{"a":"b"}`},
	})
	kindtest.TestDefaults(t, "cronjobs.batch", []kindtest.Row{
		{"CronJob", `{}`, "spec", `{"schedule":"","concurrencyPolicy":"Allow","suspend":false,"successfulJobsHistoryLimit":3,"failedJobsHistoryLimit":1,"jobTemplate":{"metadata":{},"spec":{"template":{"metadata":{},"spec":{"containers":null,"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}}}}`},
	})
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
	obj := object.Copy(kindtest.Decode(t, typ, body("", `"labels":{"a":"b"}`, "")))
	typ.Prepare(obj, nil)
	assert.Equal(t, map[string]any{"a": "b"}, kindtest.At(obj, "metadata.labels"), "a copy does not share the labels of the template")
}
