//go:build go1.26

package registry

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/wire"
)

// A patchedObject is an object of a registry, in the state before it is patched.
type patchedObject struct {
	op     *operation
	before *storage.Decoded
}

// toysDefinition defines Toys, whose fields are of the sorts that schemas of custom resources have.
const toysDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"toys.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"toys","kind":"Toy"},"versions":[
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
 "spec":{"type":"object","properties":{
  "size":{"type":"object","default":{},"properties":{"x":{"type":"integer","default":1},"y":{"type":"integer","nullable":true}}},
  "map":{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"}}}},
  "any":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
  "object":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}
 }}}}}}]}}`

// patchedObjects returns operations that patch an object of each of several kinds.
func patchedObjects(f *testing.F) (all []patchedObject) {
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
	ctx, c := context.Background(), &client{Registry: fresh(f, fixture{})}
	_, err := c.Put([]byte(toysDefinition))
	require.NoError(f, err)
	for _, row := range objects {
		created, err := c.Create(ctx, c.request(f, row.resource, ""), Body{Object: row.object}, &WriteOptions{})
		require.NoError(f, err)
		op := c.write(ctx, "patch", c.request(f, row.resource, "a"), Body{}, &WriteOptions{})
		all = append(all, patchedObject{op, created.Object.Decoded(op.Type)})
	}
	return all
}

// FuzzMergePatch checks that a merge patch of an object in generic form, which shares with the
// old object what the patch does not name, has the result of the patch of its text.
func FuzzMergePatch(f *testing.F) {
	for _, body := range []string{
		`{}`,
		`{"metadata":{"annotations":{"a":"b"},"labels":null}}`,
		`{"metadata":{"managedFields":[]},"spec":null}`,
		`{"spec":{"containers":[{"name":"c","image":"j"}],"tolerations":[]},"status":{"phase":"Running"}}`,
		`{"stringData":{"b":"c"},"data":{"a":null},"type":"x"}`,
		`{"spec":{"ports":[{"port":81,"targetPort":"http"}],"selector":{}},"kind":"Service"}`,
		`{"apiVersion":"v2","spec":{"template":{"spec":{"containers":null}}}}`,
		`{"spec":{"bogus":1.5},"spec":{"template":{}}}`,
		`{"metadata":{"labels":{"app":null}},"spec":{"size":{"x":null},"map":{"m":{"a":null}},"any":{"b":{"c":null}},"object":{"metadata":{"labels":{"app":null}}}}}`,
		`{"spec":{"size":{"x":2,"y":null},"map":{"m":{"b":"c"},"n":{}},"any":{"b":{"d":1}},"object":{"metadata":{"bogus":1,"labels":{"b":"c"}},"data":{}}}}`,
		`{"spec":{"template":{"metadata":{"labels":{"app":null}},"spec":{"securityContext":{},"dnsPolicy":null}},"updateStrategy":{"rollingUpdate":{"maxSurge":1}}},"data":{"a":null}}`,
	} {
		f.Add([]byte(body))
	}
	objects := patchedObjects(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		if p, err := patch.ParseMerge(body, true); err == nil {
			testPatchedMembers(t, objects, p.Apply, p.ApplyText)
		}
	})
}

// FuzzJSONPatch is FuzzMergePatch for JSON Patches.
func FuzzJSONPatch(f *testing.F) {
	for _, body := range []string{
		`[{"op":"add","path":"/metadata/annotations","value":{"a":"b"}},{"op":"remove","path":"/metadata/labels/app"}]`,
		`[{"op":"test","path":"/spec/containers/0/image","value":"i"},{"op":"replace","path":"/spec/containers/0/image","value":"j"}]`,
		`[{"op":"add","path":"/spec/containers/-","value":{"name":"d","image":"i","bogus":1}},{"op":"remove","path":"/spec/containers/0/resources"}]`,
		`[{"op":"replace","path":"/spec/ports/0/port","value":81},{"op":"add","path":"/spec/ports/0","value":{"name":"b","port":"x"}}]`,
		`[{"op":"remove","path":"/spec/template/metadata/labels"},{"op":"add","path":"/spec/minReadySeconds","value":0},{"op":"remove","path":"/status"}]`,
		`[{"op":"add","path":"/spec/template/spec/containers/0/resources/limits","value":{"cpu":"0.1"}}]`,
		`[{"op":"remove","path":"/data/a"},{"op":"add","path":"/kind","value":"Pod"},{"op":"replace","path":"/metadata/managedFields","value":[]}]`,
		`[{"op":"add","path":"/spec","value":{"size":{"x":2},"map":{"m":{}},"any":{"b":{}},"object":{"metadata":{"bogus":1}}}},{"op":"remove","path":"/spec/size/x"}]`,
	} {
		f.Add([]byte(body))
	}
	objects := patchedObjects(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		if p, err := patch.ParseJSON(body, true); err == nil {
			testPatchedMembers(t, objects, p.Apply, p.ApplyText)
		}
	})
}

// testPatchedMembers checks that apply changes objects as applyText changes their text.
func testPatchedMembers(t *testing.T, objects []patchedObject, apply func(map[string]any) (map[string]any, bool), applyText func([]byte) ([]byte, error)) {
	for _, patched := range objects {
		op, old := patched.op, patched.before
		before := object.Copy(old.View().SharedMembers())
		c, ok := op.patchMembers(apply, old)
		assert.Equal(t, before, old.View().SharedMembers(), "the old object must not change")
		if !ok {
			continue
		}
		op.setDefaults(c, old.View())
		decoded, err := op.patchText(applyText, nil, old)
		require.NoError(t, err)
		op.setDefaults(decoded, object.View{})
		got, want := c.object, decoded.object
		if object.Value(got, "metadata", "managedFields") == nil { // as in the old object
			object.Keep(object.Meta(want), object.ViewOf(object.Meta(got)), "managedFields")
		}
		assert.Equal(t, want, got)
		assert.Equal(t, before, old.View().SharedMembers(), "the old object must not change")
	}
}

// FuzzStrategicPatch checks that an object which a strategic merge patch has changed is the
// same in canonical form if only its changed members are converted as if all are.
func FuzzStrategicPatch(f *testing.F) {
	for _, body := range []string{
		`{}`,
		`{"metadata":{"annotations":{"a":"b"},"$retainKeys":["annotations"]}}`,
		`{"spec":{"containers":[{"name":"c","image":"j"},{"name":"d","image":"i"}],"$setElementOrder/containers":[{"name":"d"},{"name":"c"}]}}`,
		`{"metadata":{"finalizers":["a.b/c"],"$deleteFromPrimitiveList/finalizers":["d"]},"data":{"$patch":"replace","b":"Yg=="}}`,
		`{"spec":{"ports":[{"port":80,"$patch":"delete"}]},"status":{"bogus":1}}`,
		`{"$patch":"replace","kind":"Pod","spec":{}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"c","ports":[{"containerPort":80}]}]}}},"status":null}`,
	} {
		f.Add([]byte(body))
	}
	objects := patchedObjects(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, patched := range objects {
			p, err := patch.ParseStrategic(body, true)
			if err != nil {
				return
			}
			c, before := patched.op.bodyCodec(), patched.before.View().SharedMembers()
			s, ok := c.MergeSchema(patched.op.api().Release)
			if !ok {
				continue // of a custom resource
			}
			unchanged := object.Copy(before)
			merged, err := p.Apply(before, s)
			assert.Equal(t, unchanged, before, "the old object must not change")
			if err != nil {
				continue
			}
			convert := func(obj map[string]any) (map[string]any, []error, error) {
				return c.Wire().Convert(obj, wire.DecodeOptions{Strict: true})
			}
			want, wantFields, wantErr := convert(merged.Object)
			got, gotFields, gotErr := resource.NormalizeMembers(c, before, merged.Object, convert)
			assert.Equal(t, wantErr, gotErr)
			assert.Equal(t, wantFields, gotFields)
			assert.Equal(t, want, got)
		}
	})
}
