package job

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// Annotations of the Pods of indexed Jobs.
const (
	indexAnnotation    = "batch.kubernetes.io/job-completion-index" // a label too
	failuresAnnotation = "batch.kubernetes.io/job-index-failure-count"
	ignoredAnnotation  = "batch.kubernetes.io/job-index-ignored-failure-count"
)

// indexVariable is the environment variable with the index.
const indexVariable = "JOB_COMPLETION_INDEX"

// noIndex is the index of a Pod without one.
const noIndex = -1

// indexOf returns the completion index of a Pod, or noIndex.
func indexOf(pod object.View) int {
	n, err := strconv.Atoi(pod.String("metadata", "annotations", indexAnnotation))
	if err != nil || n < 0 {
		return noIndex
	}
	return n
}

// number returns the number in an annotation of a Pod, 0 if there is none.
func number(p *pod, annotation string) int64 {
	n, err := strconv.ParseInt(p.obj.String("metadata", "annotations", annotation), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return n
}

// allFailures returns how often the Pods of the index before a Pod have failed.
func allFailures(p *pod) int64 { return number(p, failuresAnnotation) + number(p, ignoredAnnotation) }

func sortByIndex(pods []*pod) {
	slices.SortStableFunc(pods, func(a, b *pod) int { return cmp.Compare(a.index, b.index) })
}

// intervals are a set of indexes: intervals in their order, with a gap between each two.
type intervals []interval

// An interval is the indexes from first to last, both inclusive.
type interval struct{ first, last int }

// indexes returns the indexes of Pods.
func indexes(pods []*pod) (out intervals) {
	for _, p := range pods {
		if p.index != noIndex {
			out = out.with(p.index)
		}
	}
	return out
}

// with returns the set with one more index. It does not change s.
func (s intervals) with(index int) intervals {
	if s.has(index) {
		return s
	}
	return s.merge(intervals{{index, index}})
}

// merge returns the union of two sets.
func (s intervals) merge(other intervals) (out intervals) {
	all := slices.SortedStableFunc(slices.Values(slices.Concat(s, other)), func(a, b interval) int { return cmp.Compare(a.first, b.first) })
	for _, v := range all {
		if n := len(out); n > 0 && v.first <= out[n-1].last+1 {
			out[n-1].last = max(out[n-1].last, v.last)
		} else {
			out = append(out, v)
		}
	}
	return out
}

func (s intervals) has(index int) bool {
	i, ok := slices.BinarySearchFunc(s, index, func(v interval, index int) int { return cmp.Compare(v.last, index) })
	return ok || i < len(s) && s[i].first <= index
}

// total returns the number of indexes.
func (s intervals) total() (n int) {
	for _, v := range s {
		n += v.last - v.first + 1
	}
	return n
}

// common returns the number of indexes that two sets have in common.
func (s intervals) common(other intervals) (n int) {
	for _, a := range s {
		for _, b := range other {
			n += max(0, min(a.last, b.last)-max(a.first, b.first)+1)
		}
	}
	return n
}

// String returns the set as the status has it: "0,2-4,6,7".
func (s intervals) String() string {
	var parts []string
	for _, v := range s {
		parts = append(parts, strconv.Itoa(v.first))
		switch v.last - v.first {
		case 0:
		case 1:
			parts = append(parts, strconv.Itoa(v.last))
		default:
			parts[len(parts)-1] += "-" + strconv.Itoa(v.last)
		}
	}
	return strings.Join(parts, ",")
}

// parseIntervals is the inverse of String, for the indexes below n. It skips what it
// cannot parse.
func parseIntervals(text string, n int) (out intervals) {
	for _, part := range strings.Split(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		last := first
		if ranged {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		if first < n {
			out = out.merge(intervals{{first, min(last, n-1)}})
		}
	}
	return out
}
