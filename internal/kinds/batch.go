package kinds

import (
	"math"

	"github.com/kubefake/kubefake/internal/object"
)

func defaultJob(obj map[string]any) {
	spec := child(obj, "spec")
	if spec["completions"] == nil && spec["parallelism"] == nil {
		spec["completions"] = int64(1)
	}
	fill(spec, "parallelism", int64(1))
	if spec["backoffLimitPerIndex"] != nil {
		fill(spec, "backoffLimit", int64(math.MaxInt32))
	}
	fill(spec, "backoffLimit", int64(6))
	// Not a copy: what prepareJob adds to the template's labels, the job has too.
	meta, labels := object.Meta(obj), object.Map(spec, "template", "metadata", "labels")
	if len(labels) > 0 && len(object.Map(meta, "labels")) == 0 {
		meta["labels"] = labels
	}
	fill(spec, "completionMode", "NonIndexed")
	fill(spec, "suspend", false)
	if spec["podFailurePolicy"] != nil {
		fill(spec, "podReplacementPolicy", "Failed")
	}
	fill(spec, "podReplacementPolicy", "TerminatingOrFailed")
	fill(spec, "manualSelector", false)
	defaultJobSpec(spec)
}

func defaultCronJob(obj map[string]any) {
	spec := child(obj, "spec")
	fillZero(spec, "concurrencyPolicy", "Allow")
	fill(spec, "suspend", false)
	fill(spec, "successfulJobsHistoryLimit", int64(3))
	fill(spec, "failedJobsHistoryLimit", int64(1))
	defaultJobSpec(child(child(spec, "jobTemplate"), "spec"))
}

// defaultJobSpec completes what jobs and their templates share.
func defaultJobSpec(spec map[string]any) {
	defaultTemplate(child(spec, "template"))
	for rule := range object.Each(object.Value(spec, "podFailurePolicy", "rules")) {
		for pattern := range object.Each(rule["onPodConditions"]) {
			fillZero(pattern, "status", "True")
		}
	}
}

// The labels by which a job knows its pods, and what they were called before
// labels had to have a domain.
const (
	jobName             = "batch.kubernetes.io/job-name"
	jobNameBefore       = "job-name"
	controllerUID       = "batch.kubernetes.io/controller-uid"
	controllerUIDBefore = "controller-uid"
)

// prepareJob has a new job select its own pods, unless its author sees to that.
func prepareJob(obj, old map[string]any) {
	prepareTemplate(obj, old)
	if old != nil || object.Bool(obj, "spec", "manualSelector") {
		return
	}
	meta, spec := object.Meta(obj), child(obj, "spec")
	labels := child(child(child(spec, "template"), "metadata"), "labels")
	for _, label := range []struct{ name, from string }{
		{jobName, "name"}, {jobNameBefore, "name"}, {controllerUID, "uid"}, {controllerUIDBefore, "uid"},
	} {
		if _, ok := labels[label.name]; !ok {
			labels[label.name] = object.String(meta, label.from)
		}
	}
	fill(child(child(spec, "selector"), "matchLabels"), controllerUID, object.String(meta, "uid"))
}

// completeJob gives a new job without labels those of its pods.
func completeJob(obj map[string]any) bool {
	return copyLabels(object.Meta(obj), object.Value(obj, "spec", "template", "metadata", "labels"))
}

func prepareCronJob(obj, old map[string]any) {
	path := []string{"spec", "jobTemplate"}
	if template := object.Map(obj, path...); template != nil {
		prepareTemplate(template, object.Map(old, path...))
	}
}
