package job

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// A failure is what the podFailurePolicy of a Job says about a failed Pod.
type failure struct {
	action  string // of the rule that matches, "" if none does
	counts  bool   // against the back-off limits
	message string // for the action FailJob
}

// matchFailure applies the first rule of the podFailurePolicy that matches a Pod.
func (r *run) matchFailure(p *pod) failure {
	for i, rule := range object.List(r.spec, "podFailurePolicy", "rules") {
		rule, _ := rule.(map[string]any)
		action := object.String(rule, "action")
		message := ""
		if codes := object.Map(rule, "onExitCodes"); codes != nil {
			s := matchExitCodes(p.obj, codes)
			if s == nil {
				continue
			}
			message = fmt.Sprintf("Container %s for pod %s/%s failed with exit code %d matching %s rule at index %d", object.String(s, "name"),
				p.Namespace, p.Name, exitCode(s), action, i)
		} else {
			c := matchPodConditions(p.obj, object.List(rule, "onPodConditions"))
			if c == nil {
				continue
			}
			message = fmt.Sprintf("Pod %s/%s has condition %s matching %s rule at index %d", p.Namespace, p.Name, object.String(c, "type"), action, i)
		}
		switch action {
		case "Ignore":
			return failure{action: action}
		case "FailJob":
			return failure{action: action, counts: true, message: message}
		case "FailIndex", "Count":
			return failure{action: action, counts: true}
		}
	}
	return failure{counts: true}
}

// failMessage returns the message of the first failed Pod that fails the Job, "" if
// there is none.
func (r *run) failMessage() string {
	if r.spec["podFailurePolicy"] == nil {
		return ""
	}
	for _, p := range r.pods {
		if r.isFailed(p) {
			if message := r.matchFailure(p).message; message != "" {
				return message
			}
		}
	}
	return ""
}

// indexFailed reports whether a failed Pod fails its index.
func (r *run) indexFailed(p *pod) bool {
	if !r.isFailed(p) {
		return false
	}
	f := r.matchFailure(p)
	return f.action == "FailIndex" || f.counts && number(p, failuresAnnotation) >= controller.IntOr(r.spec, 0, "backoffLimitPerIndex")
}

// indexFailures returns the numbers of failures of the index of a Pod that is to be
// replaced: those that count and those that the podFailurePolicy ignores.
func (r *run) indexFailures(p *pod) (counted, ignored int64) {
	if p == nil {
		return 0, 0
	}
	counted, ignored = number(p, failuresAnnotation), number(p, ignoredAnnotation)
	if r.matchFailure(p).counts {
		return counted + 1, ignored
	}
	return counted, ignored + 1
}

// matchExitCodes returns the status of the first container that has failed with an exit
// code of the rule, nil if there is none.
func matchExitCodes(pod, rule map[string]any) map[string]any {
	name := object.String(rule, "containerName")
	in := object.String(rule, "operator") == "In"
	for _, field := range []string{"containerStatuses", "initContainerStatuses"} {
		for s := range object.Each(object.Value(pod, "status", field)) {
			if object.Map(s, "state", "terminated") == nil || name != "" && name != object.String(s, "name") {
				continue
			}
			if code := exitCode(s); code != 0 && slices.Contains(object.List(rule, "values"), any(code)) == in {
				return s
			}
		}
	}
	return nil
}

func exitCode(containerStatus map[string]any) int64 {
	return controller.IntOr(containerStatus, 0, "state", "terminated", "exitCode")
}

// matchPodConditions returns the first condition that one of the patterns matches, nil
// if there is none.
func matchPodConditions(pod map[string]any, patterns []any) map[string]any {
	for c := range object.Each(object.Value(pod, "status", "conditions")) {
		for p := range object.Each(patterns) {
			if c["type"] == p["type"] && c["status"] == p["status"] {
				return c
			}
		}
	}
	return nil
}

// matchSuccess returns the message of the first rule of a successPolicy that the
// succeeded indexes satisfy.
func matchSuccess(policy map[string]any, completions int, succeeded intervals) (string, bool) {
	if len(succeeded) == 0 {
		return "", false
	}
	for i, rule := range object.List(policy, "rules") {
		rule, _ := rule.(map[string]any)
		count, hasCount := object.Int(rule, "succeededCount")
		if text, ok := rule["succeededIndexes"].(string); ok {
			required := parseIntervals(text, completions)
			met := required.common(succeeded)
			if len(required) > 0 && (met == required.total() || hasCount && int64(met) >= count) {
				return fmt.Sprintf("Matched rules at index %d", i), true
			}
		} else if hasCount && int64(succeeded.total()) >= count {
			return fmt.Sprintf("Matched rules at index %d", i), true
		}
	}
	return "", false
}
