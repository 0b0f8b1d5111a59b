package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

// decodeLike decodes a Pod strictly and returns its Prototype too.
func decodeLike(t *testing.T, doc string, known ...*Prototype) (obj map[string]any, found *Prototype, err error) {
	t.Helper()
	prototypes := Prototypes{Known: known}
	obj, _, err = mustKind(t, "", "v1", "Pod").Decode([]byte(doc), DecodeOptions{Strict: true, Prototypes: &prototypes})
	return obj, prototypes.Found, err
}

func TestPrototypes(t *testing.T) {
	const spec, other = `{"containers":[{"name":"c"}]}`, `{"containers":[{"name":"d"}]}`
	obj, incomplete, err := decodeLike(t, `{"kind":"Pod","metadata":{"name":"a"},"spec":`+spec+`,"status":{}}`)
	require.NoError(t, err)
	require.False(t, incomplete.IsComplete())
	object.Set(obj, "Always", "spec", "restartPolicy") // a default
	complete := incomplete.Complete(obj)
	containers := object.List(complete.members.View().SharedMembers(), "spec", "containers")
	object.Set(obj, "Never", "spec", "restartPolicy")
	obj, running, err := decodeLike(t, `{"spec":`+spec+`,"status":{"phase":"Running"}}`)
	require.NoError(t, err)
	running = running.Complete(obj)
	for _, tt := range []struct {
		name, doc string
		found     string // complete, running, new, or none
	}{
		{"the same", `{"kind":"Pod","metadata":{"name":"b"},"spec":` + spec + `,"status":{}}`, "complete"},
		{"the same with space around", ` { "metadata" : { } , "spec" : ` + spec + ` , "status" : {} } `, "complete"},
		{"the same before an error", `{"metadata":{"bogus":1},"spec":` + spec + `,"status":{}}`, "complete"},
		{"another spec", `{"spec":` + other + `,"status":{}}`, "new"},
		{"a longer spec", `{"spec":` + spec[:len(spec)-1] + `,"priority":1}}`, "new"},
		{"space within", `{"spec": {"containers":[{"name": "c"}]}}`, "new"},
		{"another order", `{"status":{},"spec":` + spec + `}`, "new"},
		{"another status", `{"spec":` + spec + `,"status":{"phase":"Failed"}}`, "new"},
		{"no status", `{"spec":` + spec + `}`, "new"},
		{"another status that is known", `{"spec":` + spec + `,"status":{"phase":"Running"}}`, "running"},
		{"the spec twice", `{"spec":` + spec + `,"spec":` + spec + `,"status":{}}`, "none"},
		{"the status twice", `{"spec":` + spec + `,"status":{},"status":{}}`, "none"},
		{"another spec twice", `{"spec":` + other + `,"spec":` + spec + `,"status":{}}`, "none"},
		{"no members", `{"metadata":{}}`, "none"},
		{"a null", `{"spec":` + other + `,"status":null}`, "none"},
		{"an unknown field", `{"spec":{"bogus":1}}`, "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj, found, err := decodeLike(t, tt.doc, incomplete, complete, running)
			require.NoError(t, err)
			want, _, err := mustKind(t, "", "v1", "Pod").Decode([]byte(tt.doc), DecodeOptions{Strict: true})
			require.NoError(t, err)
			switch tt.found {
			case "complete":
				assert.Same(t, complete, found)
				assert.True(t, object.Same(containers, object.List(obj, "spec", "containers")))
				object.Set(want, "Always", "spec", "restartPolicy")
				assert.Equal(t, want, obj)
				object.Set(obj, "Never", "spec", "restartPolicy")
				assert.Equal(t, "Always", object.String(complete.members.View().SharedMembers(), "spec", "restartPolicy"), "a change of the object must not change the prototype")
			case "running":
				assert.Same(t, running, found)
				assert.Equal(t, want, obj)
			case "new":
				assert.NotContains(t, []*Prototype{nil, complete, incomplete, running}, found)
				assert.Equal(t, want, obj)
			case "none":
				assert.Nil(t, found)
				assert.Equal(t, want, obj)
			}
		})
	}
	_, found, err := decodeLike(t, `{"metadata":{"name":"b"},"spec":`+spec+`,"status":{}}`, incomplete)
	require.NoError(t, err)
	assert.Same(t, incomplete, found, "an incomplete prototype is found again")
}

// FuzzPrototypes checks that a document which has the members of a Prototype decodes to the same
// object as without one.
func FuzzPrototypes(f *testing.F) {
	f.Add([]byte(`{"spec":{"containers":[{"name":"a"}]},"status":{}}`), []byte(`{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a"}]},"status":{}}`))
	f.Add([]byte(`{"spec":{"volumes":[]}}`), []byte(`{"spec":{"volumes":[]},"spec":{"volumes":null}}`))
	f.Add([]byte(`{"status":{},"spec":{}}`), []byte(`{"status":{},"spec":{},"kind":"Pod","KIND":1}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		pod := mustKind(t, "", "v1", "Pod")
		prototypes := Prototypes{}
		obj, _, err := pod.Decode(first, DecodeOptions{Strict: true, Prototypes: &prototypes})
		if err != nil || prototypes.Found == nil {
			return
		}
		prototypes.Known = []*Prototype{prototypes.Found, prototypes.Found.Complete(obj)}
		for _, strict := range []bool{true, false} {
			want, wantErrors, wantErr := pod.Decode(second, DecodeOptions{Strict: strict})
			got, gotErrors, err := pod.Decode(second, DecodeOptions{Strict: strict, Prototypes: &prototypes})
			assert.Equal(t, wantErr, err)
			assert.Equal(t, wantErrors, gotErrors)
			assert.Equal(t, want, got)
		}
	})
}
