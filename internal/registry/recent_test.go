package registry

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/release"
)

// TestRecentStates checks that a state which shares values with the one before is that of a
// decoded object, after writes of all parts of an object.
func TestRecentStates(t *testing.T) {
	ctx, c := context.Background(), &client{Registry: fresh(t, Config{})}
	pod := map[string]any{"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{
		"containers": []any{map[string]any{"name": "c", "image": "i"}},
	}}
	created, err := c.Create(ctx, c.request(t, "pods", ""), Body{Object: pod}, &WriteOptions{})
	require.NoError(t, err)
	r := c.request(t, "pods", "a")
	key := r.Type.Key(created.Object.Namespace, "a")
	before := c.recent.decode(key, created.Object, r.Type, &noPrototypes)
	c.recent.keep(key, before)
	for _, row := range []struct {
		subresource, patch string
		shares             string // the members that are not decoded again
	}{
		{"", `{"metadata":{"annotations":{"a":"b"}}}`, "spec status"},
		{"status", `{"status":{"phase":"Running","message":"status"}}`, "spec"},
		{"status", `{"metadata":{"labels":{"a":"b"}}}`, "spec status"},
		{"", `{"spec":{"containers":[{"name":"c","image":"j"}]}}`, "status"},
		{"status", `{"status":{"phase":"Failed"}}`, "spec"},
	} {
		r.Subresource = row.subresource
		changed, err := c.Patch(ctx, r, Patch{Type: patch.StrategicType, Data: []byte(row.patch)}, &WriteOptions{})
		require.NoError(t, err)
		after := c.recent.slot(key).Load().after
		now := c.recent.decode(key, changed.Object, r.Type, &noPrototypes)
		assert.Same(t, after, now, "what the change made is not decoded")
		assert.Equal(t, changed.Object.Decode(r.Type), now.object, row.patch)
		for _, name := range []string{"metadata", "spec", "status"} {
			assert.Equal(t, strings.Contains(row.shares, name), object.Same(before.object[name], now.object[name]), "%s after %s", name, row.patch)
		}
		c.recent.keep(key, now)
		before = now
	}
	before.texts = maxRecentTexts + 1
	c.recent.decode(key, before.stored, r.Type, &noPrototypes)
	c.recent.keep(key, before)
	assert.Nil(t, c.recent.slot(key).Load(), "a state with many texts must not be kept")
}

// TestRecentStatesThatDiffer checks that the state before a change is kept if that after it may
// differ from the decoded object.
func TestRecentStatesThatDiffer(t *testing.T) {
	ctx, c := context.Background(), &client{Registry: fresh(t, Config{})}
	secret := map[string]any{"kind": "Secret", "apiVersion": "v1", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"a": "YQ=="}}
	created, err := c.Create(ctx, c.request(t, "secrets", ""), Body{Object: secret}, &WriteOptions{})
	require.NoError(t, err)
	r := c.request(t, "secrets", "a")
	key := r.Type.Key(created.Object.Namespace, "a")
	for _, row := range []struct{ name, patch string }{
		{"an empty map", `{"data":null,"metadata":{"labels":{}}}`},
		{"nothing", `{"metadata":{"labels":{}}}`},
	} {
		changed, err := c.Patch(ctx, r, Patch{Type: patch.MergeType, Data: []byte(row.patch)}, &WriteOptions{})
		require.NoError(t, err)
		now := c.recent.decode(key, changed.Object, r.Type, &noPrototypes)
		assert.Equal(t, changed.Object.Decode(r.Type), now.object, row.name)
		c.recent.keep(key, now)
	}
	dryRun := &WriteOptions{}
	dryRun.DryRun = []string{"All"}
	before := c.recent.slot(key).Load().stored
	_, err = c.Patch(ctx, r, Patch{Type: patch.MergeType, Data: []byte(`{"data":{"b":"Yg=="}}`)}, dryRun)
	require.NoError(t, err)
	assert.Same(t, before, c.recent.slot(key).Load().stored, "a dry run stores nothing")
}

// TestRecentStatesInVersions changes an object in each of its versions in turn.
func TestRecentStatesInVersions(t *testing.T) {
	for _, row := range []struct{ resource, definition, body string }{
		{"widgets.example.com", twoVersions, `{"kind":"Widget","apiVersion":"example.com/v2","metadata":{"name":"a"},"spec":{"a":"1"}}`},
		{"resourceclaims.resource.k8s.io", "", `{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{}}`},
	} {
		t.Run(row.resource, func(t *testing.T) {
			all, err := release.Open("v1.36-all")
			require.NoError(t, err)
			ctx, c := context.Background(), &client{Registry: fresh(t, Config{Release: all})}
			if row.definition != "" {
				_, err := c.Put([]byte(row.definition))
				require.NoError(t, err)
			}
			obj, err := decodeYAML([]byte(row.body))
			require.NoError(t, err)
			r := c.request(t, row.resource, "")
			created, err := c.Create(ctx, r, Body{Object: obj}, &WriteOptions{})
			require.NoError(t, err)
			r.Name = "a"
			storage, versions := r.Type.Storage(), r.Type.Versions
			require.Greater(t, len(versions), 1)
			apiVersion := created.Object.Decode(storage)["apiVersion"]
			for i := range 3 * len(versions) {
				r.Type = versions[i%len(versions)]
				changed, err := c.Patch(ctx, r, Patch{Type: patch.MergeType, Data: []byte(fmt.Sprintf(`{"metadata":{"labels":{"a":"%d"}}}`, i))}, &WriteOptions{})
				require.NoError(t, err)
				assert.Equal(t, apiVersion, changed.Object.Decode(storage)["apiVersion"], "after a change in %s", r.Type.Version)
			}
		})
	}
}

// A large object is not kept beside the small one that a change has made of it.
func TestRecentStatesOfLargeObjects(t *testing.T) {
	ctx, c := context.Background(), &client{Registry: fresh(t, Config{})}
	configMap := map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"a": strings.Repeat("a", maxRecentBytes)}}
	created, err := c.Create(ctx, c.request(t, "configmaps", ""), Body{Object: configMap}, &WriteOptions{})
	require.NoError(t, err)
	r := c.request(t, "configmaps", "a")
	slot := c.recent.slot(r.Type.Key(created.Object.Namespace, "a"))
	for _, kept := range []bool{false, true} {
		_, err = c.Patch(ctx, r, Patch{Type: patch.MergeType, Data: []byte(fmt.Sprintf(`{"data":{"a":"%v"}}`, kept))}, &WriteOptions{})
		require.NoError(t, err)
		assert.Equal(t, kept, slot.Load() != nil)
	}
}

// The states that are kept are bounded together, too.
func TestRecentStatesOfManyObjects(t *testing.T) {
	ctx, c := context.Background(), &client{Registry: fresh(t, Config{})}
	configMap := map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"a": strings.Repeat("a", maxRecentBytes/2)}}
	created, err := c.Create(ctx, c.request(t, "configmaps", ""), Body{Object: configMap}, &WriteOptions{})
	require.NoError(t, err)
	typ := c.request(t, "configmaps", "").Type
	inSlots := func() (states int, texts int64) {
		for i := range c.recent.slots {
			if s := c.recent.slots[i].Load(); s != nil {
				states++
				texts += int64(s.allTexts())
			}
		}
		return states, texts
	}
	for i := range 2 * maxRecent {
		key := fmt.Sprint(i)
		s := c.recent.decode(key, created.Object, typ, &noPrototypes)
		s.after = &state{stored: s.stored, texts: s.texts + 1}
		c.recent.keep(key, s)
		assert.LessOrEqual(t, c.recent.texts.Load(), int64(maxAllRecentTexts))
	}
	states, texts := inSlots()
	assert.Greater(t, states, maxAllRecentTexts/maxRecentBytes)
	assert.Equal(t, texts, c.recent.texts.Load())
	for i := range 2 * maxRecent {
		c.recent.decode(fmt.Sprint(i), created.Object, typ, &noPrototypes)
	}
	states, texts = inSlots()
	assert.Zero(t, states)
	assert.Zero(t, texts)
	assert.Zero(t, c.recent.texts.Load())
}
