//go:build go1.26

package registry

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
)

// FuzzMergePatch checks that a merge patch of an object in generic form, which shares with the
// old object what the patch does not name, has the result of the patch of its text.
func FuzzMergePatch(f *testing.F) {
	objects := []struct {
		resource string
		object   map[string]any
	}{
		{"pods", map[string]any{"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": "a", "labels": map[string]any{"app": "a"}}, "spec": map[string]any{
			"containers": []any{map[string]any{"name": "c", "image": "i", "resources": map[string]any{"requests": map[string]any{"cpu": "100m"}}}},
		}}},
		{"secrets", map[string]any{"kind": "Secret", "apiVersion": "v1", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"a": "YQ=="}}},
		{"services", map[string]any{"kind": "Service", "apiVersion": "v1", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{
			"ports": []any{map[string]any{"port": int64(80)}},
		}}},
		{"daemonsets.apps", map[string]any{"kind": "DaemonSet", "apiVersion": "apps/v1", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "a"}},
			"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "a"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}},
		}}},
	}
	for _, body := range []string{
		`{}`,
		`{"metadata":{"annotations":{"a":"b"},"labels":null}}`,
		`{"metadata":{"managedFields":[]},"spec":null}`,
		`{"spec":{"containers":[{"name":"c","image":"j"}],"tolerations":[]},"status":{"phase":"Running"}}`,
		`{"stringData":{"b":"c"},"data":{"a":null},"type":"x"}`,
		`{"spec":{"ports":[{"port":81,"targetPort":"http"}],"selector":{}},"kind":"Service"}`,
		`{"apiVersion":"v2","spec":{"template":{"spec":{"containers":null}}}}`,
		`{"spec":{"bogus":1.5},"spec":{"template":{}}}`,
	} {
		f.Add([]byte(body))
	}
	ctx, c, o := context.Background(), &client{Registry: fresh(f, Config{})}, &WriteOptions{}
	var olds []*state
	for _, row := range objects {
		named := c.request(f, row.resource, "")
		created, err := c.Create(ctx, named, Body{Object: row.object}, o)
		require.NoError(f, err)
		olds = append(olds, &state{created.Object, created.Object.Decode(named.Type)})
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := patch.ParseMerge(body, true)
		if err != nil {
			return
		}
		for i, row := range objects {
			op := c.operation(ctx, "patch", c.request(t, row.resource, "a"))
			before := object.Copy(olds[i].object)
			got, ok := op.mergePatch(p, olds[i], o)
			if !ok {
				continue
			}
			got = op.defaulted(got)
			want, err := op.patchText(p.ApplyText, nil, olds[i], o)
			require.NoError(t, err)
			want = op.defaulted(want)
			if object.Value(got, "metadata", "managedFields") == nil { // as in the old object
				object.Keep(object.Meta(want), object.Meta(got), "managedFields")
			}
			assert.Equal(t, want, got)
			assert.Equal(t, before, olds[i].object, "the old object must not change")
		}
	})
}
