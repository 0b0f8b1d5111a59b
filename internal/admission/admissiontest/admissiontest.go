// Package admissiontest tests admission plugins with tables of requests.
package admissiontest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/webhook"
	"github.com/kubefake/kubefake/internal/wire"
)

// A Request is a request and what a plugin does with it. Objects are JSON.
type Request struct {
	Name        string
	Resource    string          // with its group: "pods", "deployments.apps"
	Subresource string          // "" for the object itself
	Objects     []string        // what the server stores, with kind and apiVersion
	Object      string          // what the request writes
	Old         string          // "" for a creation
	Gates       map[string]bool // feature gates that are not enabled as by default in the newest release
	Minor       int             // of the release; 0 is the newest
	User        *authn.User     // who makes the request; nil for nobody in particular
	Time        time.Time       // of the server's clock
	Forbidden   []string        // what the user may not do: "update nodes/finalizers n", without group and namespace

	Error    string   // of the plugin; "" if it admits the request
	Path     string   // a field of the object after that: "spec.tolerations.0"; "" for none
	Want     string   // its value; "" if it is absent
	Warnings []string // for the client
}

// Run sends each request to Mutate and Validate of the plugin, as far as it
// handles the resource and has them.
func Run(t *testing.T, p admission.Plugin, requests []Request) {
	t.Helper()
	for _, r := range requests {
		t.Run(r.Name, func(t *testing.T) {
			a := r.Attributes(t)
			if resources := p.Resources(); resources != nil {
				assert.Contains(t, resources, a.GroupResource())
			}
			err := run(p, a)
			assert.Equal(t, r.Warnings, a.Warnings)
			if r.Error != "" {
				assert.EqualError(t, err, r.Error)
				return
			}
			require.NoError(t, err)
			if r.Path != "" {
				checkField(t, a.Object, r.Path, r.Want)
			}
		})
	}
}

func run(p admission.Plugin, a *admission.Attributes) error {
	if m, ok := p.(admission.Mutator); ok {
		if err := m.Mutate(a); err != nil {
			return err
		}
	}
	if v, ok := p.(admission.Validator); ok {
		return v.Validate(a)
	}
	return nil
}

func checkField(t *testing.T, obj map[string]any, path, want string) {
	t.Helper()
	got := field(obj, path)
	if want == "" {
		assert.Nil(t, got, path)
		return
	}
	text, err := json.Marshal(got)
	require.NoError(t, err)
	assert.JSONEq(t, want, string(text), path)
}

// field returns the value at a dotted path, whose elements may be indices of
// lists; nil if it is absent.
func field(v any, path string) any {
	for _, name := range strings.Split(path, ".") {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(parent) {
				return nil
			}
			v = parent[i]
		default:
			return nil
		}
	}
	return v
}

// Attributes returns the request as plugins see it.
func (r *Request) Attributes(t testing.TB) *admission.Attributes {
	t.Helper()
	typ := Type(t, r.Resource)
	released, err := release.Open("v1." + strconv.Itoa(cmp.Or(r.Minor, 36)))
	require.NoError(t, err)
	released, err = released.WithGates(r.Gates)
	require.NoError(t, err)
	a := &admission.Attributes{
		Operation: admission.Create, Type: typ, Codec: typ.Codec,
		Subresource: r.Subresource, Object: Decode(t, typ, r.Object), Reader: newReader(t, r.Objects),
		Access: access{t, r.Forbidden, released, r.Time}, User: r.User,
	}
	a.Name, a.Namespace = object.String(a.Object, "metadata", "name"), object.String(a.Object, "metadata", "namespace")
	if r.Old != "" {
		a.Operation, a.Old = admission.Update, object.ViewOf(Decode(t, typ, r.Old))
	}
	return a
}

// An access is an [admission.Access] of a user who may do everything else than forbidden.
type access struct {
	t         testing.TB
	forbidden []string
	release   *release.Release
	now       time.Time
}

func (x access) Now() time.Time { return x.now }

func (x access) Release() *release.Release { return x.release }

func (x access) GenerateName(prefix string) string { return prefix + "xxxxx" }

func (x access) Wait(time.Duration) bool { return false }

func (x access) Webhooks() *webhook.Client { return nil }

func (x access) Context() context.Context { return context.Background() }

func (x access) Authorize(at authz.Attributes) authz.Decision {
	resource := at.Resource
	if at.Subresource != "" {
		resource += "/" + at.Subresource
	}
	return authz.Decision{Allowed: !slices.Contains(x.forbidden, at.Verb+" "+resource+" "+at.Name)}
}

func (x access) Types() *resource.Types { return resource.NewTypes(types(x.t)) }

// types returns the types of the newest release, with those of feature gates.
func types(t testing.TB) []*resource.Type {
	t.Helper()
	p, err := release.Open("v1.36-all")
	require.NoError(t, err)
	p, err = p.WithGates(map[string]bool{"GenericWorkload": true, "ClusterTrustBundle": true})
	require.NoError(t, err)
	return kinds.Types(p)
}

// Type returns the resource in the version in which the newest release stores
// it.
func Type(t testing.TB, name string) *resource.Type {
	t.Helper()
	for _, typ := range types(t) {
		if (status.GroupResource{Group: typ.Group, Resource: typ.Name}).String() == name && typ.GroupVersion == typ.Stored {
			return typ
		}
	}
	require.Fail(t, "no such resource", name)
	return nil
}

// Decode returns an object of the type with its defaults.
func Decode(t testing.TB, typ *resource.Type, text string) map[string]any {
	t.Helper()
	obj, fieldErrors, err := typ.Codec.Decode([]byte(text), true)
	require.NoError(t, err)
	require.Empty(t, fieldErrors)
	obj["kind"], obj["apiVersion"] = typ.Kind, typ.GroupVersion.String()
	if typ.Default != nil {
		typ.Default(obj)
	}
	return obj
}

// A reader is a [resource.Reader] of a few objects.
type reader []map[string]any

func newReader(t testing.TB, objects []string) reader {
	t.Helper()
	var r reader
	for _, text := range objects {
		obj, _, err := wire.DecodeUntyped([]byte(text), wire.DecodeOptions{})
		require.NoError(t, err)
		r = append(r, obj)
	}
	return r
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
