package fieldmanager

import (
	"maps"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// managed is the form of managedFields in which structured-merge-diff applies.
type managed struct {
	names names
	sets  fieldpath.ManagedFields
	// entries contains the ids of sets, and possibly more.
	entries map[string]*entry
}

func newManaged(n names, size int) *managed {
	return &managed{
		names:   n,
		sets:    make(fieldpath.ManagedFields, size+1),
		entries: make(map[string]*entry, size+1),
	}
}

// managed returns the entries in the form for applies.
func (o owners) managed(n names) *managed {
	m := newManaged(n, len(o))
	for _, e := range o {
		id := e.id()
		m.entries[id] = e
		m.sets[id] = fieldpath.NewVersionedSet(e.fields.asSet(n), fieldpath.APIVersion(e.apiVersion), e.operation == opApply)
	}
	return m
}

// owners returns the entries of the sets. It changes their fields to those sets.
func (m *managed) owners() owners {
	out := make(owners, 0, len(m.sets))
	for id, vs := range m.sets {
		e := m.entries[id]
		e.apiVersion = string(vs.APIVersion())
		if e.fields == nil || vs.Set() != e.fields.set.Load() {
			e.fields = m.names.ofSet(vs.Set())
		}
		out = append(out, e)
	}
	return out
}

// clone returns a copy whose sets and entries can be replaced.
func (m *managed) clone() *managed {
	return &managed{names: m.names, sets: maps.Clone(m.sets), entries: maps.Clone(m.entries)}
}

// entry returns the entry that a request writes: the existing one, or e.
func (m *managed) entry(e *entry) (id string, _ *entry) {
	id = e.id()
	if known, ok := m.entries[id]; ok {
		return id, known
	}
	m.entries[id] = e
	return id, e
}
