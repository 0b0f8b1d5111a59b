package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

// live returns an object of a type as a document is compared with it, nil if the JSON is not one
// that can be stored.
func live(t *Type, json []byte) *Live {
	obj, _, err := t.Decode(json, DecodeOptions{})
	if err != nil || object.Map(obj, "metadata") == nil {
		return nil
	}
	delete(object.Meta(obj), "resourceVersion")
	e := t.Encode(obj, nil, &Encoded{})
	decoded, err := e.Decode(t, 41, nil, nil)
	if err != nil {
		return nil
	}
	return &Live{Object: decoded, Encoded: &e}
}

// A Pod as kube-apiserver stores it, in three parts.
var (
	podHead = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","managedFields":[` +
		`{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{}}}}}},` +
		`{"manager":"n","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:phase":{}}},"subresource":"status"}]}`
	podBody = `,"spec":{"containers":[{"name":"c","resources":{}}],"nodeName":"` + strings.Repeat("n", minCut) + `"}`
	podTail = `,"status":{"phase":"Running"}`
)

func TestLive(t *testing.T) {
	pod := mustKind(t, "", "v1", "Pod")
	old := live(pod, []byte(podHead+podBody+podTail+`}`))
	require.NotNil(t, old)
	for _, tt := range []struct {
		name, doc string
		shares    string // the members that are not decoded
	}{
		{"the same", podHead + podBody + podTail + `}`, "spec status"},
		{"other metadata", `{"metadata":{"name":"b"}` + podBody + podTail + `}`, "spec status"},
		{"another status", podHead + podBody + `,"status":{"phase":"Failed"}}`, "spec"},
		{"another spec", podHead + `,"spec":{}` + podTail + `}`, "status"},
		{"another order", podHead + podTail + podBody + `}`, "spec status"},
		{"no status", podHead + podBody + `}`, "spec"},
		{"an unknown member between", podHead + podBody + `,"bogus":1` + podTail + `}`, "spec status"},
		{"space", podHead + ` ` + podBody + podTail + ` }`, ""},
		{"the status twice", podHead + podBody + podTail + podTail + `}`, ""},
		{"the spec twice", podHead + podBody + `,"spec":{}}`, ""},
		{"another spec before", podHead + `,"spec":{}` + podBody + `}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want, wantErrors, err := pod.Decode([]byte(tt.doc), DecodeOptions{Strict: true})
			require.NoError(t, err)
			obj, fieldErrors, err := pod.Decode([]byte(tt.doc), DecodeOptions{Strict: true, Live: old})
			require.NoError(t, err)
			assert.Equal(t, wantErrors, fieldErrors)
			assert.Equal(t, want, obj)
			for _, name := range []string{"spec", "status"} {
				assert.Equal(t, strings.Contains(tt.shares, name), object.Same(old.Object[name], obj[name]), name)
			}
		})
	}
	_, _, err := pod.Decode([]byte(podHead+podBody+`"}`), DecodeOptions{Live: old})
	assert.Error(t, err, "a syntax error after a shared member")
}

// FuzzLive checks that a document decodes to the same object whether or not it is compared with
// another one.
func FuzzLive(f *testing.F) {
	doc := []byte(podHead + podBody + podTail + `}`)
	f.Add(doc, doc)
	f.Add(doc, []byte(podHead+podTail+podBody+podTail+`}`))
	f.Add(doc, []byte(strings.Replace(string(doc), `{"f:status"`, `{"f:spec":{},"f:status"`, 1)))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		pod := mustKind(t, "", "v1", "Pod")
		old := live(pod, first)
		if old == nil {
			return
		}
		for _, strict := range []bool{true, false} {
			want, wantErrors, wantErr := pod.Decode(second, DecodeOptions{Strict: strict})
			got, gotErrors, err := pod.Decode(second, DecodeOptions{Strict: strict, Live: old})
			assert.Equal(t, wantErr, err)
			assert.Equal(t, wantErrors, gotErrors)
			assert.Equal(t, want, got)
		}
	})
}
