package batch_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
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
