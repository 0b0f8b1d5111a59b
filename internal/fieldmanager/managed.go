package fieldmanager

import (
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// managed is the form of managedFields in which structured-merge-diff applies, and in which
// those of scales are translated.
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

// entry returns the id of e. It adds e if there is no entry with that id.
func (m *managed) entry(e *entry) (id string) {
	id = e.id()
	if m.entries[id] == nil {
		m.entries[id] = e
	}
	return id
}
