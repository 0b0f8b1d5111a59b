package batch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// A jobStatus is the new and the old status of a Job. Most checks apply only to
// fields and conditions that changed: a stored status may be invalid because the
// spec changed after it.
type jobStatus struct {
	validation.View
	spec validation.View
	old  validation.View
	// now and before have the types of the conditions that are "True".
	now, before map[string]bool
}

func validateJobStatus(obj map[string]any, old object.View) validation.List {
	collect := func(check func(s *jobStatus)) validation.List {
		return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(p validation.View) {
			check(&jobStatus{
				View: p, spec: validation.View{Obj: object.Map(obj, "spec")}, old: validation.Of(old.At("status")),
				now: trueConditions(object.ViewOf(obj)), before: trueConditions(old),
			})
		})
	}
	return slices.Concat(
		collect(func(s *jobStatus) {
			s.NonNegative("active", "succeeded", "failed", "ready", "terminating")
			s.checkUncountedPods()
		}),
		collect(func(s *jobStatus) {
			s.checkCompletion()
			s.checkFinished()
			s.checkIndexes()
			s.checkPodCounts()
		}).WithGate(managedByGate),
		collect((*jobStatus).checkSuccessCriteria),
		collect((*jobStatus).checkUpdate).WithGate(managedByGate),
	)
}

// managedByGate is the gate of a field that other controllers than that of
// kube-controller-manager use. They are checked more strictly.
const managedByGate = "JobManagedBy"

// The types of a Job's conditions. A Job has SuccessCriteriaMet before Complete, and
// FailureTarget before Failed.
const (
	jobComplete      = "Complete"
	jobFailed        = "Failed"
	jobFailureTarget = "FailureTarget"
	jobSuccess       = "SuccessCriteriaMet"
	jobSuspended     = "Suspended"
)

func trueConditions(job object.View) map[string]bool {
	out := map[string]bool{}
	for c := range job.At("status", "conditions").Objects() {
		if c.String("status") == "True" {
			out[c.String("type")] = true
		}
	}
	return out
}

// conditionChanged reports whether one of the conditions became true or ceased to be.
func (s *jobStatus) conditionChanged(conditions ...string) bool {
	return slices.ContainsFunc(conditions, func(c string) bool { return s.now[c] != s.before[c] })
}

// changed reports whether one of the fields changed.
func (s *jobStatus) changed(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return !validation.Equal(s.Obj[name], s.old.Obj[name]) })
}

func (s *jobStatus) isFinished() bool { return s.now[jobComplete] || s.now[jobFailed] }

func (s *jobStatus) wasFinished() bool { return s.before[jobComplete] || s.before[jobFailed] }

// addConflict adds an error about the conditions.
func (s *jobStatus) addConflict(detail string) {
	s.Add(validation.Inconsistent(s.At("conditions"), detail))
}

func (s *jobStatus) checkUncountedPods() {
	pods := s.Field("uncountedTerminatedPods")
	seen := validation.Seen{}
	for _, list := range []string{"succeeded", "failed"} {
		for i, uid := range pods.Strings(list) {
			switch path := pods.At(list).Index(i); {
			case uid == "":
				s.Add(validation.Invalid(path, validation.NamedString(uid), "must not be empty"))
			case seen[uid]:
				s.Add(validation.Duplicate(path, validation.NamedString(uid)))
			}
			seen[uid] = true
		}
	}
}

// checkCompletion checks the conditions Complete and Failed and the fields that
// depend on them.
func (s *jobStatus) checkCompletion() {
	complete, failed := s.now[jobComplete], s.now[jobFailed]
	if s.conditionChanged(jobComplete, jobFailed) && complete && failed {
		s.addConflict("cannot set Complete=True and Failed=true conditions")
	}
	if s.conditionChanged(jobComplete, jobFailureTarget) && complete && s.now[jobFailureTarget] {
		s.addConflict("cannot set Complete=True and FailureTarget=true conditions")
	}
	if s.conditionChanged(jobComplete) || s.changed("completionTime") {
		switch timed := s.Has("completionTime"); {
		case timed && !complete:
			s.Invalid("completionTime", "cannot set completionTime when there is no Complete=True condition")
		case !timed && complete:
			s.Required("completionTime", "completionTime is required for Complete jobs")
		}
	}
	if s.changed("startTime", "completionTime") && before(s.String("completionTime"), s.String("startTime")) {
		s.Add(validation.Invalid(s.At("completionTime"), s.Obj["completionTime"], "must be equal to or after `startTime`").Before(behavior.PlainDetails, validation.Detail("completionTime cannot be set before startTime")))
	}
	if (s.conditionChanged(jobFailed) || s.changed("failedIndexes")) && failed && !s.now[jobFailureTarget] {
		s.addConflict("cannot set Failed=True condition without the FailureTarget=true condition")
	}
	if s.conditionChanged(jobComplete, jobSuccess) && complete && !s.now[jobSuccess] {
		s.addConflict("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
	}
}

// before reports whether a and b are times and a is before b.
func before(a, b string) bool {
	x, isX := validation.Timestamp(a)
	y, isY := validation.Timestamp(b)
	return isX && isY && x.Before(y)
}

// checkFinished checks that a finished Job has a start time and neither active nor
// uncounted pods.
func (s *jobStatus) checkFinished() {
	if !s.isFinished() {
		return
	}
	ended := !s.wasFinished()
	if (ended || s.changed("active")) && s.Int("active") > 0 {
		s.Invalid("active", "active>0 is invalid for finished job")
	}
	neverStarted := s.spec.Bool("suspend") && s.spec.Has("completions") && s.spec.Int("completions") == 0
	if (ended || s.changed("startTime")) && !neverStarted && !s.Has("startTime") {
		s.Required("startTime", "startTime is required for finished job")
	}
	if pods := s.Field("uncountedTerminatedPods"); (ended || s.changed("uncountedTerminatedPods")) && pods.Len("failed")+pods.Len("succeeded") > 0 {
		s.Add(validation.Invalid(pods.Path, validation.AsGoType("batch.UncountedTerminatedPods", pods.Obj), "must be empty for finished job").
			Before(behavior.PlainDetails, validation.Detail("uncountedTerminatedPods needs to be empty for finished job")))
	}
}

// checkIndexes checks completedIndexes and failedIndexes.
func (s *jobStatus) checkIndexes() {
	completions := s.spec.Int("completions")
	counted := s.spec.Has("completions")
	newCompleted, newFailed := s.changed("completedIndexes"), s.changed("failedIndexes")
	completed, completedErr := parseIndexes(s.String("completedIndexes"), completions)
	failed, failedErr := parseIndexes(s.String("failedIndexes"), completions)
	if newCompleted && counted && completedErr != nil {
		s.Invalid("completedIndexes", "error parsing completedIndexes: "+completedErr.Error())
	}
	if newFailed && counted && s.spec.Has("backoffLimitPerIndex") && failedErr != nil {
		s.Invalid("failedIndexes", "error parsing failedIndexes: "+failedErr.Error())
	}
	if newCompleted && s.String("completedIndexes") != "" && s.spec.String("completionMode") != "Indexed" {
		s.Invalid("completedIndexes", "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	if newFailed && s.Has("failedIndexes") && !s.spec.Has("backoffLimitPerIndex") {
		s.Invalid("failedIndexes", "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	}
	if (newCompleted || newFailed) && counted {
		if index, ok := completed.overlap(failed); ok {
			s.Invalid("failedIndexes", fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", index))
		}
	}
}

func (s *jobStatus) checkPodCounts() {
	if (s.isFinished() != s.wasFinished() || s.changed("terminating")) && s.isFinished() && s.Int("terminating") > 0 {
		s.Invalid("terminating", "terminating>0 is invalid for finished job")
	}
	if s.changed("ready", "active") && s.Has("ready") && s.Int("ready") > s.Int("active") {
		s.Invalid("ready", "cannot set more ready pods than active")
	}
}

func (s *jobStatus) checkSuccessCriteria() {
	met := s.now[jobSuccess]
	if met && s.now[jobFailed] {
		s.addConflict("cannot set SuccessCriteriaMet=True and Failed=true conditions")
	}
	if met && s.now[jobFailureTarget] {
		s.addConflict("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	}
	if s.spec.Has("successPolicy") && !met && s.now[jobComplete] {
		s.addConflict("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
	}
}

// checkUpdate checks that conditions, counters and times that cannot be undone are
// kept.
func (s *jobStatus) checkUpdate() {
	for _, c := range []string{jobFailed, jobComplete, jobFailureTarget} {
		if s.before[c] && !s.now[c] {
			s.addConflict(fmt.Sprintf("cannot disable the terminal %s=True condition", c))
		}
	}
	if failed := s.Int("failed"); failed < s.old.Int("failed") {
		s.Add(validation.Invalid(s.At("failed"), failed, "cannot decrease the failed counter"))
	}
	// An indexed Job can be scaled down.
	scalable := s.spec.String("completionMode") == "Indexed" && s.spec.Obj["completions"] == s.spec.Obj["parallelism"]
	if succeeded := s.Int("succeeded"); !scalable && succeeded < s.old.Int("succeeded") {
		s.Add(validation.Invalid(s.At("succeeded"), succeeded, "cannot decrease the succeeded counter"))
	}
	if s.Has("completionTime") && s.old.Has("completionTime") && s.changed("completionTime") {
		s.Add(validation.Invalid(s.At("completionTime"), s.Obj["completionTime"], "field is immutable").Before(behavior.PlainDetails, validation.Detail("completionTime cannot be mutated")))
	}
	resuming := s.before[jobSuspended] && !object.ViewOf(map[string]any{"status": s.Obj}).Condition(jobSuspended, "False").IsNil()
	if s.old.Has("startTime") && s.changed("startTime") && !s.spec.Bool("suspend") && !resuming {
		s.Add(validation.Invalid(s.At("startTime"), s.Obj["startTime"], "field is immutable for unsuspended job once set").
			Before(behavior.JobStartTimes, validation.Instead(validation.Required(s.At("startTime"), "startTime cannot be removed for unsuspended job"))))
	}
	if s.before[jobSuccess] && !s.now[jobSuccess] {
		s.addConflict("cannot disable the SuccessCriteriaMet=True condition")
	}
	if s.before[jobComplete] && !s.before[jobSuccess] && s.now[jobSuccess] {
		s.addConflict("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
	}
}

// indexes are the completion indexes in a text such as "1,3-5,7": intervals in
// ascending order.
type indexes []interval

// An interval includes first and last.
type interval struct{ first, last int }

// parseIndexes parses indexes that are less than completions. It returns the valid
// intervals and the first error.
func parseIndexes(text string, completions int64) (indexes, error) {
	if text == "" {
		return nil, nil
	}
	var out indexes
	var firstErr error
	for _, s := range strings.Split(text, ",") {
		next, err := parseInterval(s, completions)
		if err == nil {
			if len(out) > 0 && firstErr == nil && out[len(out)-1].last >= next.first {
				firstErr = outOfOrder(out[len(out)-1].last, next.first)
			}
			out = append(out, next)
		}
		firstErr = cmp.Or(firstErr, err)
	}
	return out, firstErr
}

func parseInterval(text string, completions int64) (interval, error) {
	parts := strings.Split(text, "-")
	if len(parts) > 2 {
		return interval{}, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	var ends [2]int
	for i, s := range parts {
		n, err := strconv.Atoi(s)
		switch {
		case err != nil:
			return interval{}, fmt.Errorf("cannot convert string to integer for index: %q", s)
		case int64(n) >= completions:
			return interval{}, fmt.Errorf("too large index: %q", s)
		}
		ends[i] = n
	}
	if len(parts) == 1 {
		return interval{ends[0], ends[0]}, nil
	}
	if ends[0] >= ends[1] {
		return interval{}, outOfOrder(ends[0], ends[1])
	}
	return interval{ends[0], ends[1]}, nil
}

func outOfOrder(previous, current int) error {
	return fmt.Errorf("non-increasing order, previous: %d, current: %d", previous, current)
}

// total returns the number of indexes.
func (x indexes) total() int64 {
	n := 0
	for _, i := range x {
		n += i.last - i.first + 1
	}
	return int64(n)
}

// overlap returns the least index that is in both, and reports whether there is one.
func (x indexes) overlap(y indexes) (int, bool) {
	for len(x) > 0 && len(y) > 0 {
		a, b := x[0], y[0]
		if a.first <= b.last && b.first <= a.last {
			return max(a.first, b.first), true
		}
		if a.first <= b.first {
			x = x[1:]
		} else {
			y = y[1:]
		}
	}
	return 0, false
}
