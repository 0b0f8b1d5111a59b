package explore

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/glob"
	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/internal/scrub"
)

// An Oracle is a property that each run must have. The names are for reports and for
// Exception.
type Oracle string

const (
	// EndState requires that the objects which a run has written end as in the reference
	// run, and so they do if the workload ends with one of its pauses. Generated names, UIDs, versions, times, generations and allocated addresses
	// are not compared, nor are objects whose owners were deleted. Of what only the
	// controllers of the cluster have written, that which runs is compared: the Pods, with
	// phase and readiness, and the specs of other objects unless they ask for 0 replicas. The
	// rest is history, such as revisions, old ReplicaSets and statuses. Of a system that writes
	// history itself, the newest revision is compared, and there may be fewer old ones. PEM blocks that
	// no user has written count by their types.
	EndState Oracle = "end-state"
	// Churn requires that no object is created or deleted more often than in the
	// reference run. Objects with generated names are counted together. An object that the system
	// creates for one whose deletion it was not told of, and that is deleted in the end, does not count. Those of the
	// controllers of the cluster count if what owns them has changed its template for Pods
	// more often than in the reference run.
	Churn Oracle = "churn"
	// Duplicates requires that at no time more objects with a generated name exist than
	// in the reference run, apart from those of the controllers of the cluster.
	Duplicates Oracle = "duplicates"
	// Orphans requires that no object ends with an owner that does not exist, if the garbage
	// collector runs, unless one does in the reference run. Of the reference run it also
	// requires that the system leaves no object behind without an owner that it has created
	// for an object that was deleted.
	Orphans Oracle = "orphans"
	// Settles requires that the system stops writing after the workload.
	Settles Oracle = "settles"
	// WriteBudget requires that the system does not try to write an object much more
	// often than in the reference run: twice as often and 30 times. Attempts that are refused with 409
	// because the system's view of the object is behind do not count if they are not more than the
	// events that the system gets meanwhile and a queue with client-go's back-off explain. In the
	// reference run other objects must change meanwhile.
	WriteBudget Oracle = "write-budget"
	// Recovers requires that the system ends no watch that it has in the end of the
	// reference run, unless it ends itself, and does not repeat requests that fail without an
	// event in between.
	Recovers Oracle = "recovers"
	// Valid requires that the server refuses no request of the system with 422 that it
	// does not refuse in the reference run.
	Valid Oracle = "valid"
	// Panics requires that Start does not panic, and that it does not end with an error
	// again and again.
	Panics Oracle = "panics"
	// Leaks requires that goroutines of Start that do not end with its context do not become more: with
	// each part of the workload, or with faults, of which a start explains as many as in the reference run
	// or one. A process ends with its goroutines.
	Leaks Oracle = "leaks"
	// Finishes requires that the workload succeeds.
	Finishes Oracle = "workload"
	// Path requires, of a workload of Changes, that objects end as they do if the object is created as it
	// ends: the state depends on the last spec and not on those before.
	Path Oracle = "path"
	// Idempotent requires, of a workload of Changes, that the system writes nothing when it starts again
	// and nothing has changed.
	Idempotent Oracle = "idempotent"
	// Converts requires, of a workload of Changes, that an object stays as it is when a client of another
	// served version writes back what it has read: a conversion loses nothing.
	Converts Oracle = "conversion"
	// Holds requires that the invariants of the System hold at every revision.
	Holds Oracle = "invariant"
)

// A Violation is what an oracle reports.
type Violation struct {
	Oracle Oracle
	// Subject is what the violation is about: an object, a request or an invariant. It is
	// the same in every run.
	Subject string
	// Detail says what is wrong.
	Detail string
}

// String returns the violation on one line or more.
func (v Violation) String() string {
	if v.Subject == "" {
		return printable.Text(fmt.Sprintf("%s: %s", v.Oracle, v.Detail))
	}
	return printable.Text(fmt.Sprintf("%s: %s: %s", v.Oracle, printable.Line(v.Subject), v.Detail))
}

// same reports whether two violations are of the same bug.
func (v Violation) same(other Violation) bool {
	return v.Oracle == other.Oracle && v.Subject == other.Subject
}

const (
	// spareWrites is how many attempts to write an object are allowed beside twice those
	// of the reference.
	spareWrites = 30
	// spareFailures is how often a request may fail while the system should be calm, beside once
	// for each event that its client gets: a client may ask about each.
	spareFailures = 5
)

// judge returns the violations of a run. ref is nil for the reference run itself.
func (s *System) judge(o, ref *outcome, pace Pace) []Violation {
	j := &judgement{system: s, run: o, ref: ref, scrubber: scrub.ForReaders()}
	for _, p := range o.panics {
		j.report(Panics, objectKey{}, "Start", "panic: "+p)
	}
	if n := len(o.exits); n > 0 && (ref == nil || n >= maxExits) { // a process may end when a decision hits it
		j.report(Panics, objectKey{}, "Start", fmt.Sprintf("it has returned an error %s, such as: %s", times(n), o.exits[n-1]))
	}
	if o.workload != nil {
		j.report(Finishes, objectKey{}, "", o.workload.Error())
	}
	if o.unsettled {
		j.report(Settles, objectKey{}, "", fmt.Sprintf("objects were written until the end, %v after the workload: %s", pace.Limit.Round(time.Millisecond), lastWrites(o)))
	}
	j.invariants()
	if ref == nil {
		j.judgeReference()
		return j.violations
	}
	j.leaks()
	j.states(EndState, o.final, ref.final)
	j.churn()
	j.duplicates()
	j.orphans()
	j.writeBudget()
	j.recovers(pace)
	j.valid()
	return j.violations
}

type judgement struct {
	system     *System
	run, ref   *outcome
	scrubber   *scrub.Scrubber
	violations []Violation
}

// report adds a violation, without secrets, unless an exception covers it. The zero key is no
// object.
func (j *judgement) report(oracle Oracle, key objectKey, subject, detail string) {
	if j.system.excepts(oracle, key, "") {
		return
	}
	if subject == "" && key != (objectKey{}) {
		subject = key.String()
	}
	v := Violation{oracle, subject, j.scrubber.Text(detail)}
	if !slices.ContainsFunc(j.violations, v.same) {
		j.violations = append(j.violations, v)
	}
}

// excepts reports whether an exception covers an object, and the field if it is not "".
func (s *System) excepts(oracle Oracle, key objectKey, field string) bool {
	for _, e := range s.Ignore {
		covered := e.Field == "" || field != "" && (field == e.Field || strings.HasPrefix(field, e.Field+"."))
		if covered && (e.Oracle == "" || e.Oracle == oracle) &&
			matches(e.Cluster, key.in) && matches(e.Resource, key.resource) && matches(e.Namespace, key.namespace) && matches(e.Name, key.name) {
			return true
		}
	}
	return false
}

// exceptsWithin reports whether an exception covers a field below a field of an object.
func (s *System) exceptsWithin(oracle Oracle, key objectKey, field string) bool {
	return slices.ContainsFunc(s.Ignore, func(e Exception) bool {
		return strings.HasPrefix(e.Field, field+".") && s.excepts(oracle, key, e.Field)
	})
}

// matches reports whether a text has a pattern, in which * is any characters; "" matches
// everything.
func matches(pattern, text string) bool { return pattern == "" || glob.Match(pattern, text) }

// sortedKeys returns the keys of two maps in order.
func sortedKeys[V any](a, b map[objectKey]V) []objectKey {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.SortedFunc(maps.Keys(all), func(a, b objectKey) int { return strings.Compare(a.String(), b.String()) })
}

// states reports, for EndState or Path, how two states differ.
func (j *judgement) states(oracle Oracle, run, ref map[objectKey][]ended) {
	for _, key := range sortedKeys(run, ref) {
		got := run[key]
		want := withoutMissedHistory(ref[key], got)
		if len(got) != len(want) {
			j.report(oracle, key, "", fmt.Sprintf("%s in the end, %d in the reference run", count(len(got)), len(want)))
			continue
		}
		for i := range got {
			if got[i] == want[i] {
				continue
			}
			var g, w any
			if json.Unmarshal([]byte(got[i].text), &g) != nil || json.Unmarshal([]byte(want[i].text), &w) != nil {
				continue // unreachable: they are JSON
			}
			var diffs []string
			j.diff(oracle, key, "", j.scrubber.Body(key.resource, g), j.scrubber.Body(key.resource, w), &diffs)
			if len(diffs) > 0 {
				j.report(oracle, key, "", strings.Join(diffs, "; "))
			}
		}
	}
}

// count returns a number of objects in words.
func count(n int) string {
	switch n {
	case 0:
		return "it does not exist"
	case 1:
		return "1 exists"
	}
	return fmt.Sprintf("%d exist", n)
}

// diff appends the fields that differ, with the value of the run first.
func (j *judgement) diff(oracle Oracle, key objectKey, field string, got, want any, out *[]string) {
	if field != "" && j.system.excepts(oracle, key, field) {
		return
	}
	g, gotMap := got.(map[string]any)
	w, wantMap := want.(map[string]any)
	absent := gotMap && want == nil || wantMap && got == nil
	if gotMap && wantMap || absent && j.system.exceptsWithin(oracle, key, field) {
		all := map[string]any{}
		maps.Copy(all, g)
		maps.Copy(all, w)
		for _, k := range slices.Sorted(maps.Keys(all)) {
			j.diff(oracle, key, strings.TrimPrefix(field+"."+k, "."), g[k], w[k], out)
		}
		return
	}
	a, b := compact(got), compact(want)
	if a != b {
		*out = append(*out, fmt.Sprintf("%s is %s, in the reference run %s", field, a, b))
	}
}

// compact returns a value as JSON, shortened.
func compact(v any) string {
	if v == nil {
		return "absent"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error() // unreachable: the value is JSON
	}
	if len(b) > 200 {
		return string(b[:200]) + "..."
	}
	return string(b)
}

func (j *judgement) churn() {
	for _, key := range sortedKeys(j.run.totals, nil) {
		got, want := j.run.totals[key], j.ref.totals[key]
		if got.dependent && (got.root == key || j.run.totals[got.root].templates <= j.ref.totals[got.root].templates) {
			continue // how many the cluster makes on the way depends on what the root was before
		}
		if got.created > want.created {
			j.report(Churn, key, "", fmt.Sprintf("created %s, in the reference run %s", times(got.created), times(want.created)))
		} else if got.deleted > want.deleted {
			j.report(Churn, key, "", fmt.Sprintf("deleted %s, in the reference run %s", times(got.deleted), times(want.deleted)))
		}
	}
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (j *judgement) duplicates() {
	for _, key := range sortedKeys(j.run.totals, nil) {
		want, known := j.ref.totals[key]
		if got := j.run.totals[key]; known && !got.dependent && strings.HasSuffix(key.name, "*") && got.most > want.most {
			j.report(Duplicates, key, "", fmt.Sprintf("%d at a time, in the reference run at most %d", got.most, want.most))
		}
	}
}

func (j *judgement) orphans() {
	for _, key := range sortedKeys(j.run.orphans, nil) {
		if j.ref.orphans[key] == "" {
			j.report(Orphans, key, "", "it ends with an owner that does not exist: "+j.run.orphans[key])
		}
	}
}

func (j *judgement) writeBudget() {
	run, ref := j.run.attempts, j.ref.attempts
	for _, key := range sortedKeys(run, nil) {
		excused := j.run.excused[key]
		if got, budget := run[key]-excused, 2*ref[key]+spareWrites+2*j.run.garbage; got > budget {
			detail := fmt.Sprintf("the system has tried to write it %s, in the reference run %s", times(run[key]), times(ref[key]))
			if excused > 0 {
				detail += fmt.Sprintf("; %d of them do not count, because its view was behind", excused)
			}
			j.report(WriteBudget, key, "", detail)
		}
	}
}

func (j *judgement) recovers(pace Pace) {
	for _, w := range slices.Compact(slices.Sorted(slices.Values(j.ref.watches))) {
		if j.run.begun[w] && !slices.Contains(j.run.watches, w) {
			j.report(Recovers, objectKey{}, "watch of "+w, "the system does not watch in the end, as it does in the reference run")
		}
	}
	byName := func(a, b failure) int { return strings.Compare(a.String(), b.String()) }
	for _, f := range slices.SortedFunc(maps.Keys(j.run.failures), byName) {
		if got := j.run.failures[f]; got > j.ref.failures[f]+j.run.news[f.client]+spareFailures {
			j.report(Recovers, objectKey{}, f.String(), fmt.Sprintf("it has failed %s in the last %v", times(got), pace.Quiet.Round(time.Millisecond)))
		}
	}
}

func (j *judgement) valid() {
	for _, key := range sortedKeys(j.run.invalid, nil) {
		if j.ref.invalid[key] == "" {
			j.report(Valid, key, "", fmt.Sprintf("the server has refused the system's %s with 422", j.run.invalid[key]))
		}
	}
}

// lastWrites lists the last writes of a run.
func lastWrites(o *outcome) string {
	var lines []string
	for _, c := range o.changes[max(0, len(o.changes)-3):] {
		lines = append(lines, fmt.Sprintf("%s by %s", c.what, c.client))
	}
	return strings.Join(lines, ", ")
}
