package podautoscaler

import (
	"math"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// history is what a HorizontalPodAutoscaler has recommended and done.
type history struct {
	recommendations []change
	ups, downs      []change // of replicas, as numbers above 0
}

type change struct {
	replicas int64
	at       time.Time
}

// record adds a change in the place of the last one that is outdated, if there is one.
func record(changes []change, c change, outdated func(change) bool) []change {
	for i := len(changes) - 1; i >= 0; i-- {
		if outdated(changes[i]) {
			changes[i] = c
			return changes
		}
	}
	return append(changes, c)
}

// store remembers a change of replicas, if there is a behavior that it counts for.
func (h *history) store(behavior object.View, from, to int64, now time.Time) {
	if behavior.IsNil() {
		return
	}
	changes, direction := &h.ups, "scaleUp"
	if to < from {
		changes, direction = &h.downs, "scaleDown"
	}
	longest := int64(0)
	for p := range behavior.At(direction, "policies").Objects() {
		longest = max(longest, controller.IntOr(p, 0, "periodSeconds"))
	}
	cutoff := now.Add(-time.Duration(longest) * time.Second)
	*changes = record(*changes, change{max(to-from, from-to), now}, func(c change) bool { return c.at.Before(cutoff) })
}

// since returns the number of replicas that were changed in a number of seconds.
func since(changes []change, seconds int64, now time.Time) (n int64) {
	cutoff := now.Add(-time.Duration(seconds) * time.Second)
	for _, c := range changes {
		if c.at.After(cutoff) {
			n += c.replicas
		}
	}
	return n
}

// The conditions of a number of replicas that is stabilized or limited.
const (
	scaleDownStabilized = "recent recommendations were higher than current one, applying the highest recent recommendation"
	scaleUpStabilized   = "recent recommendations were lower than current one, applying the lowest recent recommendation"
	scaleUpLimited      = "the desired replica count is increasing faster than the maximum scale rate"
	scaleDownLimited    = "the desired replica count is decreasing faster than the maximum scale rate"
	tooMany             = "the desired replica count is more than the maximum replica count"
	tooFew              = "the desired replica count is less than the minimum replica count"
)

// normalize stabilizes and limits a number of replicas, and sets the conditions.
func (r *reconciliation) normalize(desired int64) int64 {
	behavior := r.hpa.At("spec", "behavior")
	stable, reason, message := r.stabilize(desired)
	if !behavior.IsNil() {
		stable, reason, message = r.stabilizeBy(behavior, desired)
	}
	if stable == desired {
		reason, message = "ReadyForNewScale", "recommended size matches current size"
	}
	r.setCondition("AbleToScale", "True", reason, message)
	limited, reason, message := r.limit(stable)
	if !behavior.IsNil() {
		limited, reason, message = r.limitBy(behavior, stable)
	}
	status := "True"
	if limited == stable {
		status = "False"
	}
	r.setCondition("ScalingLimited", status, reason, message)
	return limited
}

// stabilize returns the highest recommendation of the stabilization window. With a
// behavior it does nothing.
func (r *reconciliation) stabilize(desired int64) (n int64, reason, message string) {
	if !r.hpa.IsNil("spec", "behavior") {
		return desired, "", ""
	}
	cutoff := r.now.Add(-downscaleStabilization)
	n = desired
	for _, c := range r.history.recommendations {
		if !c.at.Before(cutoff) {
			n = max(n, c.replicas)
		}
	}
	r.history.recommendations = record(r.history.recommendations, change{desired, r.now}, func(c change) bool { return c.at.Before(cutoff) })
	return n, "ScaleDownStabilized", scaleDownStabilized
}

// limit limits a number of replicas without a behavior.
func (r *reconciliation) limit(desired int64) (n int64, reason, message string) {
	switch up := max(2*r.current, 4); {
	case desired < r.min:
		return r.min, "TooFewReplicas", tooFew
	case desired > up && up < r.max:
		return up, "ScaleUpLimit", scaleUpLimited
	case desired > r.max:
		return r.max, "TooManyReplicas", tooMany
	}
	return desired, "DesiredWithinRange", "the desired count is within the acceptable range"
}

// stabilizeBy returns a number of replicas between the lowest recommendation of the window
// for more replicas and the highest of the window for fewer.
func (r *reconciliation) stabilizeBy(behavior object.View, desired int64) (n int64, reason, message string) {
	window := func(direction string, other time.Duration) time.Time {
		seconds := controller.IntOr(behavior, int64(other/time.Second), direction, "stabilizationWindowSeconds")
		return r.now.Add(-time.Duration(seconds) * time.Second)
	}
	upCutoff, downCutoff := window("scaleUp", 0), window("scaleDown", downscaleStabilization)
	up, down := desired, desired
	for _, c := range r.history.recommendations {
		if c.at.After(upCutoff) {
			up = min(up, c.replicas)
		}
		if c.at.After(downCutoff) {
			down = max(down, c.replicas)
		}
	}
	r.history.recommendations = record(r.history.recommendations, change{desired, r.now}, func(c change) bool {
		return c.at.Before(upCutoff) && c.at.Before(downCutoff)
	})
	n = min(max(r.current, up), down)
	if desired >= r.current {
		return n, "ScaleUpStabilized", scaleUpStabilized
	}
	return n, "ScaleDownStabilized", scaleDownStabilized
}

// limitBy limits a number of replicas by the policies of a behavior.
func (r *reconciliation) limitBy(behavior object.View, desired int64) (n int64, reason, message string) {
	switch {
	case desired > r.current:
		limit, reason, message := r.max, "TooManyReplicas", tooMany
		if up := max(r.current, r.policyLimit(behavior.At("scaleUp"), true)); up < limit {
			limit, reason, message = up, "ScaleUpLimit", scaleUpLimited
		}
		if desired > limit {
			return limit, reason, message
		}
	case desired < r.current:
		limit, reason, message := r.min, "TooFewReplicas", tooFew
		if down := min(r.current, r.policyLimit(behavior.At("scaleDown"), false)); down > limit {
			limit, reason, message = down, "ScaleDownLimit", scaleDownLimited
		}
		if desired < limit {
			return limit, reason, message
		}
	}
	return desired, "DesiredWithinRange", "the desired count is within the acceptable range"
}

// policyLimit returns the number of replicas that the policies of one direction admit.
func (r *reconciliation) policyLimit(rules object.View, up bool) int64 {
	policy := rules.String("selectPolicy")
	if policy == "Disabled" {
		return r.current
	}
	highest := up == (policy != "Min") // the largest change up, or the smallest one down
	limit := int64(math.MaxInt32)
	if highest {
		limit = math.MinInt32
	}
	for p := range rules.At("policies").Objects() {
		period, value := controller.IntOr(p, 0, "periodSeconds"), controller.IntOr(p, 0, "value")
		start := r.current - since(r.history.ups, period, r.now) + since(r.history.downs, period, r.now)
		n := start
		percent := p.String("type") == "Percent"
		switch {
		case up && percent:
			n = int64(math.Ceil(float64(start) * (1 + float64(value)/100)))
		case up:
			n += value
		case percent:
			n = int64(float64(start) * (1 - float64(value)/100))
		default:
			n -= value
		}
		if highest {
			limit = max(limit, n)
		} else {
			limit = min(limit, n)
		}
	}
	return limit
}
