package object

import "slices"

// An Edit makes another Object of an Object, with which it shares what it does not write to. It is
// not safe for concurrent use.
type Edit struct {
	root  map[string]any
	owned owned
}

// owned are the maps of an Edit that it has copied, as a tree with the names of their fields. The
// list in a field is copied if it has an entry, too.
type owned map[string]owned

// Edit begins a change of the object.
func (o *Object) Edit() *Edit {
	return &Edit{root: o.View().ShallowCopy(), owned: owned{}}
}

// View returns the object as it is. What it returns may change with the next write.
func (e *Edit) View() View { return View{e.root} }

// Set sets the field at a path to v, which belongs to the Edit from then on. It sets fields of the
// path that are no objects to objects.
func (e *Edit) Set(v any, path ...string) {
	last := len(path) - 1
	parent, own := e.own(path[:last])
	name := path[last]
	parent[name] = v
	delete(own, name)
}

// Delete removes the field at a path, if there is one.
func (e *Edit) Delete(path ...string) {
	last := len(path) - 1
	if m, ok := Value(e.root, path[:last]...).(map[string]any); !ok || !Has(m, path[last]) {
		return
	}
	parent, own := e.own(path[:last])
	delete(parent, path[last])
	delete(own, path[last])
}

// Append appends v, which belongs to the Edit from then on, to the list at a path. It sets a field
// that is no list to a list.
func (e *Edit) Append(v any, path ...string) {
	last := len(path) - 1
	list := e.list(path)
	e.Own(path[:last]...)[path[last]] = append(list, v)
}

// SetItem sets an item of the list at a path to v, which belongs to the Edit from then on.
func (e *Edit) SetItem(v any, i int, path ...string) { e.list(path)[i] = v }

// list returns the list at a path, which the Edit has copied: another Object may have the memory of
// the items, and that after the last one.
func (e *Edit) list(path []string) []any {
	last := len(path) - 1
	parent, own := e.own(path[:last])
	name := path[last]
	list, isList := parent[name].([]any)
	if !isList || own[name] == nil {
		list = slices.Clone(list)
		parent[name], own[name] = list, owned{}
	}
	return list
}

// Own returns the object at a path, for packages that write maps: they may write to its fields until
// the Edit ends, but not to what is within them. It sets fields of the path that are no objects to
// objects.
func (e *Edit) Own(path ...string) map[string]any {
	m, _ := e.own(path)
	return m
}

// own returns the object at a path, which the Edit has copied, and what is owned of its fields.
func (e *Edit) own(path []string) (map[string]any, owned) {
	m, own := e.root, e.owned
	for _, name := range path {
		next, isObject := m[name].(map[string]any)
		if !isObject || own[name] == nil {
			next = ShallowCopy(next)
			m[name], own[name] = next, owned{}
		}
		m, own = next, own[name]
	}
	return m, own
}

// Object ends the Edit and returns the object.
func (e *Edit) Object() *Object { return FromMap(e.Map()) }

// Map ends the Edit and returns the object for packages that write maps: they may write to the
// fields of the object and to those of its metadata, but not to what is within them.
func (e *Edit) Map() map[string]any {
	e.Own("metadata")
	root := e.root
	e.root, e.owned = nil, nil
	return root
}

// SetCondition sets a condition of an object's status. It keeps the transition
// time of the condition of that type if the status does not change.
func SetCondition(edit *Edit, condition map[string]any) {
	for i, c := range edit.View().At("status", "conditions").Items() {
		if c.String("type") != condition["type"] {
			continue
		}
		if c.String("status") == condition["status"] {
			condition["lastTransitionTime"] = c.At("lastTransitionTime").Copy()
		}
		edit.SetItem(condition, i, "status", "conditions")
		return
	}
	edit.Append(condition, "status", "conditions")
}
