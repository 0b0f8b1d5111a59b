package table

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// workloadPrinters print the kinds that run pods, and those that scale them.
var workloadPrinters = map[string]printer{
	"ReplicationController": func(r row) []any { return append(replicas(r), r.podTemplate("spec", r.labels("spec", "selector"))...) },
	"apps/ReplicaSet": func(r row) []any {
		return append(replicas(r), r.podTemplate("spec", r.selectorCell("spec", "selector"))...)
	},
	"apps/Deployment": func(r row) []any {
		selector, valid := r.selector("spec", "selector")
		if !valid {
			selector = "<invalid>"
		}
		return append([]any{
			r.name(), fraction(r.num("status", "readyReplicas"), r.num("spec", "replicas")),
			r.num("status", "updatedReplicas"), r.num("status", "availableReplicas"), r.age(),
		}, r.podTemplate("spec", selector)...)
	},
	"apps/StatefulSet": func(r row) []any {
		return append([]any{r.name(), fraction(r.num("status", "readyReplicas"), r.num("spec", "replicas")), r.age()}, r.podTemplate("spec")...)
	},
	"apps/DaemonSet": func(r row) []any {
		return append([]any{
			r.name(), r.num("status", "desiredNumberScheduled"), r.num("status", "currentNumberScheduled"), r.num("status", "numberReady"),
			r.num("status", "updatedNumberScheduled"), r.num("status", "numberAvailable"),
			r.labels("spec", "template", "spec", "nodeSelector"), r.age(),
		}, r.podTemplate("spec", r.selectorCell("spec", "selector"))...)
	},
	"apps/ControllerRevision": func(r row) []any {
		return []any{r.name(), controller(r), r.num("revision"), r.age()}
	},
	"batch/Job": func(r row) []any {
		return append([]any{r.name(), jobStatus(r), completions(r), jobDuration(r), r.age()},
			r.podTemplate("spec", r.selectorCell("spec", "selector"))...)
	},
	"batch/CronJob": func(r row) []any {
		suspend, last := unset, none
		if r.has("spec", "suspend") {
			suspend = boolText(r.bool("spec", "suspend"))
		}
		if r.has("status", "lastScheduleTime") {
			last = r.since("status", "lastScheduleTime")
		}
		return append([]any{
			r.name(), r.str("spec", "schedule"), r.or(none, "spec", "timeZone"), suspend, r.size("status", "active"), last, r.age(),
		}, r.podTemplate("spec.jobTemplate.spec", r.selectorCell("spec", "jobTemplate", "spec", "selector"))...)
	},
	"autoscaling/HorizontalPodAutoscaler": printAutoscaler,
	"autoscaling/Scale": func(r row) []any {
		return []any{r.name(), r.num("spec", "replicas"), r.num("status", "replicas"), r.age()}
	},
}

// podTemplate returns the cells of the containers of a pod template, followed
// by more.
func (r row) podTemplate(spec string, more ...any) []any {
	names, images := r.containers(append(strings.Split(spec, "."), "template", "spec")...)
	return append([]any{names, images}, more...)
}

func replicas(r row) []any {
	return []any{r.name(), r.num("spec", "replicas"), r.num("status", "replicas"), r.num("status", "readyReplicas"), r.age()}
}

// controller returns the name of the object's controller.
func controller(r row) string {
	for _, o := range objects(r.list("metadata", "ownerReferences")) {
		if !object.Bool(o, "controller") {
			continue
		}
		kind := object.String(o, "kind")
		if group, _, ok := strings.Cut(object.String(o, "apiVersion"), "/"); ok {
			kind += "." + group
		}
		return strings.ToLower(kind) + "/" + object.String(o, "name")
	}
	return none
}

// jobStatus returns the first status that applies to a job.
func jobStatus(r row) string {
	for _, s := range []struct{ condition, word string }{
		{"Complete", "Complete"}, {"Failed", "Failed"}, {"", "Terminating"},
		{"Suspended", "Suspended"}, {"FailureTarget", "FailureTarget"}, {"SuccessCriteriaMet", "SuccessCriteriaMet"},
	} {
		if s.condition == "" && r.deleted() || s.condition != "" && r.holds(s.condition) {
			return s.word
		}
	}
	return "Running"
}

func completions(r row) string {
	done := r.num("status", "succeeded")
	if r.has("spec", "completions") {
		return fraction(done, r.num("spec", "completions"))
	}
	text := fraction(done, 1)
	if p := r.num("spec", "parallelism"); p > 1 {
		text += " of " + itoa(p)
	}
	return text
}

func jobDuration(r row) string {
	if !r.has("status", "startTime") {
		return ""
	}
	end := r.now
	if r.has("status", "completionTime") {
		end = parseTime(r.str("status", "completionTime"))
	}
	return Duration(end.Sub(parseTime(r.str("status", "startTime"))))
}
