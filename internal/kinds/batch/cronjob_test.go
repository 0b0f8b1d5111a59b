package batch_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestValidateCronJob(t *testing.T) {
	base := `{"metadata":{"name":"a","namespace":"n"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{` + kindtest.PodTemplate("Never") + `}}}}`
	kindtest.TestPatched(t, "cronjobs.batch", base, []kindtest.PatchRow{
		{"no schedule", `{"spec":{"schedule":""}}`, `spec.schedule: Required value`},
		{"zone in schedule", `{"spec":{"schedule":"TZ=UTC * * * * *"}}`,
			`spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead`},
		{"policy", `{"spec":{"concurrencyPolicy":"X"}}`, `spec.concurrencyPolicy: Unsupported value: "X": supported values: "Allow", "Forbid", "Replace"`},
		{"selector", `{"spec":{"jobTemplate":{"spec":{"selector":{"matchLabels":{"a":"b"}},"manualSelector":true}}}}`, kindtest.Errors(
			"spec.jobTemplate.spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"}}: `selector` will be auto-generated",
			`spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"`)},
		{"long name", `{"metadata":{"name":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}`,
			`metadata.name: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": must be no more than 52 characters`},
		{"zone", `{"spec":{"timeZone":"Mars/Base"}}`, `spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base`},
	})
	kindtest.TestPatchedUpdates(t, "cronjobs.batch", kindtest.MergePatch(t, base, `{"spec":{"schedule":"TZ=UTC * * * * *","timeZone":null}}`), []kindtest.PatchRow{
		{"schedule with a zone", `{"spec":{"schedule":"TZ=UTC 1 * * * *"}}`, ""},
		{"two zones", `{"spec":{"timeZone":"UTC"}}`,
			`spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule`},
	})
	typ := kindtest.TypeOf(t, "cronjobs.batch")
	zoned := kindtest.Decode(t, typ, kindtest.MergePatch(t, base, `{"metadata":{"name":"a.b"},"spec":{"schedule":"TZ=UTC * * * * *"}}`))
	assert.Equal(t, []string{"cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"}, typ.WarningsOnWrite(zoned, object.ViewOf(zoned)))
	assert.Equal(t, []string{"metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"}, typ.WarningsOnWrite(zoned, object.View{}))
}
