package generate

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Generator makes objects of a custom resource. It is safe for concurrent use.
type Generator struct {
	apiVersion, kind string
	root             *node
	validate         func(obj map[string]any) validation.List
}

// New returns a Generator of objects that a structural schema describes. Fields that the objects do not
// have are omitted, such as status. validate sets the defaults of an object, and returns what is wrong
// with it by the schema and by the rules.
func New(apiVersion, kind string, s *schema.Schema, omit []string, validate func(obj map[string]any) validation.List) *Generator {
	g := &Generator{apiVersion: apiVersion, kind: kind, root: newNode(s, hints{}), validate: validate}
	g.root.names = slices.DeleteFunc(g.root.names, func(name string) bool {
		return name == "apiVersion" || name == "kind" || name == "metadata" || slices.Contains(omit, name)
	})
	return g
}

const (
	maxRepairs = 60 // of an object
	maxStarts  = 20 // for an object
)

// Object returns an object with a name and without a namespace, as a client sends it, without defaults.
// It reports false if it finds none that is valid.
func (g *Generator) Object(c *Choices, name string) (obj map[string]any, ok bool) {
	for range maxStarts {
		obj = g.root.value(c, nil, 0).(map[string]any)
		obj["apiVersion"], obj["kind"], obj["metadata"] = g.apiVersion, g.kind, map[string]any{"name": name}
		if g.repair(c, obj) {
			return obj, true
		}
	}
	return nil, false
}

// Errors returns what is wrong with an object, which it does not change.
func (g *Generator) Errors(obj map[string]any) validation.List { return g.validate(object.Copy(obj)) }

// repair makes values of an object anew until nothing is wrong with it. It reports false if it gives up.
func (g *Generator) repair(c *Choices, obj map[string]any) bool {
	errs := g.Errors(obj)
	if len(errs) > 0 {
		c.repair()
	}
	for i := 0; i < maxRepairs && len(errs) > 0; i++ {
		about := errs
		if i%4 == 3 {
			about = errs[c.of(len(errs)):][:1] // where changes are in each other's way
		}
		var undo []func()
		for _, e := range about {
			undo = append(undo, g.change(c, obj, e))
		}
		next := g.Errors(obj)
		if len(next) <= len(errs) {
			errs = next
			continue
		}
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
	return len(errs) == 0
}

// change makes a value anew that an error is about: that at its path, a field that the rules there read,
// or, now and then, a value around it. It returns what undoes it.
func (g *Generator) change(c *Choices, obj map[string]any, e *validation.Error) (undo func()) {
	at, path := g.find(obj, e.Field)
	if len(at) > 1 && c.oneIn(6) {
		at, path = at[:len(at)-1], path[:len(path)-1]
	}
	last := at[len(at)-1]
	if fields := fieldsOf(last.node.rules); len(fields) > 0 {
		if members, ok := last.value.(map[string]any); ok {
			return remake(c, last.node, members, pick(c, fields))
		}
	}
	if len(at) == 1 {
		if len(g.root.names) == 0 {
			return func() {}
		}
		return remake(c, g.root, obj, pick(c, g.root.names))
	}
	switch parent := at[len(at)-2]; in := parent.value.(type) {
	case map[string]any:
		return remake(c, parent.node, in, path[len(path)-1])
	case []any:
		i, _ := strconv.Atoi(path[len(path)-1])
		was := in[i]
		in[i] = last.node.value(c, nil, len(path))
		return func() { in[i] = was }
	}
	return func() {}
}

// remake makes a member anew, or removes it.
func remake(c *Choices, n *node, members map[string]any, name string) (undo func()) {
	was := maps.Clone(members)
	undo = func() {
		clear(members)
		maps.Copy(members, was)
	}
	child := n.children[name]
	if child == nil {
		child = n.values
	}
	_, present := members[name]
	switch {
	case child == nil, present && c.oneIn(4) && !slices.Contains(n.Required, name):
		delete(members, name)
	default:
		members[name] = child.value(c, under(n.choose(c, nil), name), 1)
	}
	return undo
}

// A place is a value in an object, and its node.
type place struct {
	node  *node
	value any
}

// find returns the places on the way to the value at a path, as errors have it, and the steps of the
// way: one fewer than places. It ends at the last value that exists, or that a field is missing of.
func (g *Generator) find(obj map[string]any, field string) (at []place, path []string) {
	at = []place{{g.root, obj}}
	for _, step := range steps(field) {
		here := at[len(at)-1]
		var next place
		switch v := here.value.(type) {
		case map[string]any:
			next = place{here.node.children[step], v[step]}
			if next.node == nil {
				next.node = here.node.values
			}
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i < len(v) {
				next = place{here.node.items, v[i]}
			}
		}
		if next.node == nil || len(at) == 1 && !slices.Contains(g.root.names, step) {
			break
		}
		at, path = append(at, next), append(path, step)
	}
	return at, path
}

// steps returns the steps of a path such as "spec.ports[0].name" or "spec.labels[example.com/a]".
func steps(path string) (out []string) {
	for path != "" {
		if rest, ok := strings.CutPrefix(path, "["); ok {
			key, after, _ := strings.Cut(rest, "]")
			out, path = append(out, key), strings.TrimPrefix(after, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(out, path)
		}
		out = append(out, path[:end])
		path = strings.TrimPrefix(path[end:], ".")
	}
	return out
}

// Spoil makes an object invalid by one change, and returns the errors; none if the changes that it tries
// leave the object valid, which is then as it was.
func (g *Generator) Spoil(c *Choices, obj map[string]any) validation.List {
	for range maxRepairs {
		members, n := g.anyObject(c, obj)
		if len(n.names) == 0 {
			continue
		}
		name := pick(c, n.names)
		was, present := members[name]
		switch v := was.(type) {
		case nil:
			members[name] = pick(c, []any{"unexpected", int64(-1), []any{}})
		case int64:
			members[name] = pick(c, []any{v - 1, v + 1, -v, "1"})
		case float64:
			members[name] = pick(c, []any{v - 1, v + 1, -v})
		case string:
			members[name] = pick(c, []any{v + "!", "", v + v + v, int64(1)})
		case []any:
			members[name] = slices.Concat(v, v)
		}
		if present && c.of(2) == 0 {
			delete(members, name)
		}
		if errs := g.Errors(obj); len(errs) > 0 {
			return errs
		}
		if members[name] = was; !present {
			delete(members, name)
		}
	}
	return nil
}

// anyObject returns an object that is obj or in it, with its node.
func (g *Generator) anyObject(c *Choices, obj map[string]any) (map[string]any, *node) {
	at, n := obj, g.root
	for {
		var inside []string
		for _, name := range n.names {
			if m, ok := at[name].(map[string]any); ok && len(m) > 0 && len(n.children[name].names) > 0 {
				inside = append(inside, name)
			}
		}
		if len(inside) == 0 || at["kind"] == nil && c.oneIn(3) {
			return at, n
		}
		name := pick(c, inside)
		at, n = at[name].(map[string]any), n.children[name]
	}
}
