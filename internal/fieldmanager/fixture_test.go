package fieldmanager

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/wire"
)

// A kind is a kind under test. Its methods put objects in the form in which a
// server passes them to this package.
type kind struct {
	*Type
	wire *wire.Type
}

// DefaultRelease returns the documents of the default release. The external
// tests set it: package release imports this package through package resource.
var DefaultRelease func() schema.Documents

// builtin returns a built-in kind of the default release.
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
	k.Type = New(Kind{Group: group, Version: version, Kind: name, Schema: s, Zero: k.canonical(t, typeMeta), OmitEmpty: w.OmitEmpty})
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

// stored returns an object as a server reads it from the store.
func (k *kind) stored(t testing.TB, obj map[string]any) map[string]any {
	t.Helper()
	if k.wire == nil {
		return object.Copy(obj)
	}
	out, _, err := k.wire.Decode(k.wire.Append(nil, obj), wire.DecodeOptions{})
	require.NoError(t, err)
	return out
}

// parse reads an object from YAML, in the form of decoded objects: with int64 for whole
// numbers and FieldsV1 for field sets.
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
		if set, ok := v["fieldsV1"]; ok {
			v["fieldsV1"] = object.FieldsV1(wire.AppendAny(nil, set))
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

// custom returns a kind of custom resources with an OpenAPI schema, "" for
// none.
func custom(t testing.TB, openAPI string) *kind {
	t.Helper()
	k := Kind{Group: "ex.com", Version: "v1", Kind: "Foo", PartialKeys: true}
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

// A sequence is a list of writes to one object. Step n is at second n.
type sequence struct {
	name  string
	kind  *kind
	steps []step
}

type step interface{ run(t *testing.T, s *state) }

// Put replaces the object.
type Put struct {
	By, Subresource string
	Object          string
	Managed         []string // see state.check
}

// Patch merges members into the object; a null removes a member.
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

	Err     string   // the expected error
	Want    string   // the expected object without its managedFields
	Managed []string // not checked if empty
}

// state is the object of a sequence, nil before it exists.
type state struct {
	kind *kind
	live map[string]any
	now  time.Time
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (s sequence) run(t *testing.T) {
	at := &state{kind: s.kind, now: start}
	for i, step := range s.steps {
		ok := t.Run(fmt.Sprintf("step %d", i), func(t *testing.T) { step.run(t, at) })
		if !ok {
			return
		}
		at.now = at.now.Add(time.Second)
	}
}

// options returns the options of a server. Writes to the object do not change
// the status; writes to the status change nothing else.
func (s *state) options(by, subresource string) Options {
	o := Options{Manager: by, Subresource: subresource, Now: s.now, Fields: Except("status")}
	if subresource == "status" {
		o.Fields = Except("spec", "metadata.labels")
	}
	return o
}

// object parses YAML that may leave out apiVersion, kind and name.
func (s *state) object(t *testing.T, text string) map[string]any {
	obj := parse(t, text)
	if obj == nil {
		obj = map[string]any{}
	}
	obj["apiVersion"], obj["kind"] = s.kind.apiVersion, s.kind.kind.Kind
	object.Set(obj, "a", "metadata", "name")
	return obj
}

// store does what a server does with a result.
func (s *state) store(t *testing.T, obj map[string]any) {
	obj = s.kind.stored(t, s.kind.IgnoreTimestamps(object.ViewOf(s.live), s.kind.canonical(t, obj)))
	object.Set(obj, "u", "metadata", "uid")
	s.live = obj
}

func (p Put) run(t *testing.T, s *state) {
	obj := s.object(t, p.Object)
	canonical := s.kind.canonical(t, obj)
	if list, ok := managedFields(obj); ok {
		object.Set(canonical, list, "metadata", "managedFields")
	}
	s.store(t, s.kind.Update(object.ViewOf(s.live), canonical, s.options(p.By, p.Subresource)))
	s.check(t, p.Managed)
}

func (p Patch) run(t *testing.T, s *state) {
	obj := mergePatch(s.live, parse(t, p.Merge)).(map[string]any)
	s.store(t, s.kind.Update(object.ViewOf(s.live), s.kind.canonical(t, obj), s.options(p.By, p.Subresource)))
	s.check(t, p.Managed)
}

// mergePatch applies a JSON merge patch.
func mergePatch(v, patch any) any {
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
			out[name] = mergePatch(out[name], change)
		}
	}
	return out
}

func (a Apply) run(t *testing.T, s *state) {
	o := s.options(a.By, a.Subresource)
	o.Force = a.Force
	live := object.Copy(s.live)
	obj, err := s.kind.Apply(object.ViewOf(s.live), s.object(t, a.Object), o)
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
		assert.Equal(t, want, WithoutManagedFields(s.live))
	}
	if a.Managed != nil {
		s.check(t, a.Managed)
	}
}

// check compares the managedFields, each formatted as a line:
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
