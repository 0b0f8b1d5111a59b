package wire_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

// custom returns the custom resource of a JSON text.
func custom(t require.TestingT, text string) map[string]any {
	obj, _, err := wire.DecodeUntyped([]byte(text), wire.DecodeOptions{})
	require.NoError(t, err)
	obj["metadata"], _, err = wire.ObjectMeta().Normalize(object.Map(obj, "metadata"), wire.DecodeOptions{})
	require.NoError(t, err)
	return obj
}

func encoded(t require.TestingT, text string) wire.Encoded {
	return wire.EncodeCustom(custom(t, text), nil, &wire.Encoded{})
}

func TestEncoded(t *testing.T) {
	long := strings.Repeat("x", 600)
	for _, row := range []struct {
		name, metadata string
		tail           string
		uid            string
		want           string // the metadata with version 41
	}{
		{"all", `{"name":"a","generateName":"a-","namespace":"n","uid":"u","labels":{"uid":"}\""}}`, "", "u",
			`{"name":"a","generateName":"a-","namespace":"n","uid":"u","resourceVersion":"41","labels":{"uid":"}\""}}`},
		{"uid last", `{"name":"a","uid":"u"}`, "", "u", `{"name":"a","uid":"u","resourceVersion":"41"}`},
		{"escapes", `{"name":"\"uid\":\"v","uid":"u","generation":1}`, "", "u", `{"name":"\"uid\":\"v","uid":"u","resourceVersion":"41","generation":1}`},
		{"no uid", `{"name":"a","labels":{"uid":"v"}}`, "", "", `{"name":"a","resourceVersion":"41","labels":{"uid":"v"}}`},
		{"first member", `{"labels":{"a":"b"}}`, "", "", `{"resourceVersion":"41","labels":{"a":"b"}}`},
		{"only member", `{}`, "", "", `{"resourceVersion":"41"}`},
		{"one manager", `{"uid":"u","labels":{"a":"b"},"managedFields":[{"manager":"a"}]}`, `,"spec":"` + long + `"`, "u",
			`{"uid":"u","resourceVersion":"41","labels":{"a":"b"},"managedFields":[{"manager":"a"}]}`},
		{"managers", `{"uid":"u","managedFields":[{"manager":"a"},{"manager":"b","fieldsV1":{}},{"manager":"c"}]}`, `,"spec":"` + long + `"`, "u",
			`{"uid":"u","resourceVersion":"41","managedFields":[{"manager":"a"},{"manager":"b","fieldsV1":{}},{"manager":"c"}]}`},
		{"only managers", `{"managedFields":[{"manager":"a"},{"manager":"b"}]}`, `,"spec":"` + long + `"`, "",
			`{"resourceVersion":"41","managedFields":[{"manager":"a"},{"manager":"b"}]}`},
		{"managers elsewhere", `{"uid":"u","labels":{"manager":"x"}}`, `,"spec":[{"x":1},{"manager":"` + long + `"}],"status":{"b":1}`, "u",
			`{"uid":"u","resourceVersion":"41","labels":{"manager":"x"}}`},
		{"brackets in managed fields", `{"uid":"u","managedFields":[{"manager":"a"},{"manager":"b","fieldsV1":{"v:\"}]}\"":{}}}]}`, `,"spec":"` + long + `"`, "u",
			`{"uid":"u","resourceVersion":"41","managedFields":[{"manager":"a"},{"manager":"b","fieldsV1":{"v:\"}]}\"":{}}}]}`},
		{"status", `{"uid":"u","labels":{"a":"b"}}`, `,"spec":"` + long + `","status":{"a":1}`, "u",
			`{"uid":"u","resourceVersion":"41","labels":{"a":"b"}}`},
		{"status in other members", `{"uid":"u"}`, `,"spec":{"status":{"x":"` + long + `"}},"status":{"b":1},"tail":2`, "u",
			`{"uid":"u","resourceVersion":"41"}`},
		{"managers and status", `{"uid":"u","managedFields":[{"manager":"a"},{"manager":"b"}]}`, `,"spec":"` + long + `","status":{"a":1}`, "u",
			`{"uid":"u","resourceVersion":"41","managedFields":[{"manager":"a"},{"manager":"b"}]}`},
		{"only member of a long object", `{}`, `,"spec":"` + long + `","status":{"a":1}`, "", `{"resourceVersion":"41"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			const head = `{"kind":"Thing","apiVersion":"v1",`
			tail := `,"data":{"metadata":{},"uid":"w"}` + row.tail + `}`
			before := head + `"metadata":` + row.metadata + tail
			after := head + `"metadata":` + row.want + tail
			e := encoded(t, before)
			assert.Equal(t, row.uid, e.UID())
			assert.Equal(t, len(before), e.Len())
			assert.Equal(t, "x"+before, string(e.Append([]byte("x"), 0)))
			assert.Equal(t, "x"+after, string(e.Append([]byte("x"), 41)))
			assert.Equal(t, "{"+row.metadata, string(e.AppendMetadata([]byte("{"), 0)))
			assert.Equal(t, row.want, string(e.AppendMetadata(nil, 41)))
			same, other := encoded(t, before), encoded(t, strings.Replace(before, "Thing", "Other", 1))
			assert.True(t, e.Equal(&same))
			assert.False(t, e.Equal(&other))
			uncut := wire.NewEncoded([]byte(before))
			assert.True(t, e.Equal(&uncut))

			fixed := e.WithVersionText("41")
			assert.Equal(t, after, string(fixed.Append(nil, 0)))
			assert.Equal(t, row.want, string(fixed.AppendMetadata(nil, 0)))

			for _, write := range []struct {
				version int64
				typed   bool
				want    string
			}{{0, true, before}, {41, true, after}, {0, false, strings.TrimPrefix(before, head)}, {41, false, strings.TrimPrefix(after, head)}} {
				var out bytes.Buffer
				w := bufio.NewWriter(&out)
				require.NoError(t, e.Write(w, write.version, write.typed))
				require.NoError(t, w.Flush())
				assert.Equal(t, write.want, out.String())
			}
		})
	}
}

// TestEncodedShortTail has objects in which little or nothing follows the resourceVersion.
func TestEncodedShortTail(t *testing.T) {
	for _, metadata := range []string{
		`{"name":"` + strings.Repeat("x", 600) + `"}`,
		`{"name":"` + strings.Repeat("x", 600) + `","labels":{"a":"b"}}`,
	} {
		text := `{"kind":"Thing","apiVersion":"v1","metadata":` + metadata + `}`
		for _, e := range []wire.Encoded{encoded(t, text), wire.NewEncoded([]byte(text))} {
			assert.Equal(t, text, string(e.Append(nil, 0)))
			assert.Equal(t, metadata, string(e.AppendMetadata(nil, 0)))
		}
	}
}

func TestEncodedVersionText(t *testing.T) {
	e := wire.NewEncoded([]byte(`{"metadata":{"uid":"u"}}`))
	e = e.WithVersionText(`a"b`)
	assert.Equal(t, `{"metadata":{"uid":"u","resourceVersion":"a\"b"}}`, string(e.Append(nil, 0)))
}

// TestEncodedShares shows which versions of an object share memory.
func TestEncodedShares(t *testing.T) {
	fresh := freshText()
	thing := func(label, manager, field, spec, status string) string {
		return fmt.Sprintf(`{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","uid":"u","labels":{"a":%q},"managedFields":[{"manager":"m","fieldsV1":{"f:spec":{"f:%s":{}}}},{"manager":%q}]},"spec":{"a":%q},"status":{"a":%q}}`,
			label, field+fresh, manager, spec, status+strings.Repeat("x", 400))
	}
	text := thing("l", "m", "f", "spec", "status")
	old := encoded(t, text)
	whole := len(text) - len("}") // which is not stored
	first := len(`{"f:spec":{"f:f`) + len(fresh) + len(`":{}}}`)
	body := len(`,"spec":{"a":"spec"}`)
	changing := len(`},{"manager":"m"`) + len(`,"status":{"a":"status"}`) + 400
	for _, row := range []struct {
		name, text string
		shared     int
	}{
		{"equal", text, whole},
		{"labels", thing("k", "m", "f", "spec", "status"), first + body + changing},
		{"fields of the first manager", thing("l", "m", "g", "spec", "status"), whole - first}, // it is in the table
		{"another manager", thing("l", "n", "f", "spec", "status"), whole - changing},
		{"spec", thing("l", "m", "f", "other", "status"), whole - body},
		{"status", thing("l", "m", "f", "spec", "other"), whole - changing},
		{"spec and status", thing("l", "m", "f", "other", "other"), whole - body - changing},
	} {
		t.Run(row.name, func(t *testing.T) {
			obj := custom(t, row.text)
			e := wire.EncodeCustom(obj, nil, &old)
			assert.Equal(t, row.text, string(e.Append(nil, 0)))
			assert.Equal(t, row.shared, old.Shared(&e))
		})
	}
}

// TestEncodedSharesWithOthers shows that different objects share the fields of their first manager and
// the members before the status, which one of them counts.
func TestEncodedSharesWithOthers(t *testing.T) {
	fresh := freshText()
	first := fmt.Sprintf(`{"f:spec":{"f:%s":{}}}`, fresh)
	body := fmt.Sprintf(`,"spec":{"%s":%q}`, fresh, strings.Repeat("x", 400))
	thing := func(name string) string {
		return fmt.Sprintf(`{"kind":"Thing","apiVersion":"v1","metadata":{"name":%q,"uid":"u","managedFields":[{"manager":"m","fieldsV1":%s}]}%s}`, name, first, body)
	}
	a, b := encoded(t, thing("a")), encoded(t, thing("b"))
	both := len(first) + len(body)
	whole := a.Len() - len("}")
	assert.Equal(t, whole, a.Size())
	assert.Equal(t, whole-both, b.Size())
	next := wire.EncodeCustom(custom(t, thing("c")), nil, &a)
	assert.Equal(t, whole, next.Size(), "the next version of the object that counts them")
	assert.Equal(t, both, a.Shared(&next))
	assert.Zero(t, b.Shared(&next), "b does not count them")
	next.LeaveTo(&a)
	assert.Equal(t, whole-both, next.Size(), "another object, made like a")
}

// TestEncodedDecode compares an object decoded from its texts with one decoded from the document.
func TestEncodedDecode(t *testing.T) {
	pod, _ := wire.ForKind("", "v1", "Pod")
	long := fmt.Sprintf(`{"f:spec":{"f:%s":{}}}`, freshText())
	for _, row := range []struct{ name, metadata string }{
		{"no manager", `{"name":"a","uid":"u"}`},
		{"a manager without fields", `{"name":"a","managedFields":[{"manager":"m"},{"manager":"n","fieldsV1":` + long + `}]}`},
		{"short fields", `{"name":"a","managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}]}`},
		{"long fields", `{"uid":"u","annotations":{"fieldsV1":"{}"},"managedFields":[{"manager":"m","fieldsV1":` + long + `,"subresource":"status"}]}`},
		{"two managers", `{"managedFields":[{"manager":"m","fieldsV1":` + long + `},{"manager":"n","fieldsV1":` + long + `}]}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			obj, _, err := pod.Decode([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":`+row.metadata+`,"spec":{"containers":null,"nodeName":"`+strings.Repeat("x", 400)+`"},"status":{"phase":"Running"}}`), wire.DecodeOptions{})
			require.NoError(t, err)
			e := pod.Encode(obj, nil, &wire.Encoded{})
			for _, version := range []int64{0, 7, 123456} {
				want, _, err := pod.Decode(e.Append(nil, version), wire.DecodeOptions{})
				require.NoError(t, err)
				got, err := e.Decode(pod, version, nil, nil)
				require.NoError(t, err)
				assert.Equal(t, want, got)
			}
		})
	}
}

// freshText returns a text that no object of this process has. It is as long as texts that
// objects share.
func freshText() string {
	const minShared = 128
	return fmt.Sprintf("%0*d", minShared, rand.Uint64())
}

// FuzzEncoded shows that an object is written as it was, wherever it is cut.
func FuzzEncoded(f *testing.F) {
	for _, seed := range []string{`{}`, `"}]}"`, `{"fieldsV1":{"a":[{}]}}`, `[{"x":1},{"manager":"m"}]`, `{"status":{"metadata":{}}}`, `"\"status\":{"`} {
		f.Add([]byte(seed))
	}
	f.Add([]byte(`1e1000`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, _, err := wire.DecodeUntyped(fmt.Appendf(nil, `{"a":%s}`, data), wire.DecodeOptions{}); err != nil || !json.Valid(data) {
			return
		}
		label, err := json.Marshal(string(data))
		require.NoError(t, err)
		obj := custom(t, fmt.Sprintf(`{"kind":"T","apiVersion":"v1",
			"metadata":{"uid":"u","labels":{"a":%s},"managedFields":[{"fieldsV1":{"f:%0200d":%s}},{"manager":"b","fieldsV1":%s}]},
			"spec":%s,"status":{"x":%s}}`, label, 1, data, data, data, data))
		e := wire.EncodeCustom(obj, nil, &wire.Encoded{})
		assert.Equal(t, string(wire.AppendCustom(nil, obj)), string(e.Append(nil, 0)))
		assert.Equal(t, string(wire.ObjectMeta().Append(nil, object.Meta(obj))), string(e.AppendMetadata(nil, 0)))
		object.Meta(obj)["resourceVersion"] = "9"
		assert.Equal(t, string(wire.AppendCustom(nil, obj)), string(e.Append(nil, 9)))
	})
}

// FuzzEncodeLive shows that an object has the same encoding with and without an old version, whose
// texts it takes for what it shares with it, and that it is decoded to the same.
func FuzzEncodeLive(f *testing.F) {
	for kind := range 3 {
		for change := range 1 << 6 {
			f.Add(kind, change, []byte(`{"managedFields":[{"manager":"m","fieldsV1":{"f:status":{}}}],"labels":{"a":"}]}"}}`), []byte(`{"phase":"status\":{","a":"b","replicas":1}`))
		}
	}
	f.Add(1, 10, []byte(`{}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, kind, change int, metadata, member []byte) {
		name := []string{"Pod", "ConfigMap", "Custom"}[uint(kind)%3]
		typ, ok := wire.ForKind("", "v1", name)
		text := fmt.Sprintf(`{"kind":%q,"apiVersion":"v1","metadata":%s,"data":%s,"spec":%s,"status":%s,"tail":%s}`, name, metadata, member, member, member, member)
		padding := map[string]any{"x": strings.Repeat("x", 512)} // more than an object has that is not cut
		var live map[string]any
		if ok {
			obj, _, err := typ.Decode([]byte(text), wire.DecodeOptions{})
			if err != nil {
				return
			}
			live, _, err = typ.Decode(typ.Append(nil, obj), wire.DecodeOptions{}) // without empty lists and maps
			require.NoError(t, err)
		} else {
			obj, _, err := wire.DecodeUntyped([]byte(text), wire.DecodeOptions{})
			if err != nil {
				return
			}
			if obj["metadata"], _, err = wire.ObjectMeta().Normalize(object.Map(obj, "metadata"), wire.DecodeOptions{}); err != nil {
				return
			}
			live, _ = wire.DecodeCustom(wire.AppendCustom(nil, obj))
		}
		meta := object.Meta(live)
		delete(meta, "resourceVersion")
		meta["annotations"] = padding
		encode := func(obj, live map[string]any, old *wire.Encoded) wire.Encoded {
			if ok {
				return typ.Encode(obj, live, old)
			}
			return wire.EncodeCustom(obj, live, old)
		}
		old := encode(live, nil, &wire.Encoded{})
		next := maps.Clone(live)
		for i, name := range []string{"metadata", "data", "spec", "status", "tail", "more"} {
			switch change >> i % 3 {
			case 1:
				delete(next, name)
			case 2:
				next[name] = map[string]any{"labels": map[string]any{"b": "c"}, "nodeName": "n", "phase": "p"}
			}
		}
		object.Meta(next)
		got, want := encode(next, live, &old), encode(next, nil, &wire.Encoded{})
		assert.Equal(t, string(want.Append(nil, 7)), string(got.Append(nil, 7)))
		assert.True(t, want.Equal(&got))
		uncut := wire.NewEncoded(want.Append(nil, 0))
		assert.Equal(t, string(want.Append(nil, 7)), string(uncut.Append(nil, 7)))
		assert.Equal(t, string(want.AppendMetadata(nil, 7)), string(uncut.AppendMetadata(nil, 7)))
		again := encode(next, next, &got)
		assert.Equal(t, string(want.Append(nil, 7)), string(again.Append(nil, 7)))
		if ok {
			decoded, err := got.Decode(typ, 7, nil, nil)
			if err != nil {
				return // the data of a ConfigMap has texts only
			}
			shared, err := got.Decode(typ, 7, live, &old)
			require.NoError(t, err)
			assert.Equal(t, decoded, shared)
			return
		}
		decoded, _ := wire.DecodeCustom(got.Append(nil, 7))
		whole, names, _ := got.DecodeCustom(7, nil, nil)
		assert.Equal(t, decoded, whole)
		assert.Empty(t, names)
		shared, names, _ := got.DecodeCustom(7, live, &old)
		for _, name := range names {
			assert.NotContains(t, shared, name)
			shared[name] = live[name]
		}
		assert.Equal(t, decoded, shared)
	})
}
