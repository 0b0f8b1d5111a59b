//go:build go1.25

package fieldmanager

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

// twoVersions returns the versions v1 and v2 of a kind. .spec.size in v1 is
// .spec.replicas in v2.
func twoVersions() (v1, v2 *Type) {
	convert := func(obj map[string]any, apiVersion string) (map[string]any, *Type, error) {
		from, to, t := "size", "replicas", v2
		switch apiVersion {
		case "ex.com/v1":
			from, to, t = to, from, v1
		case "ex.com/v2":
		case "ex.com/broken":
			return nil, nil, errors.New("converter is down")
		default:
			return nil, nil, fmt.Errorf("%w: %s", ErrNoVersion, apiVersion)
		}
		if obj["apiVersion"] == apiVersion {
			return obj, t, nil
		}
		obj = object.Copy(obj)
		obj["apiVersion"] = apiVersion
		if spec := object.Map(obj, "spec"); spec != nil {
			if v, ok := spec[from]; ok {
				delete(spec, from)
				spec[to] = v
			}
		}
		return obj, t, nil
	}
	v1 = NewVersioned(Kind{Group: "ex.com", Version: "v1", Kind: "Foo"}, convert)
	v2 = NewVersioned(Kind{Group: "ex.com", Version: "v2", Kind: "Foo"}, convert)
	return v1, v2
}

// managedBy formats the entries of an object: manager, version, fields.
func managedBy(obj map[string]any) []string {
	var out []string
	list, _ := managedFields(obj)
	for _, v := range list {
		e := v.(map[string]any)
		out = append(out, fmt.Sprint(e["manager"], " ", e["apiVersion"], " ", text(e["fieldsV1"])))
	}
	return out
}

func TestVersions(t *testing.T) {
	v1, v2 := twoVersions()
	o := Options{Manager: "one", Now: start}
	live := v1.Update(object.View{}, parse(t, `{apiVersion: ex.com/v1, kind: Foo, spec: {size: 1, color: red}}`), o)
	object.Set(live, "u", "metadata", "uid")
	require.Equal(t, []string{`one ex.com/v1 {"f:spec":{".":{},"f:color":{},"f:size":{}}}`}, managedBy(live))

	t.Run("update", func(t *testing.T) {
		before, _, err := v2.convert(live, "ex.com/v2")
		require.NoError(t, err)
		after := object.Copy(before)
		object.Set(after, int64(2), "spec", "replicas")
		got := v2.Update(object.ViewOf(before), after, Options{Manager: "two", Now: start})
		assert.Equal(t, []string{
			`one ex.com/v1 {"f:spec":{".":{},"f:color":{}}}`,
			`two ex.com/v2 {"f:spec":{"f:replicas":{}}}`,
		}, managedBy(got))
	})

	t.Run("apply", func(t *testing.T) {
		before, _, err := v2.convert(live, "ex.com/v2")
		require.NoError(t, err)
		applied := parse(t, `{apiVersion: ex.com/v2, kind: Foo, spec: {replicas: 2, shape: round}}`)
		o := Options{Manager: "two", Now: start}
		_, err = v2.Apply(object.ViewOf(before), applied, o)
		require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "one" using ex.com/v1: .spec.size`)
		o.Force = true
		got, err := v2.Apply(object.ViewOf(before), applied, o)
		require.NoError(t, err)
		assert.Equal(t, []string{
			`two ex.com/v2 {"f:spec":{".":{},"f:replicas":{},"f:shape":{}}}`,
			`one ex.com/v1 {"f:spec":{".":{},"f:color":{}}}`,
		}, managedBy(got))

		// Fields that were applied in one version are pruned in another, also by their other name.
		before, _, err = v1.convert(got, "ex.com/v1")
		require.NoError(t, err)
		renamed, err := v1.Apply(object.ViewOf(before), parse(t, `{apiVersion: ex.com/v1, kind: Foo, spec: {shape: round}}`), o)
		require.NoError(t, err)
		assert.Equal(t, parse(t, `{color: red, shape: round}`), object.Map(renamed, "spec"))
		got, err = v1.Apply(object.ViewOf(before), parse(t, `{apiVersion: ex.com/v1, kind: Foo, spec: {size: 2}}`), o)
		require.NoError(t, err)
		assert.Equal(t, parse(t, `{color: red, size: 2}`), object.Map(got, "spec"))
		assert.Equal(t, []string{
			`two ex.com/v1 {"f:spec":{".":{},"f:size":{}}}`,
			`one ex.com/v1 {"f:spec":{".":{},"f:color":{}}}`,
		}, managedBy(got))
	})

	for _, test := range []struct {
		name, version string
		want          []string
	}{
		{"a removed version", "ex.com/v0", []string{`one ex.com/v1 {"f:spec":{".":{},"f:size":{}}}`, `two ex.com/v1 {"f:spec":{"f:color":{}}}`}},
		{"a version whose conversion fails", "ex.com/broken", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := object.Copy(live)
			list, _ := managedFields(before)
			metadata(before)["managedFields"] = append(list, map[string]any{
				"manager": "old", "operation": "Update", "apiVersion": test.version,
				"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:color": map[string]any{}}},
			})
			after := WithoutManagedFields(before)
			after["spec"] = parse(t, `{size: 1, color: blue}`)
			assert.Equal(t, test.want, managedBy(v1.Update(object.ViewOf(before), after, Options{Manager: "two", Now: start})))
		})
	}
}

// Managers that apply in two versions own and lose what they do with structured-merge-diff's updater.
func TestApplyAsUpdaterInVersions(t *testing.T) {
	v1, v2 := twoVersions()
	applyAsUpdater(t, func(r *rand.Rand, _ bool) map[string]any {
		spec := map[string]any{}
		for _, name := range []string{"size", "color", "shape"} {
			if r.IntN(2) == 0 {
				spec[name] = int64(r.IntN(2))
			}
		}
		return map[string]any{"apiVersion": "ex.com/v1", "kind": "Foo", "metadata": map[string]any{"uid": "u"}, "spec": spec}
	}, v1, v2)
}

// TestSchemaChange: a field that was granular when it was written and is atomic
// now is owned as a whole.
func TestSchemaChange(t *testing.T) {
	k := custom(t, `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  spec: {type: object, properties: {ref: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}, size: {type: integer}}}
`)
	before := parse(t, `
apiVersion: ex.com/v1
kind: Foo
metadata:
  uid: u
  managedFields: [{manager: old, operation: Update, apiVersion: ex.com/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:ref": {".": {}, "f:a": {}}}}}]
spec: {ref: {a: x}}
`)
	after := WithoutManagedFields(before)
	after["spec"] = parse(t, `{ref: {a: x}, size: 1}`)
	got := k.Update(object.ViewOf(before), after, Options{Manager: "new", Now: start})
	assert.Equal(t, []string{
		`old ex.com/v1 {"f:spec":{"f:ref":{}}}`,
		`new ex.com/v1 {"f:spec":{"f:size":{}}}`,
	}, managedBy(got))
}

func TestRequestErrors(t *testing.T) {
	configMap, deployment := builtin(t, "", "v1", "ConfigMap"), builtin(t, "apps", "v1", "Deployment")
	for _, test := range []struct {
		name    string
		kind    *kind
		applied string
		want    string
	}{
		{"another kind", configMap, `{apiVersion: v1, kind: Secret}`, "invalid object type: /v1, Kind=Secret"},
		{"another version", configMap, `{apiVersion: v2, kind: ConfigMap}`, "invalid object type: /v2, Kind=ConfigMap"},
		{"another group", deployment, `{apiVersion: ex.com/v1, kind: Deployment}`, "invalid object type: ex.com/v1, Kind=Deployment"},
		{"no apiVersion and kind", configMap, `{data: {a: x}}`, "invalid object type: /, Kind="},
		{"no version", configMap, `{apiVersion: a/b/c, kind: ConfigMap}`, "invalid object type: /, Kind="},
		{"managed fields", configMap, `{apiVersion: v1, kind: ConfigMap, metadata: {managedFields: []}}`, "metadata.managedFields must be nil"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.kind.Apply(object.View{}, parse(t, test.applied), Options{Manager: "m", Now: start})
			var bad *RequestError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, test.want, bad.Message)
		})
	}
}

// TestUnreadableManagedFields: an apply to an object whose managedFields cannot
// be read fails, and an update starts with empty ones.
func TestUnreadableManagedFields(t *testing.T) {
	k := builtin(t, "", "v1", "ConfigMap")
	live := k.canonical(t, parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u}, data: {a: x}}`))
	metadata(live)["managedFields"] = []any{map[string]any{"operation": "Read"}}
	_, err := k.Apply(object.ViewOf(live), parse(t, `{apiVersion: v1, kind: ConfigMap}`), Options{Manager: "m", Now: start})
	assert.EqualError(t, err, "failed to decode managed fields: operation must be `Apply` or `Update`")
	assert.Empty(t, managedBy(k.Update(object.ViewOf(live), object.Copy(live), Options{Manager: "m", Now: start})))
}

// TestConcurrentUse lets goroutines race for the compilation of the schema, and
// for what structured-merge-diff computes lazily.
func TestConcurrentUse(t *testing.T) {
	k := builtin(t, "", "v1", "Pod")
	obj := k.canonical(t, parse(t, `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}`))
	want := managedBy(builtin(t, "", "v1", "Pod").Update(object.View{}, object.Copy(obj), Options{Manager: "m", Now: start}))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got := k.Update(object.View{}, object.Copy(obj), Options{Manager: "m", Now: start})
			assert.Equal(t, want, managedBy(got))
			_, err := k.Apply(object.ViewOf(got), obj, Options{Manager: "n", Now: start})
			assert.NoError(t, err)
		})
	}
	wg.Wait()
}

// TestUpdateChangesOnlyTheObject: the old object stays as it is, even if the new one shares
// its metadata.
func TestUpdateChangesOnlyTheObject(t *testing.T) {
	k := builtin(t, "", "v1", "ConfigMap")
	live := k.Update(object.View{}, k.canonical(t, parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: x}}`)), Options{Manager: "one", Now: start})
	metadata(live)["uid"] = "u"
	before := object.Copy(live)
	obj := maps.Clone(live)
	obj["data"] = map[string]any{"a": "y"}
	got := k.Update(object.ViewOf(live), obj, Options{Manager: "two", Now: start})
	assert.True(t, object.Same(obj, got))
	assert.Equal(t, before, live)
	assert.Equal(t, []string{`one v1 {"f:data":{}}`, `two v1 {"f:data":{"f:a":{}}}`}, managedBy(got))
}
