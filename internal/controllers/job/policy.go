package job

import (
	"fmt"

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
	for i, rule := range r.spec.At("podFailurePolicy", "rules").Items() {
		action := rule.String("action")
		message := ""
		if codes := rule.At("onExitCodes"); !codes.IsNil() {
			s := matchExitCodes(p.obj, codes)
			if s.IsNil() {
				continue
			}
			message = fmt.Sprintf("Container %s for pod %s/%s failed with exit code %d matching %s rule at index %d", s.String("name"),
				p.Namespace, p.Name, exitCode(s), action, i)
		} else {
			c := matchPodConditions(p.obj, rule.At("onPodConditions"))
			if c.IsNil() {
				continue
			}
			message = fmt.Sprintf("Pod %s/%s has condition %s matching %s rule at index %d", p.Namespace, p.Name, c.String("type"), action, i)
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
	if r.spec.IsNil("podFailurePolicy") {
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
// code of the rule, nothing if there is none.
func matchExitCodes(pod, rule object.View) object.View {
	name := rule.String("containerName")
	in := rule.String("operator") == "In"
	for _, field := range []string{"containerStatuses", "initContainerStatuses"} {
		for s := range pod.At("status", field).Objects() {
			if s.IsNil("state", "terminated") || name != "" && name != s.String("name") {
				continue
			}
			if code := exitCode(s); code != 0 && hasCode(rule.At("values"), code) == in {
				return s
			}
		}
	}
	return object.View{}
}

func hasCode(codes object.View, code int64) bool {
	for _, c := range codes.Items() {
		if c.EqualTo(code) {
			return true
		}
	}
	return false
}

func exitCode(containerStatus object.View) int64 {
	return controller.IntOr(containerStatus, 0, "state", "terminated", "exitCode")
}

// matchPodConditions returns the first condition that one of the patterns matches,
// nothing if there is none.
func matchPodConditions(pod, patterns object.View) object.View {
	for c := range pod.At("status", "conditions").Objects() {
		for p := range patterns.Objects() {
			if c.At("type").Equal(p.At("type")) && c.At("status").Equal(p.At("status")) {
				return c
			}
		}
	}
	return object.View{}
}

// matchSuccess returns the message of the first rule of a successPolicy that the
// succeeded indexes satisfy.
func matchSuccess(policy object.View, completions int, succeeded intervals) (string, bool) {
	if len(succeeded) == 0 {
		return "", false
	}
	for i, rule := range policy.At("rules").Items() {
		count, hasCount := rule.Int("succeededCount")
		if text, ok := rule.At("succeededIndexes").Shared().(string); ok {
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
