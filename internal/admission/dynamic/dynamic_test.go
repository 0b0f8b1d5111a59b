//go:build go1.24

package dynamic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
)

// newTypes returns the types of the newest release.
func newTypes(t testing.TB) *resource.Types {
	t.Helper()
	p, err := release.Open("v1.36-all")
	require.NoError(t, err)
	return resource.NewTypes(kinds.Types(p))
}

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	obj, _, err := wire.DecodeUntyped([]byte(text), wire.DecodeOptions{})
	require.NoError(t, err, text)
	return obj
}

// A server is a [Server] and a [resource.Reader] of a few objects.
type server struct {
	*resource.Types
	objects []map[string]any
	hooks   map[string]func(review map[string]any) string // the webhooks, by URL
	errors  map[string]error                              // of the calls, by URL
	mu      sync.Mutex                                    // guards called
	called  []string                                      // the URLs of the calls, in order
	minor   int                                           // of the release, 36 if it is 0
}

func (s *server) Get(kind resource.Kind, namespace, name string) object.View {
	for _, obj := range s.List(kind, namespace) {
		if obj.String("metadata", "name") == name {
			return obj
		}
	}
	return object.View{}
}

func (s *server) List(kind resource.Kind, namespace string) (all []object.View) {
	for _, obj := range s.objects {
		if obj["kind"] == kind.Kind && (namespace == "" || object.String(obj, "metadata", "namespace") == namespace) {
			all = append(all, object.ViewOf(obj))
		}
	}
	return all
}

func (s *server) Type(kind resource.Kind) *resource.Type { return s.ForKind(kind) }
func (s *server) Authorizer() library.Authorizer         { return denyAll{} }
func (s *server) UID() string                            { return "u" }

func (s *server) Merge(_ *resource.Type, live, applied map[string]any) (map[string]any, error) {
	out := object.Copy(live)
	for name, v := range object.Map(applied, "data") {
		object.Set(out, v, "data", name)
	}
	return out, nil
}

func (s *server) Call(_ context.Context, _ string, config map[string]any, _ time.Duration, body []byte) ([]byte, error) {
	url := object.String(config, "url")
	s.mu.Lock()
	s.called = append(s.called, url)
	s.mu.Unlock()
	if err := s.errors[url]; err != nil {
		return nil, err
	}
	answer, ok := s.hooks[url]
	if !ok {
		return nil, errors.New("connection refused")
	}
	var review map[string]any
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	return []byte(answer(review)), nil
}

// release returns the release of the server.
func (s *server) release(t testing.TB) *release.Release {
	t.Helper()
	r, err := release.Open("v1." + strconv.Itoa(cmp.Or(s.minor, 36)))
	require.NoError(t, err)
	return r
}

// An access has the release of a server only.
type access struct {
	admission.Access
	release *release.Release
}

func (x access) Release() *release.Release { return x.release }

// denyAll authorizes no request.
type denyAll struct{}

func (denyAll) Authorize(library.AuthorizerAttributes) (bool, string, error) { return false, "", nil }

// response returns a webhook that sends a response with the fields.
func response(fields string) func(map[string]any) string {
	return func(map[string]any) string {
		return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u",` + fields + `}}`
	}
}

// patching returns a webhook that sends a JSON patch.
func patching(patch string) func(map[string]any) string {
	encoded, _ := json.Marshal([]byte(patch))
	return response(`"allowed":true,"patchType":"JSONPatch","patch":` + string(encoded))
}

// newAttributes returns a request for a ConfigMap, or for a
// HorizontalPodAutoscaler in version v2.
func newAttributes(t testing.TB, s *server, operation admission.Operation, obj, old string) *admission.Attributes {
	t.Helper()
	typ := s.Lookup("", "v1", "configmaps")
	if strings.Contains(obj+old, "autoscaling") {
		typ = s.Lookup("autoscaling", "v2", "horizontalpodautoscalers")
	}
	a := &admission.Attributes{
		Operation: operation, Type: typ, Codec: typ.Codec,
		Namespace: "n", User: &authn.User{Name: "alice", Groups: []string{"devs"}},
		Reader: s, Access: access{release: s.release(t)},
	}
	for _, in := range []struct {
		text string
		set  func(obj map[string]any)
	}{{obj, func(obj map[string]any) { a.Object = obj }}, {old, func(obj map[string]any) { a.Old = object.ViewOf(obj) }}} {
		if in.text != "" {
			decoded, _, err := typ.Codec.Decode([]byte(in.text), false)
			require.NoError(t, err)
			decoded["kind"], decoded["apiVersion"] = typ.Kind, typ.GroupVersion.String()
			in.set(decoded)
			a.Name = object.String(decoded, "metadata", "name")
		}
	}
	return a
}

// newSnapshot compiles configurations, given without their apiVersion.
func newSnapshot(t testing.TB, texts ...string) *Snapshot {
	t.Helper()
	var all []Configuration
	for i, text := range texts {
		all = append(all, Configuration{ID: i, Object: decode(t, text)})
	}
	return New(all, nil, nil)
}

const (
	configMap = `{"metadata":{"name":"a","namespace":"n","labels":{"app":"web"}},"data":{"k":"v"}}`
	namespace = `{"kind":"Namespace","metadata":{"name":"n","labels":{"tier":"gold"}}}`
)

// Plugins run in the second round, too.
func TestReinvokedPlugins(t *testing.T) {
	s := &server{Types: newTypes(t), hooks: map[string]func(map[string]any) string{"x": patching(`[{"op":"add","path":"/data/x","value":"1"}]`)}}
	var seen []string
	plugins := func(a *admission.Attributes) error {
		seen = append(seen, fmt.Sprint(a.Object["data"]))
		return nil
	}
	require.NoError(t, newSnapshot(t, webhookConfiguration("Mutating", "a", "x", "")).Mutate(t.Context(), newAttributes(t, s, admission.Create, configMap, ""), s, plugins))
	assert.Equal(t, []string{"map[k:v]", "map[k:v x:1]"}, seen)
}

func TestSnapshot(t *testing.T) {
	assert.Nil(t, New(nil, nil, nil))
	s := &server{Types: newTypes(t)}
	var none *Snapshot
	a := newAttributes(t, s, admission.Create, configMap, "")
	require.NoError(t, none.Validate(t.Context(), a, s))
	require.NoError(t, none.Mutate(t.Context(), a, s, nil))

	hook := Configuration{ID: "x", Object: decode(t, webhookConfiguration("Validating", "a", "x", ""))}
	one := New([]Configuration{hook}, nil, nil)
	two := New([]Configuration{hook, {ID: "y", Object: decode(t, webhookConfiguration("Validating", "b", "y", ""))}}, one, nil)
	assert.Same(t, one.validatingWebhooks.all[0], two.validatingWebhooks.all[0], "compiled once")
	assert.Len(t, two.validatingWebhooks.all, 2)

	typ := s.Lookup(Group, "v1", "validatingwebhookconfigurations")
	a = &admission.Attributes{Operation: admission.Create, Type: typ, Object: hook.Object}
	require.NoError(t, two.Validate(t.Context(), a, s), "webhooks do not handle configurations")
}
