package fieldmanager

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// A kind is a built-in kind under test: its objects are made canonical as a
// server does on either side of this package.
type kind struct {
	*Type
	wire *wire.Type
}

// DefaultRelease returns the documents of the default release. The external
// tests set it: package profile imports this package through package resource.
var DefaultRelease func() schema.Documents

// builtin returns a kind of the default release.
func builtin(t testing.TB, group, version, name string) *kind {
	t.Helper()
	s, ok := schema.ForKind(DefaultRelease(), group, version, name)
	require.True(t, ok, "%s has no schema", name)
	w, ok := wire.ForKind(group, version, name)
	require.True(t, ok, "%s has no Go type", name)
	k := &kind{wire: w}
	typeMeta := map[string]any{"apiVersion": version, "kind": name}
	if group != "" {
		typeMeta["apiVersion"] = group + "/" + version
	}
	k.Type = New(Kind{Group: group, Version: version, Kind: name, Schema: s, Zero: k.canonical(t, typeMeta), Tidy: w.Unstored})
	return k
}

func (k *kind) canonical(t testing.TB, obj map[string]any) map[string]any {
	t.Helper()
	if k.wire == nil {
		return obj
	}
	out, _, err := k.wire.Normalize(obj, wire.DecodeOptions{})
	require.NoError(t, err)
	return out
}

// stored is what a server reads back of an object.
func (k *kind) stored(t testing.TB, obj map[string]any) map[string]any {
	t.Helper()
	if k.wire == nil {
		return object.Copy(obj)
	}
	out, _, err := k.wire.Decode(k.wire.Append(nil, obj), wire.DecodeOptions{})
	require.NoError(t, err)
	return out
}

// parse reads an object from YAML, with int64 for whole numbers.
func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	var obj map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj))
	return integers(obj).(map[string]any)
}

func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = integers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

// custom returns a kind of custom resources; "" is one without a schema.
func custom(t testing.TB, openAPI string) *kind {
	t.Helper()
	k := Kind{Group: "ex.com", Version: "v1", Kind: "Foo"}
	if openAPI != "" {
		var s any
		require.NoError(t, yaml.Unmarshal([]byte(openAPI), &s))
		s.(map[string]any)["x-kubernetes-group-version-kind"] = []any{
			map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind},
		}
		doc, err := json.Marshal(map[string]any{
			"components": map[string]any{"schemas": map[string]any{"Foo": s}},
		})
		require.NoError(t, err)
		parsed, err := schema.Parse(doc)
		require.NoError(t, err)
		k.Schema, _ = parsed.ForKind(k.Group, k.Version, k.Kind)
	}
	return &kind{Type: New(k)}
}

// A story is what happens to one object, told step by step. Each step takes a
// second; the first is at second 0.
type story struct {
	name  string
	kind  *kind
	steps []step
}

type step interface{ run(t *testing.T, s *state) }

// Put writes a whole object.
type Put struct {
	By, Subresource string
	Object          string
	Managed         []string // see state.check
}

// Patch merges members into the object; a null removes one.
type Patch struct {
	By, Subresource string
	Merge           string
	Managed         []string
}

// Apply applies a configuration.
type Apply struct {
	By, Subresource string
	Force           bool
	Object          string

	Err     string   // the error that is wanted
	Want    string   // the object that is wanted, but for its managedFields
	Managed []string // not looked at if empty
}

// state is the object that a story is about, nil while there is none.
type state struct {
	kind *kind
	live map[string]any
	now  time.Time
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (s story) run(t *testing.T) {
	at := &state{kind: s.kind, now: start}
	for i, step := range s.steps {
		ok := t.Run(fmt.Sprintf("step %d", i), func(t *testing.T) { step.run(t, at) })
		if !ok {
			return
		}
		at.now = at.now.Add(time.Second)
	}
}

// options are those of a server whose writes to the object leave the status as
// it is, and those to the status all else.
func (s *state) options(by, subresource string) Options {
	o := Options{Manager: by, Subresource: subresource, Now: s.now, Fields: Except("status")}
	if subresource == "status" {
		o.Fields = Except("spec", "metadata.labels")
	}
	return o
}

// object reads YAML that may leave out what the kind and the name are.
func (s *state) object(t *testing.T, text string) map[string]any {
	obj := parse(t, text)
	if obj == nil {
		obj = map[string]any{}
	}
	obj["apiVersion"], obj["kind"] = s.kind.apiVersion, s.kind.kind.Kind
	object.Set(obj, "a", "metadata", "name")
	return obj
}

// store is what a server does with a result.
func (s *state) store(t *testing.T, obj map[string]any) {
	obj = s.kind.stored(t, s.kind.KeepTimes(s.live, s.kind.canonical(t, obj)))
	object.Set(obj, "u", "metadata", "uid")
	s.live = obj
}

func (p Put) run(t *testing.T, s *state) {
	obj := s.object(t, p.Object)
	canonical := s.kind.canonical(t, obj)
	if list, ok := managedFields(obj); ok {
		object.Set(canonical, list, "metadata", "managedFields")
	}
	s.store(t, s.kind.Update(s.live, canonical, s.options(p.By, p.Subresource)))
	s.check(t, p.Managed)
}

func (p Patch) run(t *testing.T, s *state) {
	obj := merged(s.live, parse(t, p.Merge)).(map[string]any)
	s.store(t, s.kind.Update(s.live, s.kind.canonical(t, obj), s.options(p.By, p.Subresource)))
	s.check(t, p.Managed)
}

// merged is a JSON merge patch.
func merged(v, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out := map[string]any{}
	if m, ok := v.(map[string]any); ok {
		maps.Copy(out, m)
	}
	for name, change := range p {
		if change == nil {
			delete(out, name)
		} else {
			out[name] = merged(out[name], change)
		}
	}
	return out
}

func (a Apply) run(t *testing.T, s *state) {
	o := s.options(a.By, a.Subresource)
	o.Force = a.Force
	live := object.Copy(s.live)
	obj, err := s.kind.Apply(s.live, s.object(t, a.Object), o)
	require.Equal(t, live, s.live, "Apply must not change the live object")
	if a.Err != "" {
		require.EqualError(t, err, a.Err)
		return
	}
	require.NoError(t, err)
	s.store(t, obj)
	if a.Want != "" {
		want := s.kind.canonical(t, s.object(t, a.Want))
		object.Set(want, "u", "metadata", "uid")
		assert.Equal(t, want, withoutManagedFields(s.live))
	}
	if a.Managed != nil {
		s.check(t, a.Managed)
	}
}

// check compares the managedFields, each written in a line:
//
//	manager[/subresource] operation second fields
//
// The second is that of the entry's time, "-" if it has none.
func (s *state) check(t *testing.T, want []string) {
	t.Helper()
	list, _ := managedFields(s.live)
	got := make([]string, len(list))
	for i, v := range list {
		e := v.(map[string]any)
		who, second := e["manager"].(string), "-"
		if sub, ok := e["subresource"]; ok {
			who += "/" + sub.(string)
		}
		if text, ok := e["time"].(string); ok {
			at, err := time.Parse(time.RFC3339, text)
			require.NoError(t, err)
			second = fmt.Sprint(at.Sub(start).Seconds())
		}
		fields, err := json.Marshal(e["fieldsV1"])
		require.NoError(t, err)
		quotes := strings.NewReplacer(`\"`, "'", `"`, "")
		got[i] = fmt.Sprintf("%s %s %s %s", who, e["operation"], second, quotes.Replace(string(fields)))
		assert.Equal(t, s.kind.apiVersion, e["apiVersion"])
		assert.Equal(t, "FieldsV1", e["fieldsType"])
	}
	if len(want) == 0 {
		assert.Empty(t, got)
		return
	}
	assert.Equal(t, want, got)
}
