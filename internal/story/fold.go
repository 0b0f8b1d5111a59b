package story

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/journal"
)

// A Fold is one line for many events that say the same: renewals of Leases, writes of Events, or
// equal requests. Moment is that of the last one.
type Fold struct {
	Moment
	Place
	Kind   FoldKind `json:"kind"`
	Client Client   `json:"client"`
	Text   string   `json:"text"`
	// Orders are the events, as their Moment.Order.
	Orders []int64 `json:"orders"`
}

// A FoldKind is the kind of a Fold.
type FoldKind string

const (
	LeaseFold   FoldKind = "lease"   // the renewals of a client
	EventFold   FoldKind = "events"  // the Events that a client wrote
	RequestFold FoldKind = "request" // equal requests, each less than ten seconds after the one before
	// UnimplementedFold has equal requests that the server does not implement.
	UnimplementedFold FoldKind = "unimplemented"
)

// folds returns the folds of the story, sorted by their ends. What is in a loop is in no fold.
func (s *Story) folds() []Fold {
	looped := map[int64]bool{}
	for _, l := range s.Loops {
		for _, order := range l.Writes {
			looped[order] = true
		}
	}
	out := append(s.foldRevisions(looped), s.foldRequests(looped)...)
	slices.SortFunc(out, func(a, b Fold) int { return cmp.Compare(a.Order, b.Order) })
	return out
}

// foldRevisions returns the folds of Leases and Events: one for each client and kind.
func (s *Story) foldRevisions(looped map[int64]bool) []Fold {
	type key struct {
		kind       FoldKind
		name, user string
	}
	groups := map[key][]*Revision{}
	var keys []key
	for i := range s.Revisions {
		r := &s.Revisions[i]
		kind := r.foldKind()
		if kind == "" || looped[r.Order] {
			continue
		}
		k := key{kind, r.Client.Name, r.Client.User}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], r)
	}
	var out []Fold
	for _, k := range keys {
		all := groups[k]
		last := all[len(all)-1]
		f := Fold{Moment: last.Moment, Kind: k.kind, Client: last.Client}
		if k.kind == LeaseFold {
			f.Text = renewals(all)
		} else {
			f.Text = writtenEvents(all)
		}
		for _, r := range all {
			f.Orders = append(f.Orders, r.Order)
		}
		out = append(out, f)
	}
	return out
}

// foldKind returns the kind of the fold that a revision belongs to; "" for none.
func (r *Revision) foldKind() FoldKind {
	if len(r.Changes) != 1 || r.Omitted > 0 {
		return ""
	}
	switch c := &r.Changes[0]; c.Resource {
	case "events", "events.events.k8s.io":
		return EventFold
	case "leases.coordination.k8s.io":
		// A Lease with another holder says more than that its holder is alive.
		renews := func(f Field) bool { return f.Path == "spec.renewTime" || derived(f.Path) }
		if c.Type == journal.Modified && !slices.ContainsFunc(c.Fields, func(f Field) bool { return !renews(f) }) {
			return LeaseFold
		}
	}
	return ""
}

// renewals describes renewals of Leases: "renewed leases.coordination.k8s.io shop/lock 3 times,
// from r7 to r19".
func renewals(all []*Revision) string {
	var names []string
	for _, r := range all {
		if name := r.Changes[0].path(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return "renewed " + all[0].Changes[0].Resource + " " + few(names) + times(len(all)) + revisionRange(all)
}

// writtenEvents describes Events by their reasons, and the newest warning: "wrote 3 events, from
// r7 to r19: Scheduled (2), FailedScheduling: no nodes available".
func writtenEvents(all []*Revision) string {
	counts := map[string]int{}
	var reasons []string
	warning := ""
	for _, r := range all {
		event := r.Changes[0].object
		reason, _ := event["reason"].(string)
		if reason == "" {
			continue
		}
		if counts[reason]++; counts[reason] == 1 {
			reasons = append(reasons, reason)
		}
		if event["type"] == "Warning" {
			message, _ := event["message"].(string)
			warning = reason + ": " + cmp.Or(message, fmt.Sprint(event["note"]))
		}
	}
	for i, reason := range reasons {
		if n := counts[reason]; n > 1 {
			reasons[i] = fmt.Sprintf("%s (%d)", reason, n)
		}
	}
	line := fmt.Sprintf("wrote %d events%s", len(all), revisionRange(all))
	if len(all) == 1 {
		line = "wrote an event, r" + fmt.Sprint(all[0].Revision)
	}
	if len(reasons) > 0 {
		line += ": " + few(reasons)
	}
	if warning != "" {
		line += "; the newest warning is " + warning
	}
	return line
}

func revisionRange(all []*Revision) string {
	if len(all) == 1 {
		return fmt.Sprintf(", r%d", all[0].Revision)
	}
	return fmt.Sprintf(", from r%d to r%d", all[0].Revision, all[len(all)-1].Revision)
}

// times returns " 3 times"; "" for once.
func times(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" %d times", n)
}

// foldRequests returns the folds of equal requests.
func (s *Story) foldRequests(looped map[int64]bool) []Fold {
	open := map[string]*Fold{}
	began := map[*Fold]int64{}
	var out []*Fold
	for i := range s.Requests {
		r := &s.Requests[i]
		if looped[r.Order] || r.Panic != "" || s.createdAfter(r) {
			continue
		}
		line, kind := r.line(), RequestFold
		if r.Unimplemented {
			kind = UnimplementedFold
		}
		f := open[line]
		if f == nil || kind == RequestFold && time.Duration(r.At-f.At)*time.Microsecond >= loopGap {
			f = &Fold{Kind: kind, Client: r.Client}
			open[line], began[f] = f, r.At
			out = append(out, f)
		}
		f.Moment, f.Orders = r.Moment, append(f.Orders, r.Order)
		lasted := time.Duration(r.At-began[f]) * time.Microsecond
		f.Text = fmt.Sprintf("%s (%d times", line, len(f.Orders))
		if lasted = lasted.Round(time.Millisecond); lasted > 0 {
			f.Text += fmt.Sprintf(" in %v", lasted)
		}
		f.Text += ")"
	}
	var folds []Fold
	for _, f := range out {
		if len(f.Orders) > 1 {
			folds = append(folds, *f)
		}
	}
	return folds
}

// line returns the fold as a line of a text.
func (f *Fold) line() string {
	if f.Kind == LeaseFold || f.Kind == EventFold {
		return f.Client.Name + " " + f.Text
	}
	return f.Text
}
