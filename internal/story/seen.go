package story

import (
	"cmp"
	"slices"
)

// newest returns the newest revision written up to a position of the journal; 0 if
// there is none.
func (b *builder) newest(order int64) int64 {
	i, _ := slices.BinarySearchFunc(b.written, order+1, func(w written, order int64) int { return cmp.Compare(w.order, order) })
	if i == 0 {
		return 0
	}
	return b.written[i-1].revision
}

// addSightings sets Revision.Seen of all revisions.
func (b *builder) addSightings() {
	for i := range b.story.Readers {
		r := &b.story.Readers[i]
		slices.SortFunc(r.Marks, func(a, b Mark) int { return cmp.Compare(a.Order, b.Order) })
		for j := range b.story.Revisions {
			rev := &b.story.Revisions[j]
			if m, ok := r.saw(rev); ok {
				rev.Seen = append(rev.Seen, Sighting{i, m})
			}
		}
	}
}

// saw returns when the reader saw a revision; the zero Moment if it should have and
// did not. It reports false if the reader did not need to see the revision.
func (r *Reader) saw(rev *Revision) (Moment, bool) {
	later, _ := slices.BinarySearchFunc(r.Marks, rev.Order, func(m Mark, order int64) int { return cmp.Compare(m.Order, order) })
	if r.Place != rev.Place {
		return Moment{}, false
	}
	if later == 0 && r.Kind != GetReader {
		return Moment{}, false // the reader began later
	}
	if r.Kind != GetReader && !slices.ContainsFunc(rev.Changes, func(c Change) bool { return r.covers(c.Target) }) {
		return Moment{}, false
	}
	for _, m := range r.Marks[later:] {
		if m.Revision >= rev.Revision && (r.Kind != GetReader || rev.changes(r.Resource, m.Name)) {
			return m.Moment, true
		}
	}
	return Moment{}, r.Kind == WatchReader && (later < len(r.Marks) || !r.Marks[later-1].endedByClient())
}

// covers reports whether the reader reads an object.
func (r *Reader) covers(of Target) bool {
	return of.Resource == r.Resource && (r.Namespace == "" || of.Namespace == r.Namespace) && (r.Name == "" || of.Name == r.Name)
}

// changes reports whether a revision changes an object. name is as in Mark.Name.
func (rev *Revision) changes(resource, name string) bool {
	return slices.ContainsFunc(rev.Changes, func(c Change) bool { return c.Resource == resource && c.path() == name })
}

// path returns "namespace/name", or "name" at cluster scope.
func (t Target) path() string {
	if t.Namespace == "" {
		return t.Name
	}
	return t.Namespace + "/" + t.Name
}

// endedByClient reports whether the client ended its watch with this mark.
func (m *Mark) endedByClient() bool { return m.Kind == EndMark && m.Text == "" }
