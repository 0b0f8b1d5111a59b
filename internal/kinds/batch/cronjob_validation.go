package batch

import (
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/kinds/scheduling"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// cronJobNameMaxLength is the maximum length of the name of a CronJob. The names of
// its Jobs have a suffix.
const cronJobNameMaxLength = 52

func validateCronJob(obj map[string]any, old object.View) validation.List {
	errs := validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(p validation.View) {
		was := old.At("spec")
		if p.RequireDeclared("schedule") {
			checkCronSchedule(p, strings.Contains(was.String("schedule"), "TZ"))
		}
		p.NonNegative("startingDeadlineSeconds")
		if p.Has("timeZone") && (old.IsNil() || !was.At("timeZone").EqualTo(p.Obj["timeZone"])) {
			p.Format("timeZone", checkTimeZone)
		}
		p.RequireOneOf("concurrencyPolicy", "Allow", "Forbid", "Replace")
		job := p.Field("jobTemplate").Field("spec")
		checkJobSpec(job)
		if job.Has("selector") {
			job.Add(validation.Invalid(job.At("selector"), pods.SelectorValue(job), "`selector` will be auto-generated"))
		}
		if job.Bool("manualSelector") {
			job.Add(validation.NotSupported(job.At("manualSelector"), true, []string{"nil", "false"}))
		}
		p.NonNegative("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
	})
	if name := object.String(obj, "metadata", "name"); old.IsNil() && len(name) > cronJobNameMaxLength {
		errs = append(errs, validation.Invalid(validation.NewPath("metadata", "name"), name, validation.MaxLengthMessage(cronJobNameMaxLength)))
	}
	template, was := object.Map(obj, "spec", "jobTemplate", "spec"), old.At("spec", "jobTemplate", "spec")
	return append(errs, scheduling.ValidateJobScheduling(template, was, validation.NewPath("spec", "jobTemplate", "spec"))...)
}

// checkCronSchedule checks spec.schedule. zoned accepts a time zone in it, for
// CronJobs that are stored with one.
func checkCronSchedule(p validation.View, zoned bool) {
	schedule := p.String("schedule")
	if err := checkSchedule(schedule); err != nil {
		p.Invalid("schedule", err.Error())
	}
	switch hasZone := strings.Contains(schedule, "TZ"); {
	case hasZone && !zoned:
		p.Invalid("schedule", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	case hasZone && p.Has("timeZone"):
		p.Invalid("schedule", "cannot use both timeZone field and TZ or CRON_TZ in schedule")
	}
}

func warnCronJob(r validation.Release, obj map[string]any, old object.View) []string {
	warnings := pods.WarnWorkloadName(obj, old)
	warnings = append(warnings, warnOfJobSpec(r, obj, old, "spec", "jobTemplate", "spec")...)
	if !old.IsNil() && strings.Contains(object.String(obj, "spec", "schedule"), "TZ") {
		warnings = append(warnings, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
	return warnings
}
