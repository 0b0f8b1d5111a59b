package story

import (
	"cmp"
	"slices"
)

// newest is the newest revision whose place in the order is not above one.
func (t *teller) newest(order int64) int64 {
	all := t.story.Revisions
	i, _ := slices.BinarySearchFunc(all, order+1, func(r Revision, order int64) int { return cmp.Compare(r.Order, order) })
	if i == 0 {
		return 0
	}
	return all[i-1].Revision
}

// sights finds out who saw which revision, and when.
func (t *teller) sights() {
	for i := range t.story.Readers {
		r := &t.story.Readers[i]
		slices.SortFunc(r.Marks, func(a, b Mark) int { return cmp.Compare(a.Order, b.Order) })
		for j := range t.story.Revisions {
			rev := &t.story.Revisions[j]
			if m, ok := r.saw(rev); ok {
				rev.Seen = append(rev.Seen, Sight{i, m})
			}
		}
	}
}

// saw tells when the reader saw a revision: the zero Moment if it should have
// and did not. It reports false if the revision was nothing to the reader.
func (r *Reader) saw(rev *Revision) (Moment, bool) {
	later, _ := slices.BinarySearchFunc(r.Marks, rev.Order, func(m Mark, order int64) int { return cmp.Compare(m.Order, order) })
	if later == 0 && r.Kind != kindGet {
		return Moment{}, false // it was not there yet
	}
	if r.Kind != kindGet && !slices.ContainsFunc(rev.Changes, func(c Change) bool { return r.covers(c.Target) }) {
		return Moment{}, false
	}
	for _, m := range r.Marks[later:] {
		if m.Revision >= rev.Revision && (r.Kind != kindGet || rev.changes(r.Resource, m.Name)) {
			return m.Moment, true
		}
	}
	return Moment{}, r.Kind == kindWatch && (later < len(r.Marks) || !r.Marks[later-1].hungUp())
}

// covers reports whether an object is among those that the reader reads.
func (r *Reader) covers(of Target) bool {
	return of.Resource == r.Resource && (r.Namespace == "" || of.Namespace == r.Namespace) && (r.Name == "" || of.Name == r.Name)
}

// changes reports whether a revision is of an object, named as in Mark.Name.
func (rev *Revision) changes(resource, name string) bool {
	return slices.ContainsFunc(rev.Changes, func(c Change) bool { return c.Resource == resource && c.path() == name })
}

// path is the object's name with its namespace, if it has one.
func (t Target) path() string {
	if t.Namespace == "" {
		return t.Name
	}
	return t.Namespace + "/" + t.Name
}

// hungUp reports whether the client ended the watch, and wants no more of it.
func (m *Mark) hungUp() bool { return m.Kind == markEnd && m.Text == "" }
