package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A comparison plays stories on two clusters.
type comparison struct {
	real, ours *cluster
	whole      bool // play a story to its end, even if the clusters have differed
}

func (c *comparison) clusters() []*cluster { return []*cluster{c.real, c.ours} }

// play plays a story on both clusters and compares them after each step.
func (c *comparison) play(ctx context.Context, s *Story) result {
	r := result{story: s}
	for i, step := range s.Steps {
		var (
			wait   sync.WaitGroup
			states [2]state
			codes  [2]int
			errs   [2]error
		)
		for n, cluster := range c.clusters() {
			wait.Add(1)
			go func() {
				defer wait.Done()
				if codes[n], errs[n] = cluster.act(ctx, s, step); errs[n] == nil {
					states[n], errs[n] = cluster.settle(ctx, cluster.namespace(s))
				}
			}()
		}
		wait.Wait()
		for n, err := range errs {
			if err != nil {
				r.err = fmt.Errorf("step %d (%s), %s: %w", i, step, []string{"real", "ours"}[n], err)
				return r
			}
		}
		r.settled = append(r.settled, states[0])
		if len(r.differences) > 0 {
			continue // what follows only repeats it
		}
		if codes[0] != codes[1] {
			r.differences = append(r.differences, fmt.Sprintf("step %d (%s): answer %d, ours %d", i, step, codes[0], codes[1]))
		}
		for _, d := range compare(states[0], states[1]) {
			r.differences = append(r.differences, fmt.Sprintf("step %d (%s): %s", i, step, d))
		}
		if len(r.differences) > 0 && !c.whole {
			break
		}
	}
	return r
}

// act sends the request of a step.
func (c *cluster) act(ctx context.Context, s *Story, step Step) (int, error) {
	ns := c.namespace(s)
	code, _, err := c.do(ctx, step.Method, strings.ReplaceAll(step.Path, "NS", ns), step.Type, expand(step.Body, ns))
	if code == http.StatusConflict && step.Method == http.MethodPatch {
		return c.act(ctx, s, step)
	}
	return code, err
}

// A state is that of a namespace: by kind and name, the fields of each object
// as text, sorted.
type state map[string][]string

// compare returns the differences of two states.
func compare(real, ours state) (out []string) {
	keys := map[string]bool{}
	for k := range real {
		keys[k] = true
	}
	for k := range ours {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		switch {
		case ours[k] == nil:
			out = append(out, k+": only real\n    "+strings.Join(real[k], "\n    "))
		case real[k] == nil:
			out = append(out, k+": only ours\n    "+strings.Join(ours[k], "\n    "))
		case !slices.Equal(real[k], ours[k]):
			lines := []string{k + ": differs"}
			for _, l := range real[k] {
				if !slices.Contains(ours[k], l) {
					lines = append(lines, "    real: "+l)
				}
			}
			for _, l := range ours[k] {
				if !slices.Contains(real[k], l) {
					lines = append(lines, "    ours: "+l)
				}
			}
			out = append(out, strings.Join(lines, "\n"))
		}
	}
	return out
}

var (
	stepPrefix  = regexp.MustCompile(`^step \d+ \([^)]*\): `)
	namesInKind = regexp.MustCompile(`^(\w+) \S+: (.*)`)
	numbers     = regexp.MustCompile(`\d+`)
)

// differenceKind returns a difference without what is particular to its story.
func differenceKind(d string) string {
	lines := strings.SplitN(stepPrefix.ReplaceAllString(d, ""), "\n", 3)
	kind := namesInKind.ReplaceAllString(lines[0], "$1: $2")
	if len(lines) > 1 && strings.HasSuffix(lines[0], "differs") {
		kind += " " + numbers.ReplaceAllString(strings.TrimSpace(lines[1]), "N")
	}
	return kind
}
