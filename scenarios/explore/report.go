package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/printable"
)

// A Report is the result of a search.
type Report struct {
	// Findings are what is wrong, the first found first.
	Findings []*Finding
	// Unrepeated are violations that did not happen again when their plans were repeated.
	// They do not fail a test.
	Unrepeated []*Finding
	// Plans is the number of plans that were run, without those of files and repetitions.
	Plans int
	// Saved is the number of plans of files that were run.
	Saved int
	// Points are the numbers of points of the reference run.
	Points Points
	// Coverage has what was decided, for each sort of point and action.
	Coverage []*Coverage
	// Permissions are what the system asked for in all runs, sorted.
	Permissions []Permission
	// Server is the real server, with its version, of a System with Real; "" otherwise.
	Server string
	// Unmade are decisions of System.PlanFile that were not made.
	Unmade []Unmade
	// Elapsed is the real time of the search.
	Elapsed time.Duration
}

// An Unmade is a decision that was not made.
type Unmade struct {
	Decision
	Reason string
}

// String returns the decision with the reason.
func (u Unmade) String() string { return fmt.Sprintf("not made: %s: %s", u.Decision, u.Reason) }

// Points are numbers of points.
type Points struct{ Writes, Deliveries, Lists int }

// A Coverage says at how many points of a sort an action was done.
type Coverage struct {
	// Sort is write, delivery or list.
	Sort   string
	Action Action
	// Points is the number of points of the reference run at which the action is
	// possible. Done is at how many of them it was done, by plans with one decision. Equal
	// is how many were skipped, because the server has the same state at another point.
	Points, Done, Equal int

	done digests // the decisions
}

// did counts a decision that was made.
func (c *Coverage) did(d digest) {
	if c.done == nil {
		c.done = digests{}
	}
	c.done[d] = true
	c.Done = len(c.done)
}

// add unites the coverage with that of a record.
func (c *Coverage) add(r *recordedCoverage) {
	c.Points, c.Equal = max(c.Points, r.Points), max(c.Equal, r.Equal)
	for d := range r.Done {
		c.did(d)
	}
}

// String returns the coverage on one line.
func (c *Coverage) String() string {
	line := fmt.Sprintf("%s at %d of %d %s points", c.Action, c.Done, c.Points, c.Sort)
	if c.Equal > 0 {
		line += fmt.Sprintf(", %d in the same state as another", c.Equal)
	}
	return line
}

// coverage returns the coverage of a sort and an action.
func (r *Report) coverage(sort string, do Action) *Coverage {
	for _, c := range r.Coverage {
		if c.Sort == sort && c.Action == do {
			return c
		}
	}
	c := &Coverage{Sort: sort, Action: do}
	r.Coverage = append(r.Coverage, c)
	return c
}

func countPoints(points []seenPoint) Points {
	var out Points
	for _, p := range points {
		switch p.sort() {
		case "write":
			out.Writes++
		case "delivery":
			out.Deliveries++
		default:
			out.Lists++
		}
	}
	return out
}

// String returns the report in several lines: the findings, and what was covered.
func (r *Report) String() string {
	var b strings.Builder
	for i, f := range r.Findings {
		fmt.Fprintf(&b, "finding %d: %s\n", i+1, f)
	}
	return b.String() + r.coverageText()
}

// coverageText returns the report without the findings.
func (r *Report) coverageText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d plans", r.Plans)
	if r.Elapsed > 0 {
		fmt.Fprintf(&b, " in %v", r.Elapsed.Round(time.Millisecond))
	}
	fmt.Fprintf(&b, "; the reference run has %d writes, %d deliveries and %d lists", r.Points.Writes, r.Points.Deliveries, r.Points.Lists)
	if r.Server != "" {
		fmt.Fprintf(&b, "\n\tplayed against %s, on whose own clock", r.Server)
	}
	for _, u := range r.Unmade {
		fmt.Fprintf(&b, "\n\t%s", u)
	}
	for _, c := range r.Coverage {
		fmt.Fprintf(&b, "\n\t%s", c)
	}
	if line := r.permissionsText(); line != "" {
		fmt.Fprintf(&b, "\n\t%s", line)
	}
	for _, f := range r.Unrepeated {
		fmt.Fprintf(&b, "\nonce, and not again: %s", f)
	}
	return b.String()
}

// A Finding is a plan with which the system misbehaves.
type Finding struct {
	Violation
	// Plan has the decisions that are needed. It is empty if the system misbehaves without
	// any.
	Plan Plan
	// Pause is the pause with which the workload ends, counted from 1; 0 if it does not end
	// earlier. The violation is hidden by what the workload does after the pause.
	Pause int
	// Plans is the number of plans with this violation.
	Plans int
	// Seed is that of the search.
	Seed uint64
	// Tried is how often the plan was repeated, Repeated how often the violation was
	// repeated then. The plans of System.Dir are not repeated.
	Tried, Repeated int
	// File is the file of the plan, Story that of the story of its run; "" without.
	File, Story string
	// OtherStories are the files of the stories of the other clusters, if there are several.
	OtherStories []string
	// Saved reports that the plan is one of a file, which still fails.
	Saved bool
	// Server is the real server against which the plan fails; "" without System.Real.
	Server string
	// Command runs the plan again; "" if it is not known.
	Command string

	course course // of the workload; the zero value for that of the reference run

	first int // the number of the first plan, among all plans of the search
	pages []page
	ref   *outcome // with which the run was compared; nil if it is the reference run
}

// stories returns the files of the stories of all clusters.
func (f *Finding) stories() []string { return append([]string{f.Story}, f.OtherStories...) }

// String returns the finding in several lines.
func (f *Finding) String() string {
	lines := []string{f.Violation.String()}
	switch {
	case f.Saved:
		line := "the plan of " + f.File + " fails"
		if f.Server != "" {
			line += " against " + f.Server
		}
		if f.Tried > 0 {
			line += fmt.Sprintf(" (repeated %d of %d times)", f.Repeated, f.Tried)
		}
		lines = append(lines, line+":")
	case len(f.Plan) == 0 && f.Server != "":
		lines = append(lines, fmt.Sprintf("against %s, without any fault (repeated %d of %d times)", f.Server, f.Repeated, f.Tried))
	case len(f.Plan) == 0:
		lines = append(lines, fmt.Sprintf("without any fault (repeated %d of %d times)", f.Repeated, f.Tried))
	default:
		lines = append(lines, fmt.Sprintf("after (seed %d, repeated %d of %d times)", f.Seed, f.Repeated, f.Tried))
	}
	if len(f.Plan) > 0 {
		lines = append(lines, strings.Split(f.Plan.String(), "\n")...)
	}
	if f.Pause > 0 {
		lines = append(lines, fmt.Sprintf("if the workload ends with its %s pause", ordinal(f.Pause)))
	}
	if f.File != "" && !f.Saved {
		lines = append(lines, "plan: "+f.File)
	}
	if f.Story != "" {
		lines = append(lines, "story: "+strings.Join(f.stories(), ", "))
	}
	if f.Command != "" {
		lines = append(lines, "again: "+f.Command)
	}
	return printable.Text(strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n\t"))
}
