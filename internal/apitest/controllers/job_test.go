package controllers_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

func startJob(t *testing.T, spec string) workloads {
	t.Helper()
	c := startWorkloads(t, "job-controller")
	c.Create("jobs", jobWith(spec))
	return c
}

func jobWith(spec string) string {
	return `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"pi"},"spec":{` + spec +
		`"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"perl"}]}}}}`
}

// podsOfIndex returns the Pods of a completion index that are not being deleted.
func podsOfIndex(c workloads, i int) (out []fakeapi.Object) {
	for _, pod := range c.Living() {
		if object.String(pod, "metadata", "annotations", "batch.kubernetes.io/job-completion-index") == strconv.Itoa(i) {
			out = append(out, pod)
		}
	}
	return out
}

func podFinalizers(pods []fakeapi.Object) (out []string) {
	for _, pod := range pods {
		out = append(out, object.Strings(pod, "metadata", "finalizers")...)
	}
	return out
}

func TestJobCompletions(t *testing.T) {
	t.Parallel()
	c := startJob(t, `"completions":3,"parallelism":2,`)
	require.Len(t, c.Pods(), 2)
	assert.Equal(t, []string{"batch.kubernetes.io/job-tracking", "batch.kubernetes.io/job-tracking"}, podFinalizers(c.Pods()))
	assert.Equal(t, "active=2 ready=0 terminating=0", c.Status("jobs", "pi"))
	c.Run()
	assert.Equal(t, "active=2 ready=2 terminating=0", c.Status("jobs", "pi"))
	c.End("Succeeded", 0)
	require.Len(t, c.Pods(), 3, "one more completion needs one more Pod")
	assert.Equal(t, "active=1 ready=0 succeeded=2 terminating=0", c.Status("jobs", "pi"))
	c.Run()
	c.End("Succeeded", 0)
	assert.Equal(t, "ready=0 succeeded=3 terminating=0", c.Status("jobs", "pi"))
	assert.Equal(t, []string{
		"Complete=True CompletionsReached: Reached expected number of succeeded pods",
		"SuccessCriteriaMet=True CompletionsReached: Reached expected number of succeeded pods",
	}, c.Conditions("jobs", "pi"))
	assert.NotEmpty(t, object.String(c.Get("jobs", "pi"), "status", "completionTime"))
	assert.Equal(t, map[string]any{}, object.Value(c.Get("jobs", "pi"), "status", "uncountedTerminatedPods"))
	assert.Empty(t, podFinalizers(c.Pods()), "the Pods may go")
	events := c.Events("Job", "pi")
	assert.Equal(t, "Normal Completed: Job completed", events[len(events)-1])
	assert.Len(t, events, 4)
}

func TestJobWorkQueue(t *testing.T) {
	t.Parallel()
	c := startJob(t, `"parallelism":2,"completions":null,`)
	require.Len(t, c.Pods(), 2)
	c.Run()
	c.End("Succeeded", 0, c.Pods()[0].Name())
	assert.Len(t, c.Pods(), 2, "after the first success no Pod is created")
	assert.Equal(t, "active=1 ready=1 succeeded=1 terminating=0", c.Status("jobs", "pi"))
	c.End("Succeeded", 0)
	assert.Contains(t, c.Conditions("jobs", "pi")[0], "Complete=True")
}

func TestJobBackoffLimit(t *testing.T) {
	t.Parallel()
	c := startJob(t, `"backoffLimit":2,`)
	for i, wait := range []time.Duration{10 * time.Second, 20 * time.Second} {
		c.Run()
		c.End("Failed", 1)
		assert.Len(t, c.Pods(), i+1)
		c.Wait(wait - time.Second)
		assert.Len(t, c.Pods(), i+1, "the back-off doubles")
		c.Wait(time.Second)
		assert.Len(t, c.Pods(), i+2)
	}
	c.Run()
	c.End("Failed", 1)
	assert.Equal(t, []string{
		"Failed=True BackoffLimitExceeded: Job has reached the specified backoff limit",
		"FailureTarget=True BackoffLimitExceeded: Job has reached the specified backoff limit",
	}, c.Conditions("jobs", "pi"))
	assert.Equal(t, "failed=3 ready=0 terminating=0", c.Status("jobs", "pi"))
	assert.Contains(t, c.Events("Job", "pi"), "Warning BackoffLimitExceeded: Job has reached the specified backoff limit")
}

func TestJobActiveDeadline(t *testing.T) {
	t.Parallel()
	c := startJob(t, `"activeDeadlineSeconds":30,`)
	c.Run()
	c.Wait(30 * time.Second)
	assert.Equal(t, []string{"FailureTarget=True DeadlineExceeded: Job was active longer than specified deadline"}, c.Conditions("jobs", "pi"),
		"the Pod is being deleted")
	c.Reap()
	assert.Contains(t, c.Conditions("jobs", "pi"), "Failed=True DeadlineExceeded: Job was active longer than specified deadline")
	assert.Equal(t, "failed=1 ready=0 terminating=0", c.Status("jobs", "pi"))
}

func TestJobSuspend(t *testing.T) {
	t.Parallel()
	c := startJob(t, `"suspend":true,"parallelism":2,"completions":2,`)
	assert.Empty(t, c.Pods())
	assert.Equal(t, []string{"Suspended=True JobSuspended: Job suspended"}, c.Conditions("jobs", "pi"))
	c.Patch("jobs", "pi", `{"spec":{"suspend":false}}`)
	assert.Len(t, c.Pods(), 2)
	assert.Equal(t, []string{"Suspended=False JobResumed: Job resumed"}, c.Conditions("jobs", "pi"))
	c.Run()
	c.Patch("jobs", "pi", `{"spec":{"suspend":true}}`)
	assert.Empty(t, c.Living())
	c.Reap()
	assert.Equal(t, "ready=0 terminating=0", c.Status("jobs", "pi"), "deleted Pods are no failures")
	assert.Empty(t, object.String(c.Get("jobs", "pi"), "status", "startTime"))
	assert.Contains(t, c.Events("Job", "pi"), "Normal Suspended: Job suspended (x2)")
}

func TestJobIndexed(t *testing.T) {
	t.Parallel()
	c := startJob(t, `"completionMode":"Indexed","completions":4,"parallelism":3,`)
	require.Len(t, c.Pods(), 3)
	pod := podsOfIndex(c, 1)[0]
	assert.Equal(t, "pi-1-", object.String(pod, "metadata", "generateName"))
	assert.Equal(t, "pi-1", object.String(pod, "spec", "hostname"))
	assert.Equal(t, "1", object.String(pod, "metadata", "labels", "batch.kubernetes.io/job-completion-index"))
	env := object.List(object.List(pod, "spec", "containers")[0].(map[string]any), "env")
	assert.Equal(t, "JOB_COMPLETION_INDEX", env[0].(map[string]any)["name"])
	c.Run()
	c.End("Succeeded", 0, podsOfIndex(c, 0)[0].Name(), podsOfIndex(c, 2)[0].Name())
	assert.Equal(t, "active=2 completedIndexes=0,2 ready=1 succeeded=2 terminating=0", c.Status("jobs", "pi"))
	require.Len(t, podsOfIndex(c, 3), 1)
	c.RunAll()
	c.End("Succeeded", 0)
	assert.Equal(t, "completedIndexes=0-3 ready=0 succeeded=4 terminating=0", c.Status("jobs", "pi"))
}

func TestJobBackoffLimitPerIndex(t *testing.T) {
	t.Parallel()
	c := startJob(t, `"completionMode":"Indexed","completions":2,"parallelism":2,"backoffLimitPerIndex":1,`)
	c.Run()
	first := podsOfIndex(c, 0)[0].Name()
	c.End("Failed", 1, first)
	assert.Len(t, podsOfIndex(c, 0), 1)
	assert.NotEmpty(t, podFinalizers([]fakeapi.Object{c.Get("pods", first)}), "it keeps its finalizer until it is replaced")
	c.Wait(10 * time.Second)
	require.Len(t, podsOfIndex(c, 0), 2)
	assert.Empty(t, podFinalizers([]fakeapi.Object{c.Get("pods", first)}))
	c.Run()
	for _, pod := range podsOfIndex(c, 0) {
		if pod.Name() != first {
			assert.Equal(t, "1", object.String(pod, "metadata", "annotations", "batch.kubernetes.io/job-index-failure-count"))
			c.End("Failed", 1, pod.Name())
		}
	}
	assert.Equal(t, "active=1 failed=2 failedIndexes=0 ready=1 terminating=0", c.Status("jobs", "pi"))
	c.End("Succeeded", 0)
	assert.Contains(t, c.Conditions("jobs", "pi"), "Failed=True FailedIndexes: Job has failed indexes")
	assert.Equal(t, "completedIndexes=1 failed=2 failedIndexes=0 ready=0 succeeded=1 terminating=0", c.Status("jobs", "pi"))
}

func TestJobPodFailurePolicy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, rule, want, status string }{
		{"fail", `{"action":"FailJob","onExitCodes":{"operator":"In","values":[42]}}`,
			"Failed=True PodFailurePolicy: Container c for pod shop/%s failed with exit code 42 matching FailJob rule at index 0", "failed=1 ready=0 terminating=0"},
		{"ignore", `{"action":"Ignore","onExitCodes":{"operator":"NotIn","values":[1]}}`, "", "ready=0 terminating=0"},
		{"count", `{"action":"FailJob","onExitCodes":{"operator":"In","values":[1]}}`, "", "failed=1 ready=0 terminating=0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := startJob(t, `"podFailurePolicy":{"rules":[`+tt.rule+`]},`)
			c.Run()
			name := c.Pods()[0].Name()
			c.End("Failed", 42)
			assert.Equal(t, tt.status, c.Status("jobs", "pi"))
			if tt.want != "" {
				assert.Equal(t, []string{
					"Failed=True PodFailurePolicy: Container c for pod shop/" + name + " failed with exit code 42 matching FailJob rule at index 0",
					"FailureTarget=True PodFailurePolicy: Container c for pod shop/" + name + " failed with exit code 42 matching FailJob rule at index 0",
				}, c.Conditions("jobs", "pi"))
			} else {
				assert.Empty(t, c.Conditions("jobs", "pi"))
			}
		})
	}
}

func TestJobSuccessPolicy(t *testing.T) {
	t.Parallel()
	c := startJob(t, `"completionMode":"Indexed","completions":3,"parallelism":3,"successPolicy":{"rules":[{"succeededIndexes":"0"}]},`)
	c.Run()
	c.End("Succeeded", 0, podsOfIndex(c, 0)[0].Name())
	assert.Equal(t, []string{"SuccessCriteriaMet=True SuccessPolicy: Matched rules at index 0"}, c.Conditions("jobs", "pi"))
	c.Reap()
	assert.Contains(t, c.Conditions("jobs", "pi"), "Complete=True SuccessPolicy: Matched rules at index 0")
	assert.Equal(t, "completedIndexes=0 ready=0 succeeded=1 terminating=0", c.Status("jobs", "pi"))
}

func TestJobDeletion(t *testing.T) {
	t.Parallel()
	c := startJob(t, "")
	c.Run()
	c.Patch("jobs", "pi", `{"metadata":{"finalizers":["example.com/keep"]}}`)
	c.Remove("jobs", "pi")
	assert.Len(t, c.Living(), 1, "without a garbage collector the Pod runs on")
	c.Patch("jobs", "pi", `{"metadata":{"finalizers":null}}`)
	_, err := c.Server.Get("jobs", "shop", "pi")
	require.ErrorIs(t, err, fakeapi.ErrNotFound)
	assert.Empty(t, podFinalizers(c.Pods()))
}

func TestJobManagedBy(t *testing.T) {
	t.Parallel()
	c := startJob(t, `"managedBy":"example.com/other",`)
	assert.Empty(t, c.Pods())
	assert.Empty(t, c.Status("jobs", "pi"))
}

// A watch cache that lags shows neither the Pods nor that their finalizers are gone.
func TestJobLag(t *testing.T) {
	t.Parallel()
	c := startJob(t, `"completions":2,"parallelism":2,`)
	c.Run()
	require.NoError(t, c.SetLag("jobs", fakeapi.Lag{Frozen: true}))
	c.End("Succeeded", 0)
	require.NoError(t, c.SetLag("jobs", fakeapi.Lag{}))
	c.Wait(time.Minute)
	assert.Equal(t, "ready=0 succeeded=2 terminating=0", c.Status("jobs", "pi"), "no Pod is counted twice")
	assert.Len(t, c.Pods(), 2)
}
