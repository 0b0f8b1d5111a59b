//go:build go1.26

package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// A client calls a registry as package server does, without HTTP.
type client struct {
	*Registry
	warnings []string
}

// Warn implements [Warnings].
func (c *client) Warn(text string) { c.warnings = append(c.warnings, text) }

// request returns a request for an object of a resource in the namespace default.
func (c *client) request(t testing.TB, resource, name string) Request {
	t.Helper()
	typ := c.follower.Surface().Find(resource)
	require.NotNil(t, typ)
	r := Request{Type: typ, Name: name, User: authn.Administrator(), UserAgent: "test/1", Warnings: c}
	if typ.Namespaced {
		r.Namespace = "default"
	}
	return r
}

// configMap returns a ConfigMap in generic form.
func configMap(name, value string) map[string]any {
	return map[string]any{
		"kind": "ConfigMap", "apiVersion": "v1",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"app": "a"}},
		"data":     map[string]any{"key": value},
	}
}

// reasonOf returns the reason of a Status, "" for no error.
func reasonOf(err error) string {
	if st, ok := errors.AsType[*status.Status](err); ok {
		return st.Reason
	}
	return fmt.Sprint(err)
}

// One object lives through all verbs.
func TestLifeOfAnObject(t *testing.T) {
	ctx, c, o := context.Background(), &client{Registry: fresh(t, fixture{})}, &WriteOptions{}
	named := c.request(t, "configmaps", "a")
	data := func(stored *storage.Object) string { return object.String(stored.Decode(named.Type), "data", "key") }

	created, err := c.Create(ctx, c.request(t, "configmaps", ""), Body{Object: configMap("a", "1")}, o)
	require.NoError(t, err)
	assert.True(t, created.Created)
	assert.Equal(t, c.Store().Revision(), created.Revision)
	managers := object.List(created.Object.Decode(named.Type), "metadata", "managedFields")
	require.Len(t, managers, 1)
	assert.Equal(t, "test", managers[0].(map[string]any)["manager"], "the user agent names the field manager")

	_, err = c.Create(ctx, c.request(t, "configmaps", ""), Body{Object: configMap("a", "1")}, o)
	assert.Equal(t, status.ReasonAlreadyExists, reasonOf(err))

	updated, err := c.Update(ctx, named, Body{Object: configMap("a", "2")}, o)
	require.NoError(t, err)
	assert.Equal(t, "2", data(updated.Object))
	assert.False(t, updated.Created)

	same, err := c.Update(ctx, named, Body{Object: configMap("a", "2")}, o)
	require.NoError(t, err)
	assert.Zero(t, same.Revision, "an update that changes nothing stores nothing")

	patched, err := c.Patch(ctx, named, Patch{patch.MergeType, []byte(`{"data":{"key":"3"}}`)}, o)
	require.NoError(t, err)
	assert.Equal(t, "3", data(patched.Object))

	manager := &WriteOptions{WriteOptions: validation.WriteOptions{FieldManager: "other"}}
	config := Patch{patch.ApplyType, []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"key":"4"}}`)}
	_, err = c.Patch(ctx, named, config, manager)
	assert.Equal(t, status.ReasonConflict, reasonOf(err), "another manager owns data.key")
	manager.Force = true
	applied, err := c.Patch(ctx, named, config, manager)
	require.NoError(t, err)
	assert.Equal(t, "4", data(applied.Object))

	got, revision, err := c.Get(ctx, named, "")
	require.NoError(t, err)
	assert.Same(t, applied.Object, got)
	assert.Equal(t, applied.Revision, revision)

	page, err := c.List(ctx, named.Type, storage.Query{Selection: storage.Selection{Namespace: "default"}})
	require.NoError(t, err)
	for item := range page.Items {
		assert.Same(t, got, item)
	}

	watch, err := c.Watch(ctx, named.Type, storage.Selection{Namespace: "default"}, created.Revision)
	require.NoError(t, err)
	defer watch.Close()

	deleted, err := c.Delete(ctx, named, &DeleteOptions{})
	require.NoError(t, err)
	assert.True(t, deleted.Deleted)
	_, _, err = c.Get(ctx, named, "")
	assert.Equal(t, status.ReasonNotFound, reasonOf(err))

	changes, err := watch.Poll(10)
	require.NoError(t, err)
	var types []storage.ChangeType
	for _, change := range changes {
		types = append(types, change.Type)
	}
	assert.Equal(t, []storage.ChangeType{storage.Modified, storage.Modified, storage.Modified, storage.Deleted}, types)
}

// A dry run returns what the write would store, and stores nothing.
func TestDryRun(t *testing.T) {
	ctx, c := context.Background(), &client{Registry: fresh(t, fixture{})}
	dryRun := &WriteOptions{WriteOptions: validation.WriteOptions{DryRun: []string{"All"}}}
	named := c.request(t, "configmaps", "a")
	_, err := c.Create(ctx, c.request(t, "configmaps", ""), Body{Object: configMap("a", "1")}, &WriteOptions{})
	require.NoError(t, err)
	before := c.Store().Revision()
	for _, row := range []struct {
		name string
		call func() (Result, error)
	}{
		{"create", func() (Result, error) {
			return c.Create(ctx, c.request(t, "configmaps", ""), Body{Object: configMap("b", "1")}, dryRun)
		}},
		{"update", func() (Result, error) { return c.Update(ctx, named, Body{Object: configMap("a", "2")}, dryRun) }},
		{"patch", func() (Result, error) {
			return c.Patch(ctx, named, Patch{patch.JSONType, []byte(`[{"op":"remove","path":"/data"}]`)}, dryRun)
		}},
		{"delete", func() (Result, error) {
			return c.Delete(ctx, named, &DeleteOptions{DeleteOptions: validation.DeleteOptions{DryRun: dryRun.DryRun}})
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			result, err := row.call()
			require.NoError(t, err)
			assert.NotNil(t, result.Object)
			assert.Zero(t, result.Revision)
			assert.Equal(t, before, c.Store().Revision())
		})
	}
}

func TestErrors(t *testing.T) {
	ctx, c, o := context.Background(), &client{Registry: fresh(t, fixture{})}, &WriteOptions{}
	missingNamespace := c.request(t, "configmaps", "")
	missingNamespace.Namespace = "missing"
	logs := c.request(t, "pods", "a")
	logs.Subresource = "log"
	other := configMap("a", "1")
	other["kind"] = "Secret"
	stale := configMap("a", "2")
	object.Meta(stale)["resourceVersion"] = "1"
	_, err := c.Create(ctx, c.request(t, "configmaps", ""), Body{Object: configMap("a", "1")}, o)
	require.NoError(t, err)
	for _, row := range []struct {
		name   string
		call   func() (Result, error)
		reason string
	}{
		{"no such namespace", func() (Result, error) {
			return c.Create(ctx, missingNamespace, Body{Object: configMap("b", "1")}, o)
		}, status.ReasonNotFound},
		{"invalid object", func() (Result, error) {
			return c.Create(ctx, c.request(t, "configmaps", ""), Body{Object: configMap("A", "1")}, o)
		}, status.ReasonInvalid},
		{"another kind", func() (Result, error) {
			return c.Create(ctx, c.request(t, "configmaps", ""), Body{Object: other}, o)
		}, status.ReasonBadRequest},
		{"stale resourceVersion", func() (Result, error) {
			return c.Update(ctx, c.request(t, "configmaps", "a"), Body{Object: stale}, o)
		}, status.ReasonConflict},
		{"resourceVersion of a missing object that is no number", func() (Result, error) {
			body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","resourceVersion":"x"}}`
			return c.Patch(ctx, c.request(t, "configmaps", "b"), Patch{patch.ApplyType, []byte(body)}, &WriteOptions{WriteOptions: validation.WriteOptions{FieldManager: "m"}})
		}, ""},
		{"another name", func() (Result, error) {
			return c.Update(ctx, c.request(t, "configmaps", "b"), Body{Object: configMap("a", "1")}, o)
		}, status.ReasonBadRequest},
		{"malformed patch", func() (Result, error) {
			return c.Patch(ctx, c.request(t, "configmaps", "a"), Patch{patch.JSONType, []byte(`{`)}, o)
		}, status.ReasonBadRequest},
		{"malformed patch of a missing object", func() (Result, error) {
			return c.Patch(ctx, c.request(t, "configmaps", "b"), Patch{patch.JSONType, []byte(`{`)}, o)
		}, status.ReasonNotFound},
		{"a subresource that is not written", func() (Result, error) {
			return c.Update(ctx, logs, Body{}, o)
		}, "NotImplemented"},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := c.Store().Revision()
			_, err := row.call()
			assert.Equal(t, row.reason, reasonOf(err))
			assert.Equal(t, before, c.Store().Revision(), "nothing is stored")
		})
	}
}

// A change that loses a race against another write starts over from the newest
// object.
func TestConflictIsRetried(t *testing.T) {
	ctx, c, o := context.Background(), &client{Registry: fresh(t, fixture{})}, &WriteOptions{}
	_, err := c.Create(ctx, c.request(t, "configmaps", ""), Body{Object: configMap("a", "1")}, o)
	require.NoError(t, err)
	op := c.write(ctx, "update", c.request(t, "configmaps", "a"), Body{}, o)
	calls := 0
	result, err := op.change(change{update: func(current *storage.Decoded) (*candidate, error) {
		if calls++; calls == 1 {
			_, err := c.Patch(ctx, c.request(t, "configmaps", "a"), Patch{patch.MergeType, []byte(`{"data":{"other":"x"}}`)}, o)
			require.NoError(t, err)
		}
		obj := object.Copy(current.View().SharedMembers())
		object.Set(obj, "2", "data", "key")
		return &candidate{object: op.withManagedFields(obj, current)}, nil
	}})
	require.NoError(t, err)
	assert.Equal(t, 2, calls)
	assert.Equal(t, map[string]any{"key": "2", "other": "x"}, object.Map(result.Object.Decode(op.Type), "data"))
}

func TestWarnings(t *testing.T) {
	c := &client{Registry: fresh(t, fixture{})}
	obj := configMap("a", "1")
	obj["extra"] = true
	_, err := c.Create(context.Background(), c.request(t, "configmaps", ""), Body{Object: obj}, &WriteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{`unknown field "extra"`}, c.warnings)
}

// The errors of a namespace that is being deleted name an object that has no name yet
// as kube-apiserver's admission does.
func TestCreateInTerminatingNamespace(t *testing.T) {
	ctx, c, o := context.Background(), &client{Registry: fresh(t, fixture{})}, &WriteOptions{}
	namespace := map[string]any{"kind": "Namespace", "apiVersion": "v1", "metadata": map[string]any{"name": "gone"}}
	_, err := c.Create(ctx, c.request(t, "namespaces", ""), Body{Object: namespace}, o)
	require.NoError(t, err)
	_, err = c.Delete(ctx, c.request(t, "namespaces", "gone"), &DeleteOptions{})
	require.NoError(t, err)

	for _, tt := range []struct{ name, field, want string }{
		{"name", "name", "a-"},
		{"generateName", "generateName", "a-"},
		{"neither", "annotation", "Unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := c.request(t, "configmaps", "")
			req.Namespace = "gone"
			_, err := c.Create(ctx, req, Body{Object: map[string]any{
				"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{tt.field: "a-"},
			}}, o)
			var st *status.Status
			require.ErrorAs(t, err, &st)
			assert.Equal(t, fmt.Sprintf("configmaps %q is forbidden: unable to create new content in namespace gone because it is being terminated", tt.want), st.Message)
			assert.Equal(t, tt.want, st.Details.Name)
		})
	}
}

// A countdown is a context that ends after some checks.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestApplyEnds ends a request at each of the checks of an apply.
func TestApplyEnds(t *testing.T) {
	c := &client{Registry: fresh(t, fixture{})}
	data := make(map[string]string, 5000)
	for i := range 5000 {
		data[strconv.Itoa(i)] = "x"
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "long"}, "data": data})
	require.NoError(t, err)
	for checks := 0; ; checks++ {
		ctx := &countdown{Context: context.Background(), left: checks}
		_, err := c.Patch(ctx, c.request(t, "configmaps", "long"), Patch{patch.ApplyType, text}, &WriteOptions{WriteOptions: validation.WriteOptions{FieldManager: "a"}})
		if err == nil {
			assert.Greater(t, checks, 10, "checks of the context")
			return
		}
		require.ErrorIs(t, err, context.Canceled)
	}
}

// TestWritesAtTheEdges makes single writes to a server with an immutable Secret.
func TestWritesAtTheEdges(t *testing.T) {
	const secret, widget = `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"},"type":"Opaque","immutable":true`, `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},"replicas":`
	for _, tt := range []struct {
		name, resource, patchType, body string
		dryRun                          bool
		err, warning                    string
		path                            []string
		want                            any
	}{
		{name: "an apply of a value that does not decode", resource: "configmaps", patchType: patch.ApplyType,
			body: `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"binaryData":{"a":"%"}}`,
			err:  "failed to convert new object (/c; /v1, Kind=ConfigMap) to proper version: unable to convert unstructured object to /v1, Kind=ConfigMap: error decoding from json: illegal base64 data at input byte 0"},
		{name: "an apply of a number that is too large", resource: "deployments.apps", patchType: patch.ApplyType, body: widget + `4294967298}}`,
			path: []string{"spec", "replicas"}, want: int64(2)},
		{name: "a dry run that creates by an apply", resource: "configmaps", patchType: patch.ApplyType, dryRun: true,
			body: `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","resourceVersion":"0"}}`,
			path: []string{"metadata", "resourceVersion"}, want: "0"},
		{name: "a strategic merge patch with an owner twice", resource: "secrets", patchType: patch.StrategicType,
			body:    `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"1"},{"apiVersion":"v1","kind":"Pod","name":"a","uid":"1"}]}}`,
			warning: ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: 1"},
		{name: "an update of immutable data to an empty map", resource: "secrets", body: secret + `,"data":{}}`,
			err: "Secret \"s\" is invalid: data: Forbidden: field is immutable when `immutable` is set"},
		{name: "an update that omits immutable data", resource: "secrets", body: secret + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, c := context.Background(), &client{Registry: fresh(t, fixture{})}
			_, err := c.Put([]byte(secret + "}"))
			require.NoError(t, err)
			obj, err := decodeYAML([]byte(tt.body))
			require.NoError(t, err)
			o := &WriteOptions{WriteOptions: validation.WriteOptions{FieldManager: "f"}}
			if tt.dryRun {
				o.DryRun = []string{"All"}
			}
			r := c.request(t, tt.resource, "s")
			if name := object.String(obj, "metadata", "name"); name != "" {
				r.Name = name
			}
			var result Result
			if tt.patchType != "" {
				result, err = c.Patch(ctx, r, Patch{tt.patchType, []byte(tt.body)}, o)
			} else {
				result, err = c.Update(ctx, r, Body{Object: obj}, o)
			}
			if tt.err != "" {
				require.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			if tt.warning != "" {
				assert.Equal(t, []string{tt.warning}, c.warnings)
			}
			if tt.path != nil {
				assert.Equal(t, tt.want, object.Value(result.Object.Decode(r.Type), tt.path...))
			}
		})
	}
}
