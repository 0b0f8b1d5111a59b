package job

import (
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// A Pod is created minFailureBackoff after the first failure; each further one doubles
// the time, up to maxFailureBackoff.
const (
	minFailureBackoff = 10 * time.Second
	maxFailureBackoff = 10 * time.Minute
)

// A backoff is the failures of the Pods of a Job since the last success.
type backoff struct {
	failures int64
	last     time.Time
}

// after returns the back-off after more Pods have ended.
func (b backoff) after(succeeded, failed []*pod) backoff {
	sortByEnd(failed)
	if len(succeeded) == 0 {
		if len(failed) > 0 {
			b.failures += int64(len(failed))
			b.last = finishedAt(failed[len(failed)-1])
		}
		return b
	}
	sortByEnd(succeeded)
	b = backoff{}
	success := finishedAt(succeeded[len(succeeded)-1])
	for _, p := range slices.Backward(failed) {
		at := finishedAt(p)
		if !at.After(success) {
			break
		}
		if b.last.IsZero() {
			b.last = at
		}
		b.failures++
	}
	return b
}

// remaining returns how long it is from now until a Pod may be created.
func (b backoff) remaining(now time.Time) time.Duration {
	if b.failures == 0 {
		return 0
	}
	d := minFailureBackoff
	for i := int64(1); i < b.failures && d < maxFailureBackoff; i++ {
		d = min(2*d, maxFailureBackoff)
	}
	return max(0, d-now.Sub(b.last))
}

func sortByEnd(pods []*pod) {
	slices.SortStableFunc(pods, func(a, b *pod) int { return finishedAt(a).Compare(finishedAt(b)) })
}

// finishedAt returns when a Pod has ended, by its containers, its condition Ready, its
// deletion or its creation.
func finishedAt(p *pod) time.Time {
	if t := containersFinished(p.obj); !t.IsZero() {
		return t
	}
	if c := controller.Condition(p.obj, "Ready"); c.String("status") == "False" {
		if t := controller.Time(c, "lastTransitionTime"); !t.IsZero() {
			return t
		}
	}
	if t := controller.Time(p.obj, "metadata", "deletionTimestamp"); !t.IsZero() {
		return t.Add(-time.Duration(controller.IntOr(p.obj, 0, "metadata", "deletionGracePeriodSeconds")) * time.Second)
	}
	return controller.Time(p.obj, "metadata", "creationTimestamp")
}

// containersFinished returns when the last container has ended, the zero time if one has
// not.
func containersFinished(pod object.View) (last time.Time) {
	sidecars := map[string]bool{}
	for c := range pod.At("spec", "initContainers").Objects() {
		sidecars[c.String("name")] = c.String("restartPolicy") == "Always"
	}
	for _, field := range []string{"containerStatuses", "initContainerStatuses"} {
		for s := range pod.At("status", field).Objects() {
			if field == "initContainerStatuses" && !sidecars[s.String("name")] {
				continue
			}
			at := controller.Time(s, "state", "terminated", "finishedAt")
			if at.IsZero() {
				return time.Time{}
			}
			if at.After(last) {
				last = at
			}
		}
	}
	return last
}
