package explore

import (
	"fmt"
	"slices"
	"strings"
)

// An Action is what a Decision does at its point.
type Action string

const (
	// Crash ends the system at the point, which the system does not pass: a write is
	// not served, an event not delivered. The system starts again soon.
	Crash Action = "crash"
	// CrashAfter ends the system after a write is committed and before its answer is
	// sent. The system starts again soon.
	CrashAfter Action = "crash-after"
	// Stop is Crash, except that the system starts again only when the workload is
	// over.
	Stop Action = "stop"
	// Rewind takes the system back in time: another API server of the cluster stops at
	// the state of the point, and the system that starts after the next crash reads from
	// that one for Pace.Hold. If the plan has no crash, the system crashes when the
	// workload is over.
	Rewind Action = "rewind"
	// Lose serves a write and breaks the connection instead of answering.
	Lose Action = "lose"
	// Conflict answers an update or a patch with 409 instead of serving it.
	Conflict Action = "conflict"
	// Hold withholds an event, and everything after it, from one watch for Pace.Hold.
	Hold Action = "hold"
	// Delay delivers an event, and those after it on the same watch, a quarter of
	// Pace.Hold late, until the workload is over.
	Delay Action = "delay"
	// Expire ends a watch with 410 instead of sending an event, or answers a list with
	// a continue token with 410.
	Expire Action = "expire"
	// Compact ends a watch before an event is sent, and removes the history that the
	// watch would continue from.
	Compact Action = "compact"
	// Partition cuts the system off from the cluster of the point for Pace.Hold, and not from the
	// others: a write is not served, an event is withheld. It is for systems of several clusters.
	Partition Action = "partition"
)

// actions are all actions, in the order in which they are tried first.
var actions = []Action{Crash, Hold, CrashAfter, Expire, Rewind, Delay, Lose, Stop, Conflict, Compact, Partition}

// A Point is a moment of a run at which a decision can be made.
type Point struct {
	// Cluster is the name of the cluster, if the system has several.
	Cluster string `json:"cluster,omitempty"`
	// Client is the user agent of the client, without what follows the first space.
	Client string `json:"client"`
	// Verb is the verb of the request; watch for a delivery.
	Verb string `json:"verb"`
	// Event is the type of a delivered event: ADDED, MODIFIED or DELETED.
	Event string `json:"event,omitempty"`
	// Resource is as in faults.Fault: "pods", "deployments.apps", "pods/status".
	Resource string `json:"resource"`
	// Namespace and Name are those of the object. A name that the server has generated
	// is a prefix with *.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// More marks a list with a continue token.
	More bool `json:"more,omitempty"`
	// Nth is the number among the points of a run that are equal otherwise, from 1.
	Nth int `json:"nth"`
}

// String describes the point: "the 2nd create of pods default by manager/v1".
func (p Point) String() string {
	what := p.Verb
	switch {
	case p.Event != "":
		what = "delivery of " + p.Event
	case p.More:
		what = "list of the next page"
	}
	object := strings.Trim(p.Namespace+"/"+p.Name, "/")
	if object != "" {
		object = " " + object
	}
	preposition := "by"
	if p.Event != "" {
		preposition = "to"
	}
	if p.Cluster != "" {
		object += " in " + p.Cluster
	}
	return fmt.Sprintf("the %s %s of %s%s %s %s", ordinal(p.Nth), what, p.Resource, object, preposition, p.Client)
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}

// isWrite reports whether the point is a request that changes something.
func (p Point) isWrite() bool {
	switch p.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// actions returns what can be decided at the point.
func (p Point) actions() []Action {
	out := p.actionsOfOne()
	if p.Cluster != "" && len(out) > 1 { // not at a list
		out = append(out, Partition)
	}
	return out
}

// actionsOfOne is actions for a system of one cluster.
func (p Point) actionsOfOne() []Action {
	switch {
	case p.Event != "":
		return []Action{Crash, Hold, Delay, Expire, Rewind, Stop, Compact}
	case p.Verb == "list" && p.More:
		return []Action{Expire}
	case p.Verb == "update" || p.Verb == "patch":
		return []Action{Crash, CrashAfter, Lose, Rewind, Stop, Conflict}
	case p.isWrite():
		return []Action{Crash, CrashAfter, Lose, Rewind, Stop}
	}
	return nil
}

// actionsAt returns what plans of the system do at a point.
func (s *System) actionsAt(p Point) []Action {
	if s.Actions == nil {
		return p.actions()
	}
	return slices.DeleteFunc(p.actions(), func(do Action) bool { return !slices.Contains(s.Actions, do) })
}

// sort is the word that a report has for the point: write, delivery or list.
func (p Point) sort() string {
	switch {
	case p.Event != "":
		return "delivery"
	case p.isWrite():
		return "write"
	}
	return "list"
}

// touches reports whether two points concern the same object, or, if one of them has no
// name, objects of the same resource and namespace. Objects of several clusters with the same name
// are the same: one is often a copy of the other.
func (p Point) touches(other Point) bool {
	a, _, _ := strings.Cut(p.Resource, "/")
	b, _, _ := strings.Cut(other.Resource, "/")
	if a != b || p.Namespace != other.Namespace {
		return false
	}
	return p.Name == other.Name || p.Name == "" || other.Name == ""
}

// A Decision is an action at a point.
type Decision struct {
	Do Action `json:"do"`
	At Point  `json:"at"`
}

// String describes the decision: "crash at the 1st create of pods default by manager/v1".
func (d Decision) String() string { return fmt.Sprintf("%s at %s", d.Do, d.At) }

// check returns what is wrong with a decision that was read.
func (d Decision) check() error {
	if !slices.Contains(d.At.actions(), d.Do) {
		return fmt.Errorf("%s cannot be done at %s", d.Do, d.At)
	}
	if d.At.Nth < 1 {
		return fmt.Errorf("%s: nth is not positive", d)
	}
	return nil
}

// A Plan is a set of decisions. The empty plan is the reference run.
type Plan []Decision

// String describes the decisions, a line each.
func (p Plan) String() string {
	if len(p) == 0 {
		return "no decision"
	}
	lines := make([]string, len(p))
	for i, d := range p {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// without returns the plan without a decision.
func (p Plan) without(i int) Plan { return slices.Delete(slices.Clone(p), i, i+1) }
