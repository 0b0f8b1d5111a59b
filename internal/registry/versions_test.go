package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/mvcc"
)

// twoVersions defines widgets in v1, with the fields a and b, and in v2, the storage
// version, which has c too and defaults b.
const twoVersions = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[
{"name":"v1","served":true,"storage":false,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
 "spec":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}},"status":{"type":"string"}}}}},
{"name":"v2","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
 "spec":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","default":"B"},"c":{"type":"string"}}},"status":{"type":"string"}}}}}]}}`

// TestVersionsOfCustomResource writes an object through two versions of its definition.
func TestVersionsOfCustomResource(t *testing.T) {
	const shared, onlyV2 = `{"a":"1"}`, `{"a":"1","c":"1"}`
	body := func(version, spec string) string {
		return fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"Widget","metadata":{"name":"w"},"spec":%s}`, version, spec)
	}
	for _, tt := range []struct {
		name                string
		stored              string // the storage version, "" for v2
		created             string // the spec that is created through v2, or v1:spec
		version, sub, patch string
		apply               bool
		err                 string
		writes              bool
		generation          int64
		managers            string
	}{
		{name: "a merge patch of a field that both have", created: shared, version: "v1", patch: `{"spec":{"a":"2"}}`,
			writes: true, generation: 2, managers: "other v1; test v2"},
		{name: "a merge patch of a field that only this version has", created: onlyV2, version: "v2", patch: `{"spec":{"c":"2"}}`,
			writes: true, generation: 2, managers: "other v2; test v2"},
		{name: "a merge patch of a field that the creator's version does not have", created: "v1:" + shared, version: "v2", patch: `{"spec":{"c":"2"}}`,
			writes: true, generation: 2, managers: "test v1"},
		{name: "a merge patch that changes nothing", created: shared, version: "v2", patch: `{"spec":{"a":"1"}}`,
			generation: 1, managers: "test v2"},
		{name: "a merge patch that adds only defaults to what is stored", created: "v1:" + shared, version: "v2", patch: `{"spec":{"a":"1"}}`,
			writes: true, generation: 1, managers: "test v1"},
		{name: "a merge patch that changes nothing but adds defaults that the stored version does not have", stored: "v1", created: "v1:" + shared, version: "v2", patch: `{"metadata":{}}`,
			writes: true, generation: 2, managers: "other v2; test v1"},
		{name: "an apply over a field that the version of a manager does not have", created: "v1:" + shared, version: "v2", apply: true, patch: body("v2", `{"c":"1"}`),
			err: "failed to convert new object: .spec.c: field not declared in schema", generation: 1, managers: "test v1"},
		{name: "an apply that owns only", created: "v1:" + shared, version: "v2", apply: true, patch: body("v2", shared),
			writes: true, generation: 1, managers: "other v2; test v1"},
		{name: "a status", created: shared, version: "v1", sub: "status", patch: `{"status":"ok"}`,
			writes: true, generation: 1, managers: "other v1; test v2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, c := context.Background(), &client{Registry: fresh(t, fixture{})}
			definition := twoVersions
			if tt.stored == "v1" {
				definition = strings.NewReplacer(`"storage":false`, `"storage":true`, `"storage":true`, `"storage":false`).Replace(definition)
			}
			_, err := c.Put([]byte(definition))
			require.NoError(t, err)
			in := func(version, name string) Request {
				r := c.request(t, "widgets.example.com", name)
				r.Type = r.Type.In("example.com/" + version)
				return r
			}
			version, spec, ok := strings.Cut(tt.created, ":{")
			if spec = "{" + spec; !ok {
				version, spec = "v2", tt.created
			}
			var obj map[string]any
			obj, err = decodeYAML([]byte(body(version, spec)))
			require.NoError(t, err)
			before, err := c.Create(ctx, in(version, ""), Body{Object: obj}, &WriteOptions{})
			require.NoError(t, err)

			r, typ := in(tt.version, "w"), patch.MergeType
			if r.Subresource = tt.sub; tt.apply {
				typ = patch.ApplyType
			}
			_, err = c.Patch(ctx, r, Patch{typ, []byte(tt.patch)}, &WriteOptions{WriteOptions: validation.WriteOptions{FieldManager: "other"}})
			if tt.err != "" {
				require.EqualError(t, err, tt.err)
			} else {
				require.NoError(t, err)
			}
			after, _, err := c.Get(ctx, in("v2", "w"), "")
			require.NoError(t, err)
			assert.Equal(t, tt.writes, after.Revision != before.Revision, "another resourceVersion")
			decoded := after.Decode(in("v2", "w").Type)
			generation, _ := object.Int(decoded, "metadata", "generation")
			assert.Equal(t, tt.generation, generation)
			var managers []string
			for m := range object.Each(object.Value(decoded, "metadata", "managedFields")) {
				managers = append(managers, fmt.Sprint(m["manager"], " ", strings.TrimPrefix(m["apiVersion"].(string), "example.com/")))
			}
			slices.Sort(managers) // their order is that of their seconds
			assert.Equal(t, tt.managers, strings.Join(managers, "; "))
		})
	}
}

// TestApplyInvalidTimes applies times that do not parse. kube-apiserver does not decode
// the result of an apply, except to convert it to the storage version and to check the
// resources that are embedded.
func TestApplyInvalidTimes(t *testing.T) {
	const parseError = `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`
	definition := strings.ReplaceAll(twoVersions, `"status":{"type":"string"}}`,
		`"status":{"type":"string"},"e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}`)
	for _, tt := range []struct {
		name, version, sub, metadata, members, err string
		exists                                     bool
		release                                    string // v1.36 by default
	}{
		{name: "a creation in the storage version", version: "v2", metadata: `"creationTimestamp":"x"`},
		{name: "a deletion in the storage version", version: "v2", metadata: `"deletionTimestamp":"x"`},
		{name: "a number", version: "v2", metadata: `"deletionTimestamp":1`},
		{name: "a creation in another version", version: "v1", metadata: `"creationTimestamp":"x"`},
		{name: "a deletion in another version", version: "v1", metadata: `"deletionTimestamp":"x"`, err: parseError},
		{name: "a deletion of an object in another version", version: "v1", exists: true, metadata: `"deletionTimestamp":"x"`, err: parseError},
		{name: "an invalid object in another version", version: "v1", exists: true, metadata: `"deletionTimestamp":"x","labels":{"a":"!"}`,
			err: `Widget.example.com "w" is invalid: metadata.labels: Invalid value: "!"`},
		{name: "a status in another version", version: "v1", sub: "status", exists: true, metadata: `"deletionTimestamp":"x"`},
		{name: "a number of an object since v1.37", version: "v2", release: "v1.37", exists: true, metadata: `"deletionTimestamp":1`,
			err: `"}: json: cannot unmarshal number into Go value of type string`},
		{name: "a deletion of an object in another version since v1.37", version: "v1", release: "v1.37", exists: true, metadata: `"deletionTimestamp":"x"`,
			err: `Widget.example.com "w" is invalid: metadata: Invalid value: {`},
		{name: "a creation of an object since v1.37", version: "v2", release: "v1.37", exists: true, metadata: `"creationTimestamp":"x"`},
		{name: "a deletion in another version since v1.37", version: "v1", release: "v1.37", metadata: `"deletionTimestamp":"x"`},
		{name: "an embedded resource", version: "v2", metadata: `"labels":{}`, members: `,"e":{"apiVersion":"v1","kind":"A","metadata":{"creationTimestamp":"x"}}`,
			err: `Widget.example.com "w" is invalid: e.metadata: Invalid value: {"creationTimestamp":"x"}: ` + parseError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			of, err := release.Open(cmp.Or(tt.release, "v1.36"))
			require.NoError(t, err)
			ctx, c := context.Background(), &client{Registry: fresh(t, fixture{release: of})}
			_, err = c.Put([]byte(definition))
			require.NoError(t, err)
			r := c.request(t, "widgets.example.com", "w")
			r.Type = r.Type.In("example.com/" + tt.version)
			if tt.exists {
				_, err = c.Put([]byte(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"w","namespace":"default"}}`))
				require.NoError(t, err)
			}
			r.Subresource = tt.sub
			body := fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"Widget","metadata":{"name":"w",%s}%s}`, tt.version, tt.metadata, tt.members)
			written, err := c.Patch(ctx, r, Patch{patch.ApplyType, []byte(body)}, &WriteOptions{WriteOptions: validation.WriteOptions{FieldManager: "m"}})
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			meta := object.Meta(written.Object.Decode(r.Type))
			assert.NotEqual(t, "x", meta["creationTimestamp"])
			assert.NotContains(t, meta, "deletionTimestamp")
		})
	}
}

// TestApplyOfNoYAML applies bodies that are not decoded.
func TestApplyOfNoYAML(t *testing.T) {
	for _, tt := range []struct{ name, body, before, since37 string }{
		{"an unknown anchor", "a: *b", "error decoding YAML: error converting YAML to JSON: yaml: unknown anchor 'b' referenced", "error encoding patch: yaml: unknown anchor 'b' referenced"},
		{"JSON that is cut short", ` {"a":1`, "error decoding YAML: error converting YAML to JSON: yaml: line 1", "error decoding patch: error converting YAML to JSON: yaml: line 1"},
		{"a list", "[]", "error decoding YAML: error unmarshaling JSON", "error decoding patch: error unmarshaling JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, want := range map[string]string{"v1.36": tt.before, "v1.37": tt.since37} {
				of, err := release.Open(name)
				require.NoError(t, err)
				c := &client{Registry: fresh(t, fixture{release: of})}
				o := &WriteOptions{WriteOptions: validation.WriteOptions{FieldManager: "m"}}
				_, err = c.Patch(context.Background(), c.request(t, "configmaps", "a"), Patch{patch.ApplyType, []byte(tt.body)}, o)
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

// TestRawMetadataIsWritten applies metadata that kube-apiserver does not read as it is stored. Each
// such apply writes, and so does the next write.
func TestRawMetadataIsWritten(t *testing.T) {
	for _, tt := range []struct {
		name, version, metadata string
		writes                  bool
		release                 string // "" for the default
	}{
		{"a null in the storage version", "v2", `"labels":null`, true, ""},
		{"an empty map in the storage version", "v2", `"annotations":{}`, true, ""},
		{"a null in a map in the storage version", "v2", `"labels":{"a":null}`, true, ""},
		{"an empty list in the storage version", "v2", `"finalizers":[]`, true, ""},
		{"an empty string in the storage version", "v2", `"generateName":""`, true, ""},
		{"an invalid time in the storage version", "v2", `"deletionTimestamp":"x"`, true, "v1.36"},
		{"what the server sets in the storage version", "v2", `"creationTimestamp":null,"generation":null`, false, ""},
		{"labels in the storage version", "v2", `"labels":{"a":"b"}`, false, ""},
		{"a null in another version", "v1", `"labels":null`, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			of, err := release.Open(tt.release)
			require.NoError(t, err)
			ctx, c := context.Background(), &client{Registry: fresh(t, fixture{clock: clock.NewManual(time.Unix(1, 0)), release: of})}
			_, err = c.Put([]byte(twoVersions))
			require.NoError(t, err)
			r := c.request(t, "widgets.example.com", "w")
			r.Type = r.Type.In("example.com/" + tt.version)
			apply := func(manager, metadata string) mvcc.Revision {
				body := fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"Widget","metadata":{"name":"w"%s}}`, tt.version, metadata)
				written, err := c.Patch(ctx, r, Patch{patch.ApplyType, []byte(body)}, &WriteOptions{WriteOptions: validation.WriteOptions{FieldManager: manager}})
				require.NoError(t, err)
				return written.Object.Revision
			}
			created := apply("a", ","+tt.metadata)
			again := apply("a", ","+tt.metadata)
			other := apply("b", "")
			assert.Equal(t, tt.writes, again != created)
			assert.Equal(t, tt.writes, other != again)
			assert.Equal(t, other, apply("b", ""))
		})
	}
}
