package registry

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
)

// TestDecodedAfterChanges checks that an object which shares values with the one before it is the
// decoded one, after writes of all parts of an object.
func TestDecodedAfterChanges(t *testing.T) {
	ctx, c := context.Background(), &client{Registry: fresh(t, fixture{})}
	pod := map[string]any{"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{
		"containers": []any{map[string]any{"name": "c", "image": "i"}},
	}}
	created, err := c.Create(ctx, c.request(t, "pods", ""), Body{Object: pod}, &WriteOptions{})
	require.NoError(t, err)
	r := c.request(t, "pods", "a")
	before := created.Object.Decoded(r.Type).Object()
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
		after := changed.Object.Decoded(r.Type).Object()
		assert.Equal(t, changed.Object.Decode(r.Type), after.View().SharedMembers(), row.patch)
		for _, name := range []string{"metadata", "spec", "status"} {
			assert.Equal(t, strings.Contains(row.shares, name), after.View().At(name).Shares(before.View().At(name)), "%s after %s", name, row.patch)
		}
		before = after
	}
}

// TestDecodedAfterIncompleteChanges checks that an object is decoded if what a change has made may
// differ from it.
func TestDecodedAfterIncompleteChanges(t *testing.T) {
	ctx, c := context.Background(), &client{Registry: fresh(t, fixture{})}
	secret := map[string]any{"kind": "Secret", "apiVersion": "v1", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"a": "YQ=="}}
	_, err := c.Create(ctx, c.request(t, "secrets", ""), Body{Object: secret}, &WriteOptions{})
	require.NoError(t, err)
	r := c.request(t, "secrets", "a")
	dryRun := &WriteOptions{}
	dryRun.DryRun = []string{"All"}
	for _, row := range []struct {
		name, patch string
		options     *WriteOptions
	}{
		{"an empty map", `{"data":null,"metadata":{"labels":{}}}`, &WriteOptions{}},
		{"nothing", `{"metadata":{"labels":{}}}`, &WriteOptions{}},
		{"a dry run", `{"data":{"b":"Yg=="}}`, dryRun},
	} {
		_, err := c.Patch(ctx, r, Patch{Type: patch.MergeType, Data: []byte(row.patch)}, row.options)
		require.NoError(t, err)
		now := c.store.Newest(r.Type.Key(r.Namespace, "a"))
		assert.Equal(t, now.Decode(r.Type), now.Decoded(r.Type).View().SharedMembers(), row.name)
	}
}

// TestDecodedConcurrently changes an object of each sort of type, while others read it. The race
// detector finds writes to what they share.
func TestDecodedConcurrently(t *testing.T) {
	ctx, c := context.Background(), &client{Registry: fresh(t, fixture{})}
	for _, row := range []struct{ resource, object string }{
		{"pods", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`},
		{"configmaps", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"a":"b"}}`},
		{"services", `{"kind":"Service","apiVersion":"v1","metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}}`},
		{"jobs.batch", `{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`},
	} {
		obj, err := decodeYAML([]byte(row.object))
		require.NoError(t, err)
		_, err = c.Create(ctx, c.request(t, row.resource, ""), Body{Object: obj}, &WriteOptions{})
		require.NoError(t, err)
		r := c.request(t, row.resource, "a")
		r.Warnings = nil
		var all sync.WaitGroup
		for i := range 4 {
			all.Add(1)
			go func() {
				defer all.Done()
				for range 8 {
					body := fmt.Sprintf(`{"metadata":{"annotations":{"a":"%d"}}}`, i)
					_, err := c.Patch(ctx, r, Patch{Type: patch.MergeType, Data: []byte(body)}, &WriteOptions{})
					assert.NoError(t, err)
				}
			}()
		}
		all.Wait()
	}
}

// TestDecodedInReleases checks that API servers of two releases read the same object, each by the
// rules of its release.
func TestDecodedInReleases(t *testing.T) {
	pods := func(name string) *resource.Type {
		p, err := release.Open(name)
		require.NoError(t, err)
		return serving.Builtin(p).Lookup("", "v1", "pods")
	}
	before, now := pods("v1.33"), pods("v1.36")
	stored := storage.New(now, map[string]any{
		"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": "a", "namespace": "default"},
		"spec": map[string]any{"hostnameOverride": "x"},
	}, nil)
	for range 2 {
		assert.Equal(t, "x", stored.Decoded(now).View().String("spec", "hostnameOverride"))
		assert.Empty(t, stored.Decoded(before).View().String("spec", "hostnameOverride"), "v1.33 does not have the field")
	}
}

// TestDecodedInVersions changes an object in each of its versions in turn.
func TestDecodedInVersions(t *testing.T) {
	for _, row := range []struct{ resource, definition, body string }{
		{"widgets.example.com", twoVersions, `{"kind":"Widget","apiVersion":"example.com/v2","metadata":{"name":"a"},"spec":{"a":"1"}}`},
		{"resourceclaims.resource.k8s.io", "", `{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"a"},"spec":{}}`},
	} {
		t.Run(row.resource, func(t *testing.T) {
			all, err := release.Open("v1.36-all")
			require.NoError(t, err)
			ctx, c := context.Background(), &client{Registry: fresh(t, fixture{release: all})}
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
