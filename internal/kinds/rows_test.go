package kinds

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// typeOf is a resource as the newest release stores it: "pods",
// "deployments.apps".
func typeOf(t testing.TB, name string) *resource.Type {
	t.Helper()
	p, err := release.Open("v1.36-all")
	require.NoError(t, err)
	for _, typ := range Types(p.Types()) {
		if qualified(typ.Group, typ.Name) == name && typ.GroupVersion == typ.Stored {
			return typ
		}
	}
	require.Fail(t, "no such resource", name)
	return nil
}

// decoded is a body of the type, with its defaults.
func decoded(t testing.TB, typ *resource.Type, body string) map[string]any {
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

// at is the value at a dotted path, whose parts may be places in lists; a
// backslash keeps a dot in a name.
func at(v any, path string) any {
	if path == "" {
		return v
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(path, `\.`, "\x00"), ".") {
		part = strings.ReplaceAll(part, "\x00", ".")
		switch t := v.(type) {
		case map[string]any:
			v = t[part]
		case []any:
			i, err := strconv.Atoi(part)
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

// A row is what becomes of an object that a request brings: the value at a
// path, as JSON; "" where there is none.
type row struct {
	name, body, path, want string
}

// check asserts what the row says of an object.
func (r row) check(t *testing.T, obj map[string]any) {
	t.Helper()
	got := at(obj, r.path)
	if r.want == "" {
		assert.Nil(t, got, r.path)
		return
	}
	b, err := json.Marshal(got)
	require.NoError(t, err)
	assert.JSONEq(t, r.want, string(b), r.path)
}

// testDefaults checks rows of defaulting, and that an object with its defaults
// is canonical and has no further ones.
func testDefaults(t *testing.T, name string, rows []row) {
	typ := typeOf(t, name)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			obj := decoded(t, typ, r.body)
			r.check(t, obj)
			again := object.Copy(obj)
			typ.Default(again)
			assert.Equal(t, obj, again, "defaults of defaults")
			if name == "statefulsets.apps" {
				return // nested kinds are written, but not read
			}
			normal, _, err := typ.Codec.Normalize(obj, true)
			require.NoError(t, err)
			assert.Equal(t, normal, obj, "canonical")
		})
	}
}

// created is the object as a creation stores it.
func created(t testing.TB, typ *resource.Type, body string) map[string]any {
	t.Helper()
	obj := decoded(t, typ, body)
	meta := object.Meta(obj)
	meta["creationTimestamp"], meta["uid"] = "2024-01-02T03:04:05Z", "u"
	allocate(t, typ, obj, nil)
	typ.Prepare(obj, nil)
	if typ.Complete != nil {
		typ.Complete(obj)
	}
	return obj
}

// A testCluster is a resource.Reader of a few objects.
type testCluster []map[string]any

// clusterOf is the cluster of the objects and the system's priority classes.
func clusterOf(t testing.TB, objects ...string) resource.Reader {
	t.Helper()
	objects = append(objects,
		`{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"system-cluster-critical"},"value":2000000000,"preemptionPolicy":"PreemptLowerPriority"}`,
		`{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"system-node-critical"},"value":2000001000,"preemptionPolicy":"PreemptLowerPriority"}`)
	var c testCluster
	for _, text := range objects {
		obj, _, err := wire.DecodeUntyped([]byte(text), wire.DecodeOptions{})
		require.NoError(t, err)
		c = append(c, obj)
	}
	return c
}

func (c testCluster) Get(kind resource.Kind, namespace, name string) map[string]any {
	for _, obj := range c.List(kind, namespace) {
		if object.String(obj, "metadata", "name") == name {
			return obj
		}
	}
	return nil
}

func (c testCluster) List(kind resource.Kind, namespace string) (all []map[string]any) {
	for _, obj := range c {
		if obj["kind"] == kind.Kind && obj["apiVersion"] == kind.GroupVersion.String() && (namespace == "" || object.String(obj, "metadata", "namespace") == namespace) {
			all = append(all, obj)
		}
	}
	return all
}

// allocate gives an object what its type has of addresses and ports.
func allocate(t testing.TB, typ *resource.Type, obj, old map[string]any) {
	t.Helper()
	if typ.Allocate != nil {
		require.NoError(t, typ.Allocate(obj, old, &freePool{families: []string{"IPv4"}}))
	}
}

// A freePool gives out what it is asked for, else one number after another.
type freePool struct {
	families []string
	given    int
}

func (p *freePool) Families() []string { return p.families }

func (p *freePool) IP(family, ip string) (string, error) {
	if ip != "" {
		return ip, nil
	}
	p.given++
	if family == "IPv6" {
		return fmt.Sprintf("fd00::%d", p.given), nil
	}
	return fmt.Sprintf("10.0.0.%d", p.given), nil
}

func (p *freePool) Port(port int64) (int64, error) {
	if port != 0 {
		return port, nil
	}
	p.given++
	return int64(30100 + p.given), nil
}

// testCreates checks rows of creation.
func testCreates(t *testing.T, name string, rows []row) {
	typ := typeOf(t, name)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) { r.check(t, created(t, typ, r.body)) })
	}
}

// A change is a row of an update: what a path has when body takes the place of
// what was created from old.
type change struct {
	name, old, body, path, want string
}

// testUpdates checks rows of updates. An update leaves the old object as it is.
func testUpdates(t *testing.T, name string, rows []change) {
	typ := typeOf(t, name)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			old := created(t, typ, r.old)
			kept := object.Copy(old)
			obj := decoded(t, typ, r.body)
			allocate(t, typ, obj, old)
			typ.Prepare(obj, old)
			assert.Equal(t, kept, old)
			row{path: r.path, want: r.want}.check(t, obj)
		})
	}
}

func TestMinimalObjectsAreCanonical(t *testing.T) {
	for _, typ := range everything(t) {
		if typ.Strategy == nil || typ.Default == nil {
			continue
		}
		t.Run(typ.GroupVersion.String()+" "+typ.Kind, func(t *testing.T) {
			obj := decoded(t, typ, `{"metadata":{"name":"a"}}`)
			normal, _, err := typ.Codec.Normalize(obj, true)
			require.NoError(t, err)
			assert.Equal(t, normal, obj)
			created := object.Copy(obj)
			typ.Prepare(created, nil)
			typ.Prepare(object.Copy(obj), created)
		})
	}
}

// patched is a document with a merge patch applied.
func patched(t testing.TB, doc, merge string) string {
	t.Helper()
	out, err := patch.Merge([]byte(doc), []byte(merge))
	require.NoError(t, err)
	return string(out)
}

// Whatever a request leaves out, its object is judged and not stumbled over.
func TestVerdictsOnMinimalObjects(t *testing.T) {
	for _, typ := range everything(t) {
		if typ.Strategy == nil {
			continue
		}
		t.Run(typ.GroupVersion.String()+" "+typ.Kind, func(t *testing.T) {
			obj := created(t, typ, `{"metadata":{"name":"a"}}`)
			for _, judge := range []func(obj, old map[string]any) validation.List{typ.Validate, typ.ValidateStatus} {
				if judge != nil {
					judge(obj, nil)
					judge(object.Copy(obj), obj)
				}
			}
			for _, warn := range []func(obj, old map[string]any) []string{typ.Warn, typ.WarnStatus} {
				if warn != nil {
					warn(obj, nil)
					warn(object.Copy(obj), obj)
				}
			}
		})
	}
}
