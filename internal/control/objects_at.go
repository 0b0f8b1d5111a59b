package control

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/scrub"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/mvcc"
)

const (
	// maxRows is how many objects a table has.
	maxRows = 500
	// maxRelatives is how many dependents of an object are found, and maxGenerations how far
	// down: a Deployment, its ReplicaSets and their Pods.
	maxRelatives, maxGenerations = 200, 3
)

// An ObjectsQuery selects objects at a revision.
type ObjectsQuery struct {
	// Resource is a resource, such as pods or deployments.apps. Without it there are no rows.
	Resource string `query:"resource"`
	// Revision is a kept revision. The default is the newest one.
	Revision string `query:"revision"`
	// Namespace selects the objects of a namespace. The default is all.
	Namespace string `query:"namespace"`
	// Name selects the objects whose names contain it.
	Name string `query:"name"`
	// ShowSecrets shows secrets, such as the data of Secrets.
	ShowSecrets bool `query:"showSecrets"`
}

// A Table has objects as kubectl prints them.
type Table struct {
	Revision mvcc.Revision `json:"revision"`
	// Resources are all resources that have objects. Columns and Rows are those of the resource of
	// the query.
	Resources []ResourceCount `json:"resources"`
	Columns   []table.Column  `json:"columns"`
	Rows      []TableRow      `json:"rows"`
	// Total is how many objects are selected. Rows has at most 500 of them.
	Total int `json:"total"`
}

// A ResourceCount is the number of objects of a resource.
type ResourceCount struct {
	Resource string `json:"resource"`
	Count    int    `json:"count"`
}

// A TableRow is an object in a table.
type TableRow struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Revision is that of the last write of the object.
	Revision mvcc.Revision `json:"revision"`
	Cells    []any         `json:"cells"`
}

// A reading reads the objects at a revision.
type reading struct {
	*Control
	view     storage.View
	scrubber *scrub.Scrubber
}

// at returns a reading of a revision, "" being the newest.
func (c *Control) at(revision string, showSecrets bool) (*reading, error) {
	rev, err := storage.ParseVersion(revision)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	view, err := c.cluster.Store().View(mvcc.Revision(rev))
	switch {
	case errors.Is(err, mvcc.ErrCompacted), errors.Is(err, mvcc.ErrFutureRevision):
		return nil, status.BadRequest(fmt.Sprintf("revision %s: %v", revision, err))
	case err != nil:
		return nil, err
	}
	return &reading{c, view, c.scrubber(showSecrets)}, nil
}

// typeOf returns the type of a resource.
func (r *reading) typeOf(name string) (*resource.Type, error) {
	t, err := r.cluster.TypeByName(name)
	if err != nil {
		return nil, lookupError(err)
	}
	return t, nil
}

// decode returns an object of a type without secrets.
func (r *reading) decode(t *resource.Type, name string, o *storage.Object) (map[string]any, error) {
	o, err := o.In(r.cluster.Context(), t)
	if err != nil {
		return nil, err
	}
	obj, _ := r.scrubber.Body(name, object.Copy(o.Decode(t))).(map[string]any)
	return obj, nil
}

func (c *Control) readObjects(_ *Request, in ObjectsQuery) (Table, error) {
	r, err := c.at(in.Revision, in.ShowSecrets)
	if err != nil {
		return Table{}, err
	}
	out := Table{Revision: r.view.Revision(), Resources: r.counts(), Columns: []table.Column{}, Rows: []TableRow{}}
	if in.Resource == "" {
		return out, nil
	}
	t, err := r.typeOf(in.Resource)
	if err != nil {
		return Table{}, err
	}
	layout, now := cmp.Or(t.Layout, table.Default), c.cluster.Clock().Now()
	out.Columns = layout.Columns()
	prefix := t.KeyPrefix(in.Namespace)
	for item := range r.view.Range(prefix, mvcc.PrefixEnd(prefix)) {
		_, namespace, name := journal.SplitKey(item.Key)
		if !strings.Contains(name, in.Name) {
			continue
		}
		if out.Total++; out.Total > maxRows {
			continue
		}
		printed := t
		if layout.Stored {
			printed = t.Storage()
		}
		obj, err := r.decode(printed, in.Resource, item.Value)
		if err != nil {
			return Table{}, err
		}
		out.Rows = append(out.Rows, TableRow{namespace, name, item.Modified, layout.Cells(table.Row{Obj: obj, Now: now})})
	}
	return out, nil
}

// counts returns the resources that have objects, sorted by name.
func (r *reading) counts() []ResourceCount {
	counts := map[string]int{}
	for item := range r.view.Range("/", mvcc.PrefixEnd("/")) {
		name, _, _ := strings.Cut(item.Key[1:], "/")
		counts[name]++
	}
	out := []ResourceCount{}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, ResourceCount{name, counts[name]})
	}
	return out
}

// An ObjectQuery selects an object at a revision.
type ObjectQuery struct {
	// Resource is a resource, such as pods or deployments.apps.
	Resource  string `query:"resource"`
	Namespace string `query:"namespace"`
	Name      string `query:"name"`
	// Revision is a kept revision. The default is the newest one.
	Revision string `query:"revision"`
	// ShowSecrets shows secrets, such as the data of Secrets.
	ShowSecrets bool `query:"showSecrets"`
}

// An ObjectAt is an object at a revision, with what belongs to it.
type ObjectAt struct {
	// Object is absent if it does not exist at the revision. Revision is that of its last write.
	Object   map[string]any `json:"object,omitempty"`
	Revision mvcc.Revision  `json:"revision"`
	// Versions are the revisions of all its kept versions, oldest first.
	Versions []ObjectVersion `json:"versions"`
	// Owners are the owners in metadata.ownerReferences and theirs, the nearest first. Dependents
	// have the object, or a dependent before them, as owner.
	Owners     []Relative `json:"owners"`
	Dependents []Relative `json:"dependents"`
	// Events are the Events about the object.
	Events []map[string]any `json:"events"`
}

// An ObjectVersion is a version of an object.
type ObjectVersion struct {
	Revision mvcc.Revision      `json:"revision"`
	Type     journal.ChangeType `json:"type"`
	// Writer is who wrote it; the zero value if the server no longer knows.
	Writer journal.Writer `json:"writer"`
}

// A Relative is an owner or a dependent of an object.
type Relative struct {
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Generations is how many objects up or down it is.
	Generations int `json:"generations"`
	// Missing reports an owner that does not exist at the revision.
	Missing bool `json:"missing,omitempty"`
}

func (c *Control) readObject(_ *Request, in ObjectQuery) (ObjectAt, error) {
	r, err := c.at(in.Revision, in.ShowSecrets)
	if err != nil {
		return ObjectAt{}, err
	}
	t, err := r.typeOf(in.Resource)
	if err != nil {
		return ObjectAt{}, err
	}
	key := t.Key(in.Namespace, in.Name)
	out := ObjectAt{Versions: r.versions(key), Owners: []Relative{}, Dependents: []Relative{}, Events: []map[string]any{}}
	item, ok := r.view.Get(key)
	if !ok {
		return out, nil
	}
	if out.Object, err = r.decode(t, in.Resource, item.Value); err != nil {
		return ObjectAt{}, err
	}
	out.Revision = item.Modified
	out.Owners = append(out.Owners, r.owners(out.Object)...)
	out.Dependents = append(out.Dependents, r.dependents(object.String(out.Object, "metadata", "uid"))...)
	out.Events = append(out.Events, r.eventsOf(in, object.String(out.Object, "kind"))...)
	return out, nil
}

// versions returns the kept versions of a key.
func (r *reading) versions(key string) []ObjectVersion {
	writers := map[mvcc.Revision]journal.Writer{}
	for _, e := range r.cluster.Journal().Transactions() {
		writers[e.What.Revision] = e.What.Writer
	}
	out := []ObjectVersion{}
	for tx := range r.cluster.Store().Log(0) {
		for i := range tx.Events {
			if e := &tx.Events[i]; e.Item.Key == key {
				out = append(out, ObjectVersion{e.Revision(), journal.NewChange(e).Type, writers[tx.Revision]})
			}
		}
	}
	return out
}

// owners returns the owners of an object, and theirs.
func (r *reading) owners(obj map[string]any) (out []Relative) {
	for generation := 1; obj != nil && generation <= maxGenerations; generation++ {
		namespace := object.String(obj, "metadata", "namespace")
		references := object.Value(obj, "metadata", "ownerReferences")
		obj = nil
		for ref := range object.Each(references) {
			gv, err := resource.ParseGroupVersion(object.String(ref, "apiVersion"))
			if err != nil {
				continue
			}
			t := r.cluster.Surface().ForKind(resource.Kind{GroupVersion: gv, Kind: object.String(ref, "kind")})
			if t == nil {
				continue
			}
			owner := Relative{Resource: status.GroupResource{Group: t.Group, Resource: t.Name}.String(), Name: object.String(ref, "name"), Generations: generation}
			if t.Namespaced {
				owner.Namespace = namespace
			}
			item, ok := r.view.Get(t.Key(owner.Namespace, owner.Name))
			owner.Missing = !ok
			out = append(out, owner)
			if ok && obj == nil {
				obj = item.Value.Decode(t)
			}
		}
	}
	return out
}

// dependents returns the objects that have the UID as owner, each followed by its own.
func (r *reading) dependents(uid string) (out []Relative) {
	var below func(uid string, generation int)
	below = func(uid string, generation int) {
		reference := []byte(`"uid":"` + uid + `"`)
		for item := range r.view.Range("/", mvcc.PrefixEnd("/")) {
			if len(out) == maxRelatives {
				return
			}
			text := item.Value.JSON()
			if !bytes.Contains(text, []byte(`"ownerReferences"`)) || !bytes.Contains(text, reference) {
				continue
			}
			own, owners := identity(text)
			if !slices.Contains(owners, uid) {
				continue
			}
			d := Relative{Generations: generation}
			d.Resource, d.Namespace, d.Name = journal.SplitKey(item.Key)
			out = append(out, d)
			if generation < maxGenerations {
				below(own, generation+1)
			}
		}
	}
	below(uid, 1)
	return out
}

// identity returns the UID of an object in JSON, and those of its owners.
func identity(text []byte) (uid string, owners []string) {
	var o struct {
		Metadata struct {
			UID             string
			OwnerReferences []struct{ UID string }
		}
	}
	if json.Unmarshal(text, &o) != nil {
		return "", nil
	}
	for _, ref := range o.Metadata.OwnerReferences {
		owners = append(owners, ref.UID)
	}
	return o.Metadata.UID, owners
}

// eventsOf returns the newest Events about an object, without managed fields.
func (r *reading) eventsOf(of ObjectQuery, kind string) (out []map[string]any) {
	t, err := r.typeOf("events")
	if err != nil {
		return nil
	}
	prefix := t.KeyPrefix(cmp.Or(of.Namespace, "default"))
	name := []byte(of.Name)
	for item := range r.view.Range(prefix, mvcc.PrefixEnd(prefix)) {
		if !bytes.Contains(item.Value.JSON(), name) {
			continue
		}
		obj, err := r.decode(t, "events", item.Value)
		if err != nil || object.String(obj, "involvedObject", "kind") != kind || object.String(obj, "involvedObject", "name") != of.Name {
			continue
		}
		delete(object.Meta(obj), "managedFields")
		out = append(out, obj)
	}
	return out[max(0, len(out)-50):]
}
