package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/scrub"
)

// A remainError is the error of a function whose goroutines have not ended.
type remainError struct {
	text   string
	places map[string]int // numbers of goroutines by the function that has started them
}

// Error implements error.
func (e *remainError) Error() string { return e.text }

// newRemainError returns the error for a panic and the stacks of the goroutines that remain.
func newRemainError(panicked any, stacks []string) *remainError {
	e := &remainError{fmt.Sprint(panicked) + shortened(stacks), map[string]int{}}
	for _, stack := range stacks {
		e.places[creatorOf(stack)]++
	}
	return e
}

// creatorOf returns the function that has started the goroutine with a stack.
func creatorOf(stack string) string {
	_, by, _ := strings.Cut(stack, "\ncreated by ")
	by, _, _ = strings.Cut(by, "\n")
	by, _, _ = strings.Cut(by, " in goroutine ")
	return by
}

// maxStacks is how many bytes of stacks a report has.
const maxStacks = 3 << 10

// shortened returns the first stacks.
func shortened(stacks []string) string {
	var out strings.Builder
	for _, stack := range stacks {
		if out.Len() < maxStacks {
			out.WriteString("\n\n" + stack)
		}
	}
	return out.String()
}

// leaks reports goroutines that become more with what happens. Those that each process has until it
// ends are no leak, nor is one that waits for another one at the end of its process.
func (j *judgement) leaks() {
	for _, place := range slices.Sorted(maps.Keys(j.run.remain)) {
		got, want := j.run.remain[place], j.ref.remain[place]
		if got > j.run.starts*max(1, want) {
			j.report(Leaks, objectKey{}, "Start", fmt.Sprintf("%s remain that %s has started, in the reference run %d; the system was started %s: %s",
				goroutines(got), place, want, times(j.run.starts), j.run.leaked))
		}
	}
}

// growingLeaks returns what is wrong with a run without decisions whose goroutines become more with the
// workload.
func (s *search) growingLeaks(o *outcome) ([]Violation, error) {
	pauses := len(o.pauses)
	if len(o.remain) == 0 || pauses < 3 {
		return nil, nil
	}
	first, err := s.referenceUntil(1)
	if err != nil || first == nil {
		return nil, err
	}
	middle, err := s.referenceUntil((1 + pauses) / 2)
	if err != nil || middle == nil {
		return nil, err
	}
	j := &judgement{system: s.system, run: o, scrubber: scrub.ForReaders()}
	for _, place := range slices.Sorted(maps.Keys(o.remain)) {
		a, b, c := first.remain[place], middle.remain[place], o.remain[place]
		if a < b && b < c {
			j.report(Leaks, objectKey{}, "Start", fmt.Sprintf("%s remain that %s has started, after pause %d of the workload %d, after pause 1 %d: %s",
				goroutines(c), place, (1+pauses)/2, b, a, o.leaked))
		}
	}
	return j.violations, nil
}

func goroutines(n int) string {
	if n == 1 {
		return "1 goroutine"
	}
	return fmt.Sprintf("%d goroutines", n)
}
