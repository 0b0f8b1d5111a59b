package controllers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func startCronJob(t *testing.T, schedule, spec string) workloads {
	t.Helper()
	c := startWorkloads(t, "cronjob-controller,job-controller")
	c.Create("cronjobs", `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"tick"},"spec":{"schedule":"`+schedule+`",`+spec+`
		"jobTemplate":{"metadata":{"labels":{"app":"tick"}},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}}}}`)
	return c
}

func TestCronJobSchedule(t *testing.T) {
	t.Parallel()
	c := startCronJob(t, "*/5 * * * *", "")
	c.Wait(5 * time.Minute)
	assert.Empty(t, c.List("jobs"), "a Job is created 100 ms after its time")
	c.Wait(100 * time.Millisecond)
	all := c.List("jobs")
	require.Len(t, all, 1)
	assert.Equal(t, "tick-29453765", all[0].Name())
	assert.Equal(t, "2026-01-01T00:05:00Z", object.String(all[0], "metadata", "annotations", "batch.kubernetes.io/cronjob-scheduled-timestamp"))
	assert.Equal(t, "tick", object.String(all[0], "metadata", "labels", "app"))
	cj := c.Get("cronjobs", "tick")
	assert.Equal(t, "2026-01-01T00:05:00Z", object.String(cj, "status", "lastScheduleTime"))
	assert.Len(t, object.List(cj, "status", "active"), 1)
	c.Run()
	c.End("Succeeded", 0)
	cj = c.Get("cronjobs", "tick")
	assert.Empty(t, object.List(cj, "status", "active"))
	assert.NotEmpty(t, object.String(cj, "status", "lastSuccessfulTime"))
	assert.Equal(t, []string{
		"Normal SuccessfulCreate: Created job tick-29453765",
		"Normal SawCompletedJob: Saw completed job: tick-29453765, condition: Complete",
	}, c.Events("CronJob", "tick"))
	c.Wait(10 * time.Minute)
	assert.Len(t, c.List("jobs"), 3)
}

func TestCronJobConcurrency(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]int{"Allow": 3, "Forbid": 1, "Replace": 1} {
		t.Run(policy, func(t *testing.T) {
			c := startCronJob(t, "* * * * *", `"concurrencyPolicy":"`+policy+`",`)
			c.Wait(3*time.Minute + time.Second)
			all := c.List("jobs")
			require.Len(t, all, want)
			switch policy {
			case "Forbid":
				assert.Equal(t, "tick-29453761", all[0].Name())
				assert.Contains(t, c.Events("CronJob", "tick"),
					"Normal JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid (x2)")
			case "Replace":
				assert.Equal(t, "tick-29453763", all[0].Name())
				assert.Contains(t, c.Events("CronJob", "tick"), "Normal SuccessfulDelete: Deleted job tick-29453761")
			}
		})
	}
}

func TestCronJobTimeZone(t *testing.T) {
	t.Parallel()
	c := startCronJob(t, "0 9 * * *", `"timeZone":"Europe/Berlin",`)
	c.Wait(8*time.Hour - time.Second)
	assert.Empty(t, c.List("jobs"))
	c.Wait(2 * time.Second)
	all := c.List("jobs")
	require.Len(t, all, 1)
	assert.Equal(t, "2026-01-01T09:00:00+01:00", object.String(all[0], "metadata", "annotations", "batch.kubernetes.io/cronjob-scheduled-timestamp"))
}

func TestCronJobSuspendAndDeadline(t *testing.T) {
	t.Parallel()
	c := startCronJob(t, "0 * * * *", `"suspend":true,"startingDeadlineSeconds":600,`)
	c.Wait(3*time.Hour + 30*time.Minute)
	assert.Empty(t, c.List("jobs"))
	c.Patch("cronjobs", "tick", `{"spec":{"suspend":false}}`)
	assert.Empty(t, c.List("jobs"), "30 minutes are too late")
	c.Wait(30*time.Minute + time.Second)
	assert.Len(t, c.List("jobs"), 1)
}

func TestCronJobMissed(t *testing.T) {
	t.Parallel()
	c := startCronJob(t, "* * * * *", `"suspend":true,`)
	c.Wait(3 * time.Hour)
	c.Patch("cronjobs", "tick", `{"spec":{"suspend":false}}`)
	all := c.List("jobs")
	require.Len(t, all, 1, "the latest one only")
	assert.Equal(t, "tick-29453940", all[0].Name())
	assert.Contains(t, c.Events("CronJob", "tick"),
		"Warning TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
}

func TestCronJobHistory(t *testing.T) {
	t.Parallel()
	c := startCronJob(t, "* * * * *", `"successfulJobsHistoryLimit":1,"failedJobsHistoryLimit":0,`)
	for range 3 {
		c.Wait(time.Minute + time.Second)
		c.Run()
		c.End("Succeeded", 0)
	}
	all := c.List("jobs")
	require.Len(t, all, 1)
	assert.Equal(t, "tick-29453763", all[0].Name())
}

func TestCronJobMissingJob(t *testing.T) {
	t.Parallel()
	c := startCronJob(t, "* * * * *", "")
	c.Wait(time.Minute + time.Second)
	c.Remove("jobs", "tick-29453761")
	assert.Empty(t, object.List(c.Get("cronjobs", "tick"), "status", "active"))
	assert.Contains(t, c.Events("CronJob", "tick"), "Normal MissingJob: Active job went missing: tick-29453761")
}
