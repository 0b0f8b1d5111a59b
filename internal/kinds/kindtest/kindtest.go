// Package kindtest tests the strategies of built-in kinds. Each test is a table of
// JSON bodies and the expected results.
package kindtest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// TypeOf returns the storage version of a resource of the default release or, if it does not have it, of
// the newest one. The name is the resource and its group: "pods", "deployments.apps".
func TypeOf(t testing.TB, name string) *resource.Type {
	t.Helper()
	if typ := find(t, release.Default+"-all", name); typ != nil {
		return typ
	}
	return TypeIn(t, release.Newest+"-all", name)
}

// TypeIn is TypeOf for a release, such as "v1.33".
func TypeIn(t testing.TB, releaseName, name string) *resource.Type {
	t.Helper()
	typ := find(t, releaseName, name)
	require.NotNil(t, typ, "no such resource: %s", name)
	return typ
}

// TypeWith returns the storage version of a resource of the newest release with gates.
func TypeWith(t testing.TB, name string, gates map[string]bool) *resource.Type {
	t.Helper()
	typ := findWith(t, release.Newest, gates, name)
	require.NotNil(t, typ, "no such resource: %s", name)
	return typ
}

// find is TypeIn, but returns nil if there is no such resource.
func find(t testing.TB, releaseName, name string) *resource.Type {
	t.Helper()
	for _, gates := range []map[string]bool{nil, {"AllAlpha": true, "AllBeta": true}} {
		if typ := findWith(t, releaseName, gates, name); typ != nil {
			return typ
		}
	}
	return nil
}

// findWith is find with gates.
func findWith(t testing.TB, releaseName string, gates map[string]bool, name string) *resource.Type {
	t.Helper()
	all, err := release.Open(releaseName)
	require.NoError(t, err)
	p, err := all.WithGates(gates)
	require.NoError(t, err)
	for _, typ := range kinds.Types(p) {
		if GroupResource(typ) == name && typ.GroupVersion == typ.Stored {
			return typ
		}
	}
	return nil
}

// Decode returns the decoded body with defaults.
func Decode(t testing.TB, typ *resource.Type, body string) map[string]any {
	t.Helper()
	obj, strict, err := typ.Codec.Decode([]byte(body), true)
	require.NoError(t, err)
	require.Empty(t, strict)
	obj["kind"], obj["apiVersion"] = typ.Kind, typ.GroupVersion.String()
	if typ.Default != nil {
		typ.Default(obj)
	}
	return obj
}

// At returns the value at a dotted path, nil if there is none. An element of the
// path is a field name or a list index; `\.` is a dot within a field name.
func At(v any, path string) any {
	if path == "" {
		return v
	}
	for _, element := range strings.Split(strings.ReplaceAll(path, `\.`, "\x00"), ".") {
		element = strings.ReplaceAll(element, "\x00", ".")
		switch t := v.(type) {
		case map[string]any:
			v = t[element]
		case []any:
			i, err := strconv.Atoi(element)
			if err != nil || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}

// A Row expects a value, as JSON, at a path of the object that the body becomes. An
// empty Want expects that the path has no value.
type Row = struct {
	Name, Body, Path, Want string
}

// CheckRow compares the value at r.Path with r.Want.
func CheckRow(t *testing.T, r Row, obj map[string]any) {
	t.Helper()
	got := At(obj, r.Path)
	if r.Want == "" {
		assert.Nil(t, got, r.Path)
		return
	}
	b, err := json.Marshal(got)
	require.NoError(t, err)
	assert.JSONEq(t, r.Want, string(b), r.Path)
}

// TestDefaults checks that defaulting sets the expected values, is idempotent, and
// returns a canonical object.
func TestDefaults(t *testing.T, name string, rows []Row) {
	typ := TypeOf(t, name)
	for _, r := range rows {
		t.Run(r.Name, func(t *testing.T) {
			obj := Decode(t, typ, r.Body)
			CheckRow(t, r, obj)
			again := object.Copy(obj)
			typ.Default(again)
			assert.Equal(t, obj, again, "defaulting twice")
			if name == "statefulsets.apps" {
				return // kind and apiVersion of claim templates are encoded but not decoded
			}
			normal, _, err := typ.Codec.Normalize(obj, true)
			require.NoError(t, err)
			assert.Equal(t, normal, obj, "canonical")
		})
	}
}

// Create returns the object that a create request with the body stores.
func Create(t testing.TB, typ *resource.Type, body string) map[string]any {
	t.Helper()
	obj := Decode(t, typ, body)
	meta := object.Meta(obj)
	meta["creationTimestamp"], meta["uid"] = "2024-01-02T03:04:05Z", "u"
	Allocate(t, typ, obj, nil)
	Prepare(typ, obj, nil)
	if typ.ReadBack != nil {
		typ.ReadBack(obj)
	}
	return obj
}

// A reader implements [resource.Reader].
type reader []map[string]any

// Reader returns a reader of the objects and the system priority classes.
func Reader(t testing.TB, objects ...string) resource.Reader {
	t.Helper()
	objects = append(objects,
		`{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"system-cluster-critical"},"value":2000000000,"preemptionPolicy":"PreemptLowerPriority"}`,
		`{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"system-node-critical"},"value":2000001000,"preemptionPolicy":"PreemptLowerPriority"}`)
	var c reader
	for _, text := range objects {
		obj, _, err := wire.DecodeUntyped([]byte(text), wire.DecodeOptions{})
		require.NoError(t, err)
		c = append(c, obj)
	}
	return c
}

func (r reader) Get(kind resource.Kind, namespace, name string) object.View {
	for _, obj := range r.List(kind, namespace) {
		if obj.String("metadata", "name") == name {
			return obj
		}
	}
	return object.View{}
}

func (r reader) List(kind resource.Kind, namespace string) (all []object.View) {
	for _, obj := range r {
		view := object.ViewOf(obj)
		if view.String("kind") == kind.Kind && view.String("apiVersion") == kind.GroupVersion.String() && (namespace == "" || view.String("metadata", "namespace") == namespace) {
			all = append(all, view)
		}
	}
	return all
}

// Prepare calls typ.Prepare if it is not nil.
func Prepare(typ *resource.Type, obj, old map[string]any) {
	if typ.Prepare != nil {
		typ.Prepare(obj, object.ViewOf(old))
	}
}

// Allocate allocates cluster IPs and node ports for the object if the type has an
// Allocate function.
func Allocate(t testing.TB, typ *resource.Type, obj, old map[string]any) {
	t.Helper()
	if typ.Allocate != nil {
		require.NoError(t, typ.Allocate(obj, object.ViewOf(old), NewPool("IPv4")))
	}
}

// A pool is an unlimited [resource.Pool]. It returns the requested address or port,
// or the next unused one if none is requested.
type pool struct {
	families  []string
	allocated int
}

// NewPool returns an unlimited pool with the IP families. The first one is the
// default.
func NewPool(families ...string) resource.Pool { return &pool{families: families} }

func (p *pool) Released(errs validation.List) validation.List { return errs.In(nil, "", "Service") }

func (p *pool) Families() []string { return p.families }

func (p *pool) IP(family, ip string) (string, error) {
	if ip != "" {
		return ip, nil
	}
	p.allocated++
	if family == "IPv6" {
		return fmt.Sprintf("fd00::%d", p.allocated), nil
	}
	return fmt.Sprintf("10.0.0.%d", p.allocated), nil
}

func (p *pool) Port(port int64) (int64, error) {
	if port != 0 {
		return port, nil
	}
	p.allocated++
	return int64(30100 + p.allocated), nil
}

// TestCreates checks the objects that create requests store.
func TestCreates(t *testing.T, name string, rows []Row) {
	typ := TypeOf(t, name)
	for _, r := range rows {
		t.Run(r.Name, func(t *testing.T) { CheckRow(t, r, Create(t, typ, r.Body)) })
	}
}

// A Change expects a value, as JSON, at a path of the object that was created from
// old and then replaced with body.
type Change = struct {
	Name, Old, Body, Path, Want string
}

// TestUpdates checks the objects that updates store, and that updates do not
// write to the old object, with which they share what is equal.
func TestUpdates(t *testing.T, name string, rows []Change) {
	typ := TypeOf(t, name)
	for _, r := range rows {
		t.Run(r.Name, func(t *testing.T) {
			old := Create(t, typ, r.Old)
			kept := object.Copy(old)
			object.FromMap(old) // seals it
			obj := Decode(t, typ, r.Body)
			object.ShareMembers(obj, object.ViewOf(old))
			obj["metadata"] = object.ShallowCopy(object.Map(obj, "metadata"))
			Allocate(t, typ, obj, old)
			Prepare(typ, obj, old)
			assert.Equal(t, kept, old)
			CheckRow(t, Row{Path: r.Path, Want: r.Want}, obj)
		})
	}
}

// MergePatch returns the document with the JSON merge patch applied.
func MergePatch(t testing.TB, doc, merge string) string {
	t.Helper()
	p, err := patch.ParseMerge([]byte(merge), false)
	require.NoError(t, err)
	out, err := p.ApplyText([]byte(doc))
	require.NoError(t, err)
	return string(out)
}

// GroupResource returns the type's resource with its group: "deployments.apps", "pods".
func GroupResource(typ *resource.Type) string {
	if typ.Group == "" {
		return typ.Name
	}
	return typ.Name + "." + typ.Group
}

// AllTypes returns the types of all releases, disabled API versions included.
func AllTypes(t *testing.T) []*resource.Type {
	var out []*resource.Type
	for _, name := range release.Names() {
		p, err := release.Open(name)
		require.NoError(t, err)
		out = append(out, kinds.Types(p)...)
	}
	return out
}
