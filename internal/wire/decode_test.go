package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

// mustKind is ForKind for kinds that exist.
func mustKind(t testing.TB, group, version, kind string) *Type {
	t.Helper()
	typ, ok := ForKind(group, version, kind)
	require.True(t, ok, "%s/%s %s", group, version, kind)
	return typ
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name, group, kind string
		in, want          string
	}{
		{"zero values without omitempty are added", "apps", "Deployment",
			`{}`,
			`{"metadata":{},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}`},
		{"zero values with omitempty are dropped", "", "ConfigMap",
			`{"metadata":{"name":"","generation":0,"labels":{},"finalizers":[]},"data":{},"immutable":null}`,
			`{"metadata":{}}`},
		{"pointers keep zero values", "", "ConfigMap",
			`{"immutable":false}`,
			`{"metadata":{},"immutable":false}`},
		{"protobuf makes empty lists null", "rbac.authorization.k8s.io", "Role",
			`{"rules":[]}`,
			`{"metadata":{},"rules":null}`},
		{"JSON keeps them", "apiextensions.k8s.io", "CustomResourceDefinition",
			`{"spec":{"versions":[]}}`,
			`{"metadata":{},"spec":{"group":"","names":{"plural":"","kind":""},"scope":"","versions":[]},"status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":null}}`},
		{"names are case-sensitive", "", "ConfigMap",
			`{"Data":{"a":"b"},"metaData":{}}`,
			`{"metadata":{}}`},
		{"duplicates are merged", "", "ConfigMap",
			`{"data":{"a":"1","b":"2"},"metadata":{"name":"x"},"data":{"a":"3"},"metadata":{"namespace":"y"}}`,
			`{"metadata":{"name":"x","namespace":"y"},"data":{"a":"3","b":"2"}}`},
		{"null in a map is the zero value", "", "Secret",
			`{"data":{"a":null},"stringData":{"b":null}}`,
			`{"metadata":{},"data":{"a":""},"stringData":{"b":""}}`},
		{"null in a list is the zero value", "", "Pod",
			`{"spec":{"containers":[null],"nodeName":null}}`,
			`{"metadata":{},"spec":{"containers":[{"name":"","resources":{}}]},"status":{}}`},
		{"embedded structs are flat", "", "Pod",
			`{"spec":{"volumes":[{"emptyDir":{},"name":"v"}],"containers":[]}}`,
			`{"metadata":{},"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":null},"status":{}}`},
		{"times are in UTC and whole seconds", "", "Namespace",
			`{"metadata":{"creationTimestamp":"2024-05-06T07:08:09.9+02:00","deletionTimestamp":"0001-01-01T00:00:00Z"}}`,
			`{"metadata":{"creationTimestamp":"2024-05-06T05:08:09Z","deletionTimestamp":null},"spec":{},"status":{}}`},
		{"quantities are canonical", "", "ResourceQuota",
			`{"spec":{"hard":{"cpu":1.5,"memory":"1024Mi","pods":"10","secrets":null}}}`,
			`{"metadata":{},"spec":{"hard":{"cpu":"1500m","memory":"1Gi","pods":"10","secrets":"0"}},"status":{}}`},
		{"a port is a number or a name", "", "Service",
			`{"spec":{"ports":[{"port":80,"targetPort":"http"},{"port":81,"targetPort":null},{"port":82,"targetPort":8080}]}}`,
			`{"metadata":{},"spec":{"ports":[{"port":80,"targetPort":"http"},{"port":81,"targetPort":0},{"port":82,"targetPort":8080}]},"status":{"loadBalancer":{}}}`},
		{"a port given twice keeps its number over a null", "", "Service",
			`{"spec":{"ports":[{"port":80,"targetPort":8080,"targetPort":null}]}}`,
			`{"metadata":{},"spec":{"ports":[{"port":80,"targetPort":8080}]},"status":{"loadBalancer":{}}}`},
		{"bytes are base64, or a list", "", "Secret",
			`{"data":{"a":"YQ==","b":"Y\nQ==","c":[97,null]}}`,
			`{"metadata":{},"data":{"a":"YQ==","b":"YQ==","c":"YQA="}}`},
		{"nulls in maps of bytes are empty", "", "Secret", `{"data":{"a":null,"b":""}}`, `{"metadata":{},"data":{"a":"","b":""}}`},
		{"untyped data is left alone", "apps", "ControllerRevision",
			`{"revision":1,"data":{"b":[],"a":null,"c":{},"n":1.0,"i":9007199254740993}}`,
			`{"metadata":{},"data":{"b":[],"a":null,"c":{},"n":1.0,"i":9007199254740993},"revision":1}`},
		{"a schema's alternatives", "apiextensions.k8s.io", "CustomResourceDefinition",
			`{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"additionalProperties":{"type":"string"},"items":[{"type":"x"}],"maximum":5,"default":{}}}}]}}`,
			`{"metadata":{},"spec":{"group":"","names":{"plural":"","kind":""},"scope":"","versions":[{"name":"v1","served":false,"storage":false,"schema":{"openAPIV3Schema":{"default":{},"maximum":5,"items":[{"type":"x"}],"additionalProperties":{"type":"string"}}}}]},"status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":null}}`},
		{"escapes and invalid UTF-8", "", "ConfigMap",
			"{\"data\":{\"a\":\"\\u00e9\\ud83d\\ude00\\ud83dx\\/\xff<\"}}",
			`{"metadata":{},"data":{"a":"é😀` + "\uFFFDx/\uFFFD" + `\u003c"}}`},
		{"null is an empty object", "", "ConfigMap", `null`, `{"metadata":{}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			typ := mustKind(t, tt.group, "v1", tt.kind)
			obj, fieldErrors, err := typ.Decode([]byte(tt.in), DecodeOptions{})
			require.NoError(t, err)
			assert.Empty(t, fieldErrors)
			assert.Equal(t, tt.want, string(typ.Append(nil, obj)))
		})
	}
}

// A Go struct distinguishes a null in a map of bytes from no bytes until it is stored.
func TestDecodeNilBytes(t *testing.T) {
	typ := mustKind(t, "", "v1", "Secret")
	obj, _, err := typ.Decode([]byte(`{"data":{"a":null,"b":""}}`), DecodeOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": nil, "b": ""}, obj["data"])
	assert.False(t, typ.IsCanonical(obj, nil))
}

func TestDecodeErrors(t *testing.T) {
	for _, tt := range []struct {
		name, group, kind string
		in, want          string
	}{
		{"wrong type", "apps", "Deployment", `{"spec":{"replicas":"3"}}`,
			"json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"},
		{"out of range", "apps", "Deployment", `{"spec":{"replicas":3000000000}}`,
			"json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32"},
		{"in an embedded struct", "", "Pod", `{"spec":{"volumes":[{"hostPath":5}]}}`,
			"json: cannot unmarshal number into Go struct field Volume.spec.volumes.VolumeSource.hostPath of type v1.HostPathVolumeSource"},
		{"in a map", "", "ConfigMap", `{"data":{"a":1}}`,
			"json: cannot unmarshal number into Go struct field ConfigMap.data of type string"},
		{"a named type", "", "Pod", `{"status":{"phase":true}}`,
			"json: cannot unmarshal bool into Go struct field PodStatus.status.phase of type v1.PodPhase"},
		{"a map type", "", "Pod", `{"spec":{"overhead":[]}}`,
			"json: cannot unmarshal array into Go struct field PodSpec.spec.overhead of type v1.ResourceList"},
		{"a list of structs", "", "Pod", `{"spec":{"containers":{}}}`,
			"json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container"},
		{"the first of several", "", "Pod", `{"spec":5,"status":5}`,
			"json: cannot unmarshal number into Go struct field Pod.spec of type v1.PodSpec"},
		{"a list for the object", "", "Pod", `[]`,
			"json: cannot unmarshal array into Go value of type v1.Pod"},
		{"time of the wrong type", "", "Pod", `{"metadata":{"creationTimestamp":5}}`,
			"json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string"},
		{"time that does not parse", "", "Pod", `{"metadata":{"creationTimestamp":"x"}}`,
			`parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`},
		{"microtime without a fraction", "coordination.k8s.io", "Lease", `{"spec":{"renewTime":"2024-05-06T07:08:09Z"}}`,
			`parsing time "2024-05-06T07:08:09Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"`},
		{"quantity", "", "ResourceQuota", `{"spec":{"hard":{"cpu":"x"}}}`, quantity.ErrFormat.Error()},
		{"a codec's error beats an earlier type error", "", "ResourceQuota", `{"metadata":5,"spec":{"hard":{"cpu":"5Q"}}}`,
			quantity.ErrFormat.Error()},
		{"port", "", "Service", `{"spec":{"ports":[{"targetPort":true}]}}`,
			"json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of type int32"},
		{"base64", "", "Secret", `{"data":{"a":"=="}}`, "illegal base64 data at input byte 0"},
		{"within a schema's alternative", "apiextensions.k8s.io", "CustomResourceDefinition",
			`{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"properties":{"a":{"additionalProperties":{"not":{"type":5}}}}}}}]}}`,
			"json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.additionalProperties.not.type of type string"},
		{"within alternatives within alternatives", "apiextensions.k8s.io", "CustomResourceDefinition",
			`{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":{"items":[{"items":{"type":5}}]}}}}]}}`,
			"json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.additionalProperties.items.items.type of type string"},
		{"schema or bool", "apiextensions.k8s.io", "CustomResourceDefinition",
			`{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":5}}}]}}`,
			"boolean or JSON schema expected"},
		{"no input", "", "Pod", ``, "unexpected end of JSON input"},
		{"cut short", "", "Pod", `{"spec":{`, "unexpected end of JSON input"},
		{"syntax beats all", "", "Pod", `{"spec":5,"metadata":{"creationTimestamp":"x"},}`,
			"invalid character '}' looking for beginning of object key string"},
		{"syntax in an unknown field", "", "Pod", `{"foo":[1,2}`, "invalid character '}' after array element"},
		{"more than one value", "", "Pod", `{} {}`, "invalid character '{' after top-level value"},
		{"too deep", "", "Pod", `{"foo":` + strings.Repeat("[", 10000),
			"invalid character '[' exceeded max depth"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj, fieldErrors, err := mustKind(t, tt.group, "v1", tt.kind).Decode([]byte(tt.in), DecodeOptions{Strict: true})
			require.EqualError(t, err, tt.want)
			assert.Nil(t, obj)
			assert.Nil(t, fieldErrors)
		})
	}

	_, _, err := mustKind(t, "", "v1", "Pod").Decode([]byte(`{`), DecodeOptions{})
	var syntax *json.SyntaxError
	assert.ErrorAs(t, err, &syntax)
}

func TestDecodeStrict(t *testing.T) {
	many := `{"x":1,"metadata":{"y0":0`
	for i := 1; i < 200; i++ {
		many += fmt.Sprintf(`,"y%d":0`, i)
	}
	many += `}}`
	deployment := mustKind(t, "apps", "v1", "Deployment")
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"unknown", `{"foo":1,"spec":{"template":{"spec":{"containers":[{"name":"a"},{"foo":1}]}}}}`, []string{
			`unknown field "foo"`,
			`unknown field "spec.template.spec.containers[1].foo"`,
		}},
		{"duplicate", `{"spec":{"replicas":1,"replicas":2,"template":{"metadata":{"labels":{"a":"1","a":"2"}}}}}`, []string{
			`duplicate field "spec.replicas"`,
			`duplicate field "spec.template.metadata.labels.a"`,
		}},
		{"each once", `{"foo":1,"foo":2,"Spec":{}}`, []string{
			`unknown field "foo"`,
			`unknown field "Spec"`,
		}},
		{"not in untyped data", `{"metadata":{"managedFields":[{"fieldsV1":{"a":1,"a":2}}]}}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, fieldErrors, err := deployment.Decode([]byte(tt.in), DecodeOptions{Strict: true})
			require.NoError(t, err)
			var got []string
			for _, err := range fieldErrors {
				got = append(got, err.Error())
			}
			assert.Equal(t, tt.want, got)

			_, fieldErrors, err = deployment.Decode([]byte(tt.in), DecodeOptions{})
			require.NoError(t, err)
			assert.Empty(t, fieldErrors)
		})
	}
	t.Run("at most 100", func(t *testing.T) {
		_, fieldErrors, err := deployment.Decode([]byte(many), DecodeOptions{Strict: true})
		require.NoError(t, err)
		require.Len(t, fieldErrors, 100)
		assert.Equal(t, FieldError{UnknownField, "metadata.y98"}, fieldErrors[99])
	})
}

// TestDuplicateMaps checks that a map that is there again is read into the earlier one,
// without a copy of that.
func TestDuplicateMaps(t *testing.T) {
	typ := mustKind(t, "", "v1", "ConfigMap")
	obj, fieldErrors, err := typ.Decode([]byte(`{"data":{"a":"1","b":"2"},"data":{"b":"3","c":"4"}}`), DecodeOptions{Strict: true})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": "1", "b": "3", "c": "4"}, obj["data"])
	assert.Equal(t, []error{FieldError{DuplicateField, "data"}}, fieldErrors)

	var keys []string
	for i := range 1000 {
		keys = append(keys, fmt.Sprintf(`"k%d":""`, i))
	}
	body := `{"data":{` + strings.Join(keys, ",") + `}`
	allocations := func(duplicates int) float64 {
		data := []byte(body + strings.Repeat(`,"data":{}`, duplicates) + `}`)
		return testing.AllocsPerRun(3, func() {
			_, _, err := typ.Decode(data, DecodeOptions{})
			require.NoError(t, err)
		})
	}
	assert.Less(t, allocations(1000), allocations(0)+3*1000)
}

func TestDecodeSharesNothing(t *testing.T) {
	typ := mustKind(t, "", "v1", "ConfigMap")
	body := []byte(`{"data":{"key":"value"}}`)
	one, _, err := typ.Decode(body, DecodeOptions{})
	require.NoError(t, err)
	two, _, err := typ.Decode(body, DecodeOptions{})
	require.NoError(t, err)
	clear(body)
	one["metadata"].(map[string]any)["name"] = "changed"
	assert.Equal(t, map[string]any{
		"metadata": map[string]any{},
		"data":     map[string]any{"key": "value"},
	}, two)
}

// TestEmpty checks the decoding of empty lists and maps, and their encoding
// with and without storage.
func TestEmpty(t *testing.T) {
	for _, tt := range []struct {
		name, group, kind string
		in                string
		want              map[string]any
		stored, unstored  string
	}{
		{"left out where a field says so", "", "ConfigMap",
			`{"metadata":{"labels":{},"finalizers":[]},"data":{}}`,
			map[string]any{"metadata": map[string]any{"labels": object.EmptyMap{}, "finalizers": []any{}}, "data": object.EmptyMap{}},
			`{"metadata":{}}`, `{"metadata":{}}`},
		{"null where none does, after protobuf", "rbac.authorization.k8s.io", "Role",
			`{"rules":[]}`,
			map[string]any{"metadata": map[string]any{}, "rules": []any{}},
			`{"metadata":{},"rules":null}`, `{"metadata":{},"rules":[]}`},
		{"structs stay", "networking.k8s.io", "NetworkPolicy",
			`{"spec":{"podSelector":{"matchLabels":{}},"ingress":[{"from":[]}]}}`,
			map[string]any{"metadata": map[string]any{}, "spec": map[string]any{
				"podSelector": map[string]any{"matchLabels": object.EmptyMap{}}, "ingress": []any{map[string]any{"from": []any{}}}}},
			`{"metadata":{},"spec":{"podSelector":{},"ingress":[{}]}}`, `{"metadata":{},"spec":{"podSelector":{},"ingress":[{}]}}`},
		{"over what came before", "", "ConfigMap",
			`{"metadata":{"labels":{},"labels":{"a":"b"}},"data":{"a":"b"},"data":{}}`,
			map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}, "data": map[string]any{"a": "b"}},
			`{"metadata":{"labels":{"a":"b"}},"data":{"a":"b"}}`, `{"metadata":{"labels":{"a":"b"}},"data":{"a":"b"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			typ := mustKind(t, tt.group, "v1", tt.kind)
			obj, _, err := typ.Decode([]byte(tt.in), DecodeOptions{})
			require.NoError(t, err)
			assert.Equal(t, tt.want, obj)
			assert.Equal(t, tt.stored, string(typ.Append(nil, obj)))
			unstored, err := json.Marshal(typ.OmitEmpty(obj))
			require.NoError(t, err)
			assert.JSONEq(t, tt.unstored, string(unstored))
		})
	}
}

func TestOmitEmptyKeepsKinds(t *testing.T) {
	typ := mustKind(t, "apps", "v1", "StatefulSet")
	obj, _, err := typ.Decode([]byte(`{"spec":{"volumeClaimTemplates":[{"metadata":{"labels":{}}}]}}`), DecodeOptions{})
	require.NoError(t, err)
	claim := object.List(obj, "spec", "volumeClaimTemplates")[0].(map[string]any)
	claim["kind"] = "PersistentVolumeClaim"
	shown := object.List(typ.OmitEmpty(obj), "spec", "volumeClaimTemplates")[0].(map[string]any)
	assert.Equal(t, "PersistentVolumeClaim", shown["kind"])
	assert.NotContains(t, shown["metadata"], "labels")
}

func TestNormalize(t *testing.T) {
	typ := mustKind(t, "", "v1", "Service")
	obj := map[string]any{
		"kind":     "Service",
		"metadata": map[string]any{"name": "a", "labels": map[string]any{}, "foo": int64(1)},
		"spec":     map[string]any{"ports": []any{map[string]any{"port": 80.0}}},
	}
	normal, fieldErrors, err := typ.Normalize(obj, DecodeOptions{Strict: true})
	require.NoError(t, err)
	assert.Equal(t, []error{FieldError{UnknownField, "metadata.foo"}}, fieldErrors)
	assert.Equal(t, map[string]any{
		"kind":     "Service",
		"metadata": map[string]any{"name": "a", "labels": object.EmptyMap{}},
		"spec":     map[string]any{"ports": []any{map[string]any{"port": int64(80), "targetPort": int64(0)}}},
		"status":   map[string]any{"loadBalancer": map[string]any{}},
	}, normal)
	assert.Contains(t, obj["metadata"], "foo", "the input must not change")

	obj["spec"] = "x"
	_, _, err = typ.Normalize(obj, DecodeOptions{})
	assert.EqualError(t, err, "json: cannot unmarshal string into Go struct field Service.spec of type v1.ServiceSpec")
}

// FuzzDecode checks that any input decodes without a panic, that Decode agrees
// with encoding/json about what is JSON, and that canonical objects are stable.
func FuzzDecode(f *testing.F) {
	f.Add(podJSON)
	for _, s := range []string{``, `{}`, `[]`, `null`, `{"spec":{"containers":[{"ports":[{"containerPort":1e3}]}]}}`,
		`{"metadata":{"labels":{"a":"\ud800"}},"metadata":null}`} {
		f.Add([]byte(s))
	}
	pod := mustKind(f, "", "v1", "Pod")
	crd := mustKind(f, "apiextensions.k8s.io", "v1", "CustomResourceDefinition")
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, typ := range []*Type{pod, crd} {
			obj, _, err := typ.Decode(data, DecodeOptions{Strict: true})
			var syntax *json.SyntaxError
			require.Equal(t, json.Valid(data), !errors.As(err, &syntax))
			if err != nil {
				continue
			}
			encoded := typ.Append(nil, obj)
			require.True(t, json.Valid(encoded), "%s", encoded)
			again, fieldErrors, err := typ.Decode(encoded, DecodeOptions{Strict: true})
			require.NoError(t, err)
			require.Empty(t, fieldErrors)
			// The first round trip drops nulls that stand for pointers.
			third, _, err := typ.Normalize(again, DecodeOptions{})
			require.NoError(t, err)
			require.Equal(t, again, third)
		}
	})
}
