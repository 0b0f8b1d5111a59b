package story

import (
	"cmp"
	"slices"

	"github.com/kubefake/kubefake/internal/journal"
)

// A Part is the story of one of several clusters.
type Part struct {
	Cluster string // its name
	Story   *Story
}

// Join returns the story of several clusters, whose journals share an order. It takes the parts,
// which must not be used afterwards. What was done to all clusters, such as an advance of their
// clock, is in it once, without the name of a cluster.
func Join(title string, parts []Part) *Story {
	out := &Story{Format: Format, Title: title, Revisions: []Revision{}, Readers: []Reader{}, Requests: []Request{}, Notes: []Note{}}
	for i, p := range parts {
		if i == 0 || p.Story.Began.Before(out.Began) {
			out.Began = p.Story.Began
		}
	}
	for i, p := range parts {
		out.take(p, i > 0)
	}
	slices.SortStableFunc(out.Revisions, func(a, b Revision) int { return cmp.Compare(a.Order, b.Order) })
	slices.SortStableFunc(out.Requests, func(a, b Request) int { return cmp.Compare(a.Order, b.Order) })
	slices.SortStableFunc(out.Notes, func(a, b Note) int { return cmp.Compare(a.Order, b.Order) })
	slices.SortStableFunc(out.Loops, func(a, b Loop) int { return cmp.Compare(a.Order, b.Order) })
	slices.SortStableFunc(out.Folds, func(a, b Fold) int { return cmp.Compare(a.Order, b.Order) })
	return out
}

// take adds the story of a cluster. If others have been added, it leaves out what is about all.
func (s *Story) take(p Part, others bool) {
	later, in := p.Story.Began.Sub(s.Began), Place{p.Cluster}
	moved := func(m Moment) Moment { return Moment{m.Order, m.At + later.Microseconds()} }
	for _, r := range p.Story.Revisions {
		r.Moment, r.Place = moved(r.Moment), in
		for i := range r.Seen {
			seen := &r.Seen[i]
			seen.Reader += len(s.Readers)
			if !seen.Missed() {
				seen.Moment = moved(seen.Moment)
			}
		}
		s.Revisions = append(s.Revisions, r)
	}
	for _, r := range p.Story.Readers {
		r.Place = in
		for i := range r.Marks {
			r.Marks[i].Moment = moved(r.Marks[i].Moment)
		}
		s.Readers = append(s.Readers, r)
	}
	for _, r := range p.Story.Requests {
		r.Moment, r.Place = moved(r.Moment), in
		s.Requests = append(s.Requests, r)
	}
	for _, n := range p.Story.Notes {
		n.Moment = moved(n.Moment)
		if n.Until != 0 {
			n.Until += later.Microseconds()
		}
		switch {
		case n.Kind != journal.Clock && n.Kind != journal.Settle:
			n.Place = in
		case others:
			continue
		}
		s.Notes = append(s.Notes, n)
	}
	for _, l := range p.Story.Loops {
		l.Moment, l.Place = moved(l.Moment), in
		s.Loops = append(s.Loops, l)
	}
	for _, f := range p.Story.Folds {
		f.Moment, f.Place = moved(f.Moment), in
		s.Folds = append(s.Folds, f)
	}
	for _, o := range p.Story.Objects {
		o.Place = in
		s.Objects = append(s.Objects, o)
	}
	s.Findings = append(s.Findings, p.Story.Findings...)
	s.Earlier += p.Story.Earlier
	s.Gap = s.Gap || p.Story.Gap
	if ended := moved(p.Story.Ended); ended.Order > s.Ended.Order {
		s.Ended = ended
	}
}
