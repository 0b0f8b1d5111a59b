package fieldmanager

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
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

	fields *fieldSet

	// read is the element of managedFields that the entry was read from, nil if there
	// is none.
	read map[string]any
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

// owners are entries of managedFields. No two have the same id.
type owners []*entry

// clone returns copies of the entries, which can be changed. There is room for one more.
func (o owners) clone() owners {
	entries, out := make([]entry, len(o)), make(owners, len(o), len(o)+1)
	for i, e := range o {
		entries[i] = *e
		out[i] = &entries[i]
	}
	return out
}

// Validate returns an error if metadata.managedFields cannot be read, nil if it
// can. Changes by webhooks that fail the check are reverted with a warning that
// contains the error.
func Validate(managedFields []any) error {
	_, err := parseOwners(managedFields, nil)
	return err
}

// parseOwners parses managedFields. It fails if p ends.
func parseOwners(list []any, p *pacer) (owners, error) {
	out := make(owners, 0, len(list)+1) // an update adds one
	entries := make([]entry, len(list))
	var places map[string]int // by id, in out and counted from 1; nil if there are few
	if len(list) > fewElements {
		places = make(map[string]int, len(list))
	}
	for i, v := range list {
		e := &entries[i]
		if err := e.parse(v, i, p); err != nil {
			return nil, err
		}
		at := -1
		if places == nil {
			at = out.index(e)
		} else {
			at = places[e.id()] - 1
		}
		if at >= 0 {
			out[at] = e
			continue
		}
		out = append(out, e)
		if places != nil {
			places[e.id()] = len(out)
		}
	}
	return out, nil
}

// parse reads the i-th element of managedFields.
func (e *entry) parse(v any, i int, p *pacer) error {
	read, _ := v.(map[string]any)
	text := func(name string) string {
		s, _ := read[name].(string)
		return s
	}
	*e = entry{
		manager:     text("manager"),
		operation:   text("operation"),
		apiVersion:  text("apiVersion"),
		subresource: text("subresource"),
		time:        canonicalTime(text("time")),
		fields:      noFields,
		read:        read,
	}
	if e.operation != opApply && e.operation != opUpdate {
		return fmt.Errorf("operation must be `Apply` or `Update`")
	}
	if e.apiVersion == "" {
		return fmt.Errorf("apiVersion must not be empty")
	}
	switch format := text("fieldsType"); format {
	case "FieldsV1":
	case "":
		return fmt.Errorf("missing fieldsType in managed fields entry %d", i)
	default:
		return fmt.Errorf("invalid fieldsType %q in managed fields entry %d", format, i)
	}
	if v := read["fieldsV1"]; v != nil {
		fields, isText := v.(object.FieldsV1)
		if !isText {
			fields = object.FieldsV1(wire.AppendAny(nil, v))
		}
		var err error
		if e.fields, err = decode(fields, p); err != nil {
			return fmt.Errorf("error decoding set: %w", err)
		}
	}
	return nil
}

// hasID reports whether two entries have the same id.
func (e *entry) hasID(other *entry) bool {
	return e.manager == other.manager && e.operation == other.operation && e.subresource == other.subresource &&
		(e.operation == opApply || e.apiVersion == other.apiVersion)
}

// index returns the position of the entry with the id of e, -1 if there is none.
func (o owners) index(e *entry) int { return slices.IndexFunc(o, e.hasID) }

// canonicalTime returns the time in UTC, in whole seconds; "" if the text is
// not a time.
func canonicalTime(s string) string {
	t, err := time.Parse(time.RFC3339, s)
	switch {
	case err != nil:
		return ""
	case len(s) == len("2006-01-02T15:04:05Z"): // others are shorter or longer
		return s
	}
	return clock.Timestamp(t)
}

// format encodes managedFields: Apply entries first, then by time; entries
// without a time come before those with one. It sorts the entries.
func (o owners) format() []any {
	slices.SortFunc(o, func(a, b *entry) int {
		return cmp.Or(
			cmp.Compare(a.operation, b.operation),
			cmp.Compare(a.time, b.time),
			cmp.Compare(a.manager, b.manager),
			cmp.Compare(a.apiVersion, b.apiVersion),
			cmp.Compare(a.subresource, b.subresource))
	})
	list := make([]any, len(o))
	for i, e := range o {
		list[i] = e.format()
	}
	return list
}

// format returns the element of managedFields: the one that was read if it is the same.
func (e *entry) format() map[string]any {
	optional := [...]struct{ name, text string }{
		{"manager", e.manager}, {"time", e.time}, {"subresource", e.subresource},
	}
	members := 4
	same := e.read["apiVersion"] == e.apiVersion && e.read["fieldsV1"] == e.fields.text
	for _, o := range optional {
		if o.text != "" {
			members++
			same = same && e.read[o.name] == o.text
		}
	}
	if same && len(e.read) == members {
		return e.read
	}
	out := make(map[string]any, members)
	out["operation"] = e.operation
	out["apiVersion"] = e.apiVersion
	out["fieldsType"] = "FieldsV1"
	out["fieldsV1"] = e.fields.text
	for _, o := range optional {
		if o.text != "" {
			out[o.name] = o.text
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
func (o owners) limit() owners {
	var updaters owners
	for _, e := range o {
		if e.operation == opUpdate {
			updaters = append(updaters, e)
		}
	}
	excess := len(updaters) - maxUpdaters
	if excess <= 0 {
		return o
	}
	slices.SortFunc(updaters, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.id(), b.id()))
	})
	oldest := map[string]*entry{} // by version
	for _, e := range updaters {
		if excess <= 0 {
			break
		}
		first := oldest[e.apiVersion]
		if first == nil {
			// There is nothing to merge it with yet.
			oldest[e.apiVersion] = e
			continue
		}
		bucket := &entry{manager: ancientManager, operation: opUpdate, apiVersion: e.apiVersion, fields: first.fields}
		if at := o.index(bucket); at >= 0 {
			bucket = o[at]
		} else {
			o[slices.Index(o, first)] = bucket
		}
		bucket.fields = of(e.fields.tree.union(bucket.fields.tree))
		bucket.time = e.time
		o = slices.DeleteFunc(o, func(other *entry) bool { return other == e })
		excess--
	}
	return o
}
