package fieldmanager

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// The operations of an entry.
const (
	opApply  = "Apply"
	opUpdate = "Update"
)

// An entry is an element of managedFields without its fields.
type entry struct {
	manager     string
	operation   string
	apiVersion  string
	subresource string
	// time is in canonical form, which sorts as text; "" if the entry has no
	// time.
	time string

	// set and text are the fields as they were read. text is valid while the
	// entry still has that set; it is "" if it must be made.
	set  *fieldpath.Set
	text object.FieldsV1
}

// id identifies an entry within an object. A manager has one entry for Apply
// regardless of version, and one for Update for each version. Entries with the
// same time are ordered by id.
func (e *entry) id() string {
	version := e.apiVersion
	if e.operation == opApply {
		version = ""
	}
	b := make([]byte, 0, len(e.manager)+len(version)+len(e.subresource)+16)
	b = strconv.AppendQuote(b, e.manager)
	b = append(b, e.operation...)
	b = strconv.AppendQuote(b, version)
	return string(strconv.AppendQuote(b, e.subresource))
}

// owner describes the manager in the text of a conflict.
func (e *entry) owner() string {
	s := strconv.Quote(e.manager)
	if e.subresource != "" {
		s += " with subresource " + strconv.Quote(e.subresource)
	}
	if e.operation == opUpdate {
		s += " using " + e.apiVersion
	}
	return s
}

// managed is the parsed form of managedFields.
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

// Validate returns an error if metadata.managedFields cannot be read, nil if it
// can. Changes by webhooks that fail the check are reverted with a warning that
// contains the error.
func Validate(managedFields []any) error {
	_, err := names(nil).parseManaged(managedFields, nil)
	return err
}

// parseManaged parses managedFields. It fails if p ends.
func (n names) parseManaged(list []any, p *pacer) (*managed, error) {
	m := newManaged(n, len(list))
	for i, v := range list {
		fields, _ := v.(map[string]any)
		text := func(name string) string {
			s, _ := fields[name].(string)
			return s
		}
		e := &entry{
			manager:     text("manager"),
			operation:   text("operation"),
			apiVersion:  text("apiVersion"),
			subresource: text("subresource"),
			time:        canonicalTime(text("time")),
		}
		if e.operation != opApply && e.operation != opUpdate {
			return nil, fmt.Errorf("operation must be `Apply` or `Update`")
		}
		if e.apiVersion == "" {
			return nil, fmt.Errorf("apiVersion must not be empty")
		}
		switch format := text("fieldsType"); format {
		case "FieldsV1":
		case "":
			return nil, fmt.Errorf("missing fieldsType in managed fields entry %d", i)
		default:
			return nil, fmt.Errorf("invalid fieldsType %q in managed fields entry %d", format, i)
		}
		e.set = fieldpath.NewSet()
		if v := fields["fieldsV1"]; v != nil {
			var isText bool
			if e.text, isText = v.(object.FieldsV1); !isText {
				e.text = object.FieldsV1(wire.AppendAny(nil, v))
			}
			var err error
			if e.set, err = n.decode(e.text, p); err != nil {
				return nil, fmt.Errorf("error decoding set: %w", err)
			}
		}
		id := e.id()
		m.entries[id] = e
		m.sets[id] = fieldpath.NewVersionedSet(e.set, fieldpath.APIVersion(e.apiVersion), e.operation == opApply)
	}
	return m, nil
}

// canonicalTime returns the time in UTC, in whole seconds; "" if the text is
// not a time.
func canonicalTime(s string) string {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return ""
	}
	return formatTime(t)
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// format encodes managedFields: Apply entries first, then by time; entries
// without a time come before those with one.
func (m *managed) format() []any {
	all := make([]*entry, 0, len(m.sets))
	for _, id := range slices.Sorted(maps.Keys(m.sets)) {
		vs, e := m.sets[id], m.entries[id]
		e.apiVersion = string(vs.APIVersion())
		if vs.Set() != e.set || e.text == "" {
			e.set, e.text = vs.Set(), m.names.encode(vs.Set())
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b *entry) int {
		return cmp.Or(
			cmp.Compare(a.operation, b.operation),
			cmp.Compare(a.time, b.time),
			cmp.Compare(a.manager, b.manager),
			cmp.Compare(a.apiVersion, b.apiVersion),
			cmp.Compare(a.subresource, b.subresource))
	})
	list := make([]any, len(all))
	for i, e := range all {
		list[i] = e.format()
	}
	return list
}

func (e *entry) format() map[string]any {
	out := make(map[string]any, 7)
	out["operation"] = e.operation
	out["apiVersion"] = e.apiVersion
	out["fieldsType"] = "FieldsV1"
	out["fieldsV1"] = e.text
	for _, optional := range [...]struct{ name, text string }{
		{"manager", e.manager}, {"time", e.time}, {"subresource", e.subresource},
	} {
		if optional.text != "" {
			out[optional.name] = optional.text
		}
	}
	return out
}

// maxUpdaters is the maximum number of Update entries of an object.
const maxUpdaters = 10

// ancientManager owns the fields of the oldest Update entries.
const ancientManager = "ancient-changes"

// limit merges the oldest Update entries of each version into one until at most
// maxUpdaters are left.
func (m *managed) limit() {
	var updaters []string
	for id, vs := range m.sets {
		if !vs.Applied() {
			updaters = append(updaters, id)
		}
	}
	excess := len(updaters) - maxUpdaters
	if excess <= 0 {
		return
	}
	slices.SortFunc(updaters, func(a, b string) int {
		return cmp.Or(cmp.Compare(m.entries[a].time, m.entries[b].time), cmp.Compare(a, b))
	})
	oldest := map[fieldpath.APIVersion]string{}
	for _, id := range updaters {
		if excess <= 0 {
			break
		}
		vs := m.sets[id]
		version := vs.APIVersion()
		first, ok := oldest[version]
		if !ok {
			// There is nothing to merge it with yet.
			oldest[version] = id
			continue
		}
		bucket, e := m.entry(&entry{manager: ancientManager, operation: opUpdate, apiVersion: string(version)})
		if _, ok := m.sets[bucket]; !ok {
			m.sets[bucket] = m.sets[first]
			delete(m.sets, first)
		}
		m.sets[bucket] = fieldpath.NewVersionedSet(vs.Set().Union(m.sets[bucket].Set()), version, false)
		e.time = m.entries[id].time
		delete(m.sets, id)
		excess--
	}
}
