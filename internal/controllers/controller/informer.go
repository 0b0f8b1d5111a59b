package controller

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// An Informer has the objects of a resource, as its watch cache shows them. All
// controllers of a Runtime share it.
type Informer struct {
	runtime  *Runtime
	resource Resource // "" for an informer of EachChange
	typ      *resource.Type
	shown    mvcc.Revision // the revision of the list; changes up to it are in items
	items    map[Key]*Object
	held     []mvcc.Event[*storage.Object] // changes that the watch cache does not show yet
	handlers []func(old, new *Object)
	indexes  map[string]*index
}

// An index finds objects by the values that a function has for them.
type index struct {
	values func(*Object) []string
	keys   map[string]map[Key]struct{}
}

// Get returns an object, nil if there is none.
func (i *Informer) Get(namespace, name string) *Object { return i.items[Key{namespace, name}] }

// Len returns the number of objects.
func (i *Informer) Len() int { return len(i.items) }

// List returns the objects of a namespace that match a selector, sorted by
// namespace and name. The namespace "" is all namespaces. It reads all objects of
// the resource: use an index where they may be many.
func (i *Informer) List(namespace string, s selector.Labels) []*Object {
	if namespace != "" {
		return i.selected(i.indexes[byNamespace].keys[namespace], s)
	}
	out := make([]*Object, 0, len(i.items))
	for _, o := range i.items {
		if s.Empty() || s.Matches(selector.Map(o.Labels)) {
			out = append(out, o)
		}
	}
	return sorted(out)
}

// Index adds an index. values returns the values by which an object is found. It
// must be called before the Runtime starts. A second index of a name is ignored.
func (i *Informer) Index(name string, values func(*Object) []string) {
	if i.indexes[name] == nil {
		i.indexes[name] = &index{values: values, keys: map[string]map[Key]struct{}{}}
	}
}

// By returns the objects that an index has for a value, sorted by namespace and
// name.
func (i *Informer) By(name, value string) []*Object {
	return i.selected(i.indexes[name].keys[value], selector.Labels{})
}

func (i *Informer) selected(keys map[Key]struct{}, s selector.Labels) []*Object {
	out := make([]*Object, 0, len(keys))
	for k := range keys {
		if o := i.items[k]; s.Empty() || s.Matches(selector.Map(o.Labels)) {
			out = append(out, o)
		}
	}
	return sorted(out)
}

func sorted(objects []*Object) []*Object {
	slices.SortFunc(objects, func(a, b *Object) int { return compareKeys(a.Key(), b.Key()) })
	return objects
}

// byNamespace is the name of the index that every informer has.
const byNamespace = "namespace"

// ByController is the name of the index of the UIDs of controllers; see
// Env.OwnedInformer.
const ByController = "controller"

// ByNode is the name of the index of Pods by their Nodes; see Env.PodsByNode.
const ByNode = "node"

// ByClaim is the name of the index of Pods by their claims; see Env.PodsByClaim.
const ByClaim = "claim"

func newInformer(r *Runtime, res Resource, t *resource.Type) *Informer {
	i := &Informer{runtime: r, resource: res, typ: t, items: map[Key]*Object{}, indexes: map[string]*index{}}
	i.Index(byNamespace, func(o *Object) []string { return []string{o.Namespace} })
	return i
}

// set stores the newest version of an object, nil if it is deleted, and calls the
// handlers.
func (i *Informer) set(k Key, o *Object) {
	old := i.items[k]
	if old == nil && o == nil {
		return
	}
	if old != nil && o != nil && old.UID != o.UID { // a list shows another object of the same name
		i.set(k, nil)
		old = nil
	}
	if o != nil {
		i.items[k] = o
	} else {
		delete(i.items, k)
	}
	for _, x := range i.indexes {
		x.set(k, old, o)
	}
	for _, handle := range i.handlers {
		handle(old, o)
	}
}

// set replaces the values of an object. old is nil for a new object, and new for one that is
// deleted.
func (x *index) set(k Key, old, new *Object) {
	var before, after []string
	if old != nil {
		before = x.values(old)
	}
	if new != nil {
		after = x.values(new)
	}
	if slices.Equal(before, after) {
		return
	}
	for _, v := range before {
		delete(x.keys[v], k)
		if len(x.keys[v]) == 0 {
			delete(x.keys, v)
		}
	}
	for _, v := range after {
		if x.keys[v] == nil {
			x.keys[v] = map[Key]struct{}{}
		}
		x.keys[v][k] = struct{}{}
	}
}

// list replaces the informer's objects by those of the watch cache.
func (i *Informer) list() error {
	revision, items, err := i.runtime.server.list(i.runtime.ctx, i.typ)
	if err != nil {
		return err
	}
	i.shown, i.held = revision, nil
	seen := map[Key]bool{}
	for stored := range items {
		k := Key{stored.Namespace, stored.Name}
		seen[k] = true
		if old := i.items[k]; old == nil || old.Revision != stored.Revision {
			i.set(k, &Object{Object: stored, Type: i.typ})
		}
	}
	for _, o := range i.List("", selector.Labels{}) {
		if !seen[o.Key()] {
			i.set(o.Key(), nil)
		}
	}
	return nil
}

// receive takes a change of the store.
func (i *Informer) receive(e mvcc.Event[*storage.Object]) {
	if e.Item.Modified <= i.shown {
		return
	}
	if len(i.held) > 0 || i.runtime.server.cachedRevision(i.typ) < e.Item.Modified {
		i.held = append(i.held, e)
		return
	}
	i.apply(e)
}

// release applies the held changes that the watch cache shows.
func (i *Informer) release() {
	for len(i.held) > 0 && i.held[0].Item.Modified <= i.runtime.server.cachedRevision(i.typ) {
		e := i.held[0]
		i.held = i.held[1:]
		i.apply(e)
	}
}

func (i *Informer) apply(e mvcc.Event[*storage.Object]) {
	k := i.keyOf(e.Item.Key)
	if e.Type == mvcc.Delete {
		i.set(k, nil)
		return
	}
	stored, err := e.Item.Value.In(i.runtime.ctx, i.typ)
	if err != nil {
		return // a custom resource that cannot be converted: real informers do not see it either
	}
	i.set(k, i.runtime.informers.object(stored, i.typ))
}

// keyOf returns the Key of a key of the store.
func (i *Informer) keyOf(key string) Key {
	rest := strings.TrimPrefix(key, i.typ.Prefix)
	if namespace, name, ok := strings.Cut(rest, "/"); ok {
		return Key{namespace, name}
	}
	return Key{Name: rest}
}

// informers are the informers of a Runtime.
type informers struct {
	log      storage.Watcher // of the whole store
	named    []*Informer     // of the resources that controllers ask for
	each     []*Informer     // of all types, if a controller asks for each change
	unserved []*Informer     // those in each whose types the server has ceased to serve
	byPrefix map[string][]*Informer
	surface  *resource.Types // whose types are in each
	handlers []func(old, new *Object)
	last     *Object // of object
}

// object returns an Object. Informers of the same type share it, and what it has decoded.
func (s *informers) object(stored *storage.Object, t *resource.Type) *Object {
	if s.last == nil || s.last.Object != stored || s.last.Type != t {
		s.last = &Object{Object: stored, Type: t}
	}
	return s.last
}

// all yields the informers in an order that is the same in every run.
func (s *informers) all() iter.Seq[*Informer] {
	return func(yield func(*Informer) bool) {
		for _, i := range s.named {
			if !yield(i) {
				return
			}
		}
		for _, i := range s.each {
			if !yield(i) {
				return
			}
		}
	}
}

// lag reports whether an informer has changes that its watch cache does not show yet.
func (s *informers) lag() bool {
	for i := range s.all() {
		if len(i.held) > 0 {
			return true
		}
	}
	return false
}

// startInformers begins to watch the store and lists all resources.
func (r *Runtime) startInformers() error {
	s := &r.informers
	s.byPrefix = map[string][]*Informer{}
	for _, i := range s.named {
		s.byPrefix[i.typ.Prefix] = append(s.byPrefix[i.typ.Prefix], i)
	}
	return r.relist()
}

// relist lists all informers' objects from their watch caches: at the start, and
// after changes were compacted before the Runtime has seen them.
func (r *Runtime) relist() (err error) {
	s := &r.informers
	if s.log, err = r.server.watch(); err != nil {
		return err
	}
	for i := range s.all() {
		if err := i.list(); err != nil {
			return err
		}
	}
	return r.followSurface()
}

// followSurface adds informers of the types that the server has begun to serve. Those of
// types that it has ceased to serve remain until dropUnserved: the log may have the
// deletions of their objects.
func (r *Runtime) followSurface() error {
	s := &r.informers
	served, _ := r.server.types()
	if len(s.handlers) == 0 || s.surface == served {
		return nil
	}
	s.surface = served
	before := map[string]*Informer{}
	for _, i := range s.each {
		before[i.typ.Prefix] = i
	}
	s.each, s.unserved = nil, nil
	seen := map[string]bool{} // prefixes: a resource in several versions or groups counts once
	for t := range served.All() {
		if t.Virtual() || !t.Allows("watch") || seen[t.Prefix] {
			continue
		}
		t = t.Storage()
		seen[t.Prefix] = true
		if i := before[t.Prefix]; i != nil {
			delete(before, t.Prefix)
			i.typ = t // the definition may have changed
			s.each = append(s.each, i)
			continue
		}
		i := newInformer(r, "", t)
		i.handlers = s.handlers
		s.each = append(s.each, i)
		s.byPrefix[t.Prefix] = append(s.byPrefix[t.Prefix], i)
		if err := i.list(); err != nil {
			return err
		}
	}
	s.unserved = slices.SortedFunc(maps.Values(before), func(a, b *Informer) int { return cmp.Compare(a.typ.Prefix, b.typ.Prefix) })
	s.each = append(s.each, s.unserved...)
	return nil
}

// dropUnserved removes the informers of types that the server has ceased to serve, when
// the log has no more changes for them.
func (r *Runtime) dropUnserved() {
	s := &r.informers
	var lagging []*Informer
	for _, i := range s.unserved {
		if len(i.held) > 0 {
			lagging = append(lagging, i)
			continue
		}
		isI := func(other *Informer) bool { return other == i }
		s.each = slices.DeleteFunc(s.each, isI)
		s.byPrefix[i.typ.Prefix] = slices.DeleteFunc(s.byPrefix[i.typ.Prefix], isI)
	}
	s.unserved = lagging
}

// poll delivers the changes since the last call to the informers.
func (r *Runtime) poll() error {
	s := &r.informers
	for i := range s.all() {
		i.release()
	}
	for {
		if err := r.followSurface(); err != nil {
			return err
		}
		events, err := s.log.Poll(pollLimit)
		if errors.Is(err, mvcc.ErrCompacted) {
			s.log.Close()
			return r.relist()
		}
		if err != nil {
			return err
		}
		if len(events) == 0 {
			r.dropUnserved()
			return nil
		}
		for _, e := range events {
			for _, i := range s.byPrefix[prefixOf(e.Item.Key)] {
				i.receive(e)
			}
		}
	}
}

const pollLimit = 1000

// prefixOf returns the prefix of the type of a key, such as "/pods/" for
// "/pods/default/a".
func prefixOf(key string) string {
	if i := strings.IndexByte(key[1:], '/'); i >= 0 {
		return key[:i+2]
	}
	return key
}
