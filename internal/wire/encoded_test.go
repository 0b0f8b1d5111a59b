package wire_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

func encoded(json string) wire.Encoded {
	return wire.NewEncoded([]byte(json), firstFields(json), wire.Encoded{})
}

// firstFields returns the fields of the first manager of an object.
func firstFields(text string) object.FieldsV1 {
	var obj struct {
		Metadata struct {
			ManagedFields []struct{ FieldsV1 json.RawMessage }
		}
	}
	if err := json.Unmarshal([]byte(text), &obj); err != nil {
		panic(err)
	}
	for _, manager := range obj.Metadata.ManagedFields {
		return object.FieldsV1(manager.FieldsV1)
	}
	return ""
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
		{"escapes", `{"name":"\"uid\":\"v","uid":"u","x":1}`, "", "u", `{"name":"\"uid\":\"v","uid":"u","resourceVersion":"41","x":1}`},
		{"no uid", `{"name":"a","labels":{"uid":"v"}}`, "", "", `{"name":"a","resourceVersion":"41","labels":{"uid":"v"}}`},
		{"first member", `{"labels":{}}`, "", "", `{"resourceVersion":"41","labels":{}}`},
		{"only member", `{}`, "", "", `{"resourceVersion":"41"}`},
		{"one manager", `{"uid":"u","labels":{"a":"b"},"managedFields":[{"manager":"a"}]}`, `,"data":"` + long + `"`, "u",
			`{"uid":"u","resourceVersion":"41","labels":{"a":"b"},"managedFields":[{"manager":"a"}]}`},
		{"managers", `{"uid":"u","managedFields":[{"manager":"a"},{"manager":"b","fieldsV1":{}},{"manager":"c"}]}`, `,"data":"` + long + `"`, "u",
			`{"uid":"u","resourceVersion":"41","managedFields":[{"manager":"a"},{"manager":"b","fieldsV1":{}},{"manager":"c"}]}`},
		{"only managers", `{"managedFields":[{"manager":"a"},{"manager":"b"}]}`, `,"data":"` + long + `"`, "",
			`{"resourceVersion":"41","managedFields":[{"manager":"a"},{"manager":"b"}]}`},
		{"managers elsewhere", `{"uid":"u","labels":{"manager":"x"}}`, `,"data":[{"x":1},{"manager":"` + long + `"}],"status":{"b":1}`, "u",
			`{"uid":"u","resourceVersion":"41","labels":{"manager":"x"}}`},
		{"brackets in managed fields", `{"uid":"u","managedFields":[{"manager":"a"},{"manager":"b","fieldsV1":{"v:\"}]}\"":{}}}]}`, `,"data":"` + long + `"`, "u",
			`{"uid":"u","resourceVersion":"41","managedFields":[{"manager":"a"},{"manager":"b","fieldsV1":{"v:\"}]}\"":{}}}]}`},
		{"status", `{"uid":"u","labels":{"a":"b"}}`, `,"data":"` + long + `","status":{"a":1}`, "u",
			`{"uid":"u","resourceVersion":"41","labels":{"a":"b"}}`},
		{"status in other members", `{"uid":"u"}`, `,"data":{"status":{"x":"` + long + `"}},"status":{"b":1},"tail":2`, "u",
			`{"uid":"u","resourceVersion":"41"}`},
		{"managers and status", `{"uid":"u","managedFields":[{"manager":"a"},{"manager":"b"}]}`, `,"data":"` + long + `","status":{"a":1}`, "u",
			`{"uid":"u","resourceVersion":"41","managedFields":[{"manager":"a"},{"manager":"b"}]}`},
		{"only member of a long object", `{}`, `,"data":"` + long + `","status":{"a":1}`, "", `{"resourceVersion":"41"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			const head = `{"kind":"Thing","apiVersion":"v1",`
			tail := `,"data":{"uid":"w","metadata":{}}` + row.tail + `}`
			before := head + `"metadata":` + row.metadata + tail
			after := head + `"metadata":` + row.want + tail
			e := encoded(before)
			assert.Equal(t, row.uid, e.UID())
			assert.Equal(t, len(before), e.Len())
			assert.Equal(t, "x"+before, string(e.Append([]byte("x"), 0)))
			assert.Equal(t, "x"+after, string(e.Append([]byte("x"), 41)))
			assert.Equal(t, "{"+row.metadata, string(e.AppendMetadata([]byte("{"), 0)))
			assert.Equal(t, row.want, string(e.AppendMetadata(nil, 41)))
			same, other := encoded(before), encoded(strings.Replace(before, "Thing", "Other", 1))
			assert.True(t, e.Equal(&same))
			assert.False(t, e.Equal(&other))

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
		`{"name":"` + strings.Repeat("x", 600) + `","labels":{}}`,
	} {
		text := `{"kind":"Thing","apiVersion":"v1","metadata":` + metadata + `}`
		for _, fields := range []object.FieldsV1{"", "{}", "}"} {
			e := wire.NewEncoded([]byte(text), fields, wire.Encoded{})
			assert.Equal(t, text, string(e.Append(nil, 0)))
			assert.Equal(t, metadata, string(e.AppendMetadata(nil, 0)))
		}
	}
}

func TestEncodedVersionText(t *testing.T) {
	e := encoded(`{"metadata":{"uid":"u"}}`)
	e = e.WithVersionText(`a"b`)
	assert.Equal(t, `{"metadata":{"uid":"u","resourceVersion":"a\"b"}}`, string(e.Append(nil, 0)))
}

// TestEncodedShares shows which versions of an object share memory.
func TestEncodedShares(t *testing.T) {
	fresh := freshText()
	object := func(label, manager, field, spec, status string) string {
		return fmt.Sprintf(`{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","uid":"u","labels":{"a":%q},"managedFields":[{"manager":"m","fieldsV1":{"f:spec":{"f:%s":{}}}},{"manager":%q}]},"spec":{"a":%q},"status":{"a":%q}}`,
			label, field+fresh, manager, spec, status+strings.Repeat("x", 400))
	}
	text := object("l", "m", "f", "spec", "status")
	old := encoded(text)
	first := len(`{"f:spec":{"f:f`) + len(fresh) + len(`":{}}}`)
	changing := len(`},{"manager":"m"`) + len(`status":{"a":"status"}}`) + 400
	for _, row := range []struct {
		name, text  string
		shared      int
		allocations float64 // of the texts that are not shared
	}{
		{"equal", text, len(text), 0},
		{"labels", object("k", "m", "f", "spec", "status"), first + changing, 1},
		{"fields of the first manager", object("l", "m", "g", "spec", "status"), len(text) - first, 0}, // it is in the table
		{"another manager", object("l", "n", "f", "spec", "status"), len(text) - changing, 1},
		{"spec", object("l", "m", "f", "other", "status"), first + changing, 1},
		{"status", object("l", "m", "f", "spec", "other"), len(text) - changing, 1},
		{"spec and status", object("l", "m", "f", "other", "other"), first, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			json, fields := []byte(row.text), firstFields(row.text)
			e := wire.NewEncoded(json, fields, old)
			assert.Equal(t, row.text, string(e.Append(nil, 0)))
			assert.Equal(t, row.shared, old.Shared(&e))
			assert.Equal(t, row.allocations, testing.AllocsPerRun(10, func() { wire.NewEncoded(json, fields, old) }))
		})
	}
}

// TestEncodedSharesFirst shows that different objects share the fields of their first manager,
// which one of them counts.
func TestEncodedSharesFirst(t *testing.T) {
	fresh := freshText()
	object := func(name string) string {
		return fmt.Sprintf(`{"kind":"Thing","apiVersion":"v1","metadata":{"name":%q,"uid":"u","managedFields":[{"manager":"m","fieldsV1":{"f:spec":{"f:%s":{}}}}]},"spec":{"a":%q}}`,
			name, fresh, strings.Repeat("x", 400))
	}
	a, b := encoded(object("a")), encoded(object("b"))
	first := len(`{"f:spec":{"f:`) + len(fresh) + len(`":{}}}`)
	assert.Equal(t, a.Len(), a.Size())
	assert.Equal(t, b.Len()-first, b.Size())
	next := wire.NewEncoded([]byte(object("c")), firstFields(object("c")), a)
	assert.Equal(t, next.Len(), next.Size(), "the next version of the object that counts it")
	assert.Equal(t, first, a.Shared(&next))
	assert.Zero(t, b.Shared(&next), "b does not count it")
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
			e := encoded(`{"kind":"Pod","apiVersion":"v1","metadata":` + row.metadata + `,"spec":{"containers":null,"nodeName":"` + strings.Repeat("x", 400) + `"},"status":{"phase":"Running"}}`)
			for _, version := range []int64{0, 7, 123456} {
				want, _, err := pod.Decode(e.Append(nil, version), wire.DecodeOptions{})
				require.NoError(t, err)
				got, err := e.Decode(pod, version)
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
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, data))
		label, err := json.Marshal(compact.String())
		require.NoError(t, err)
		metadata := func(version string) string {
			return fmt.Sprintf(`{"uid":"u"%s,"labels":{"a":%s},"managedFields":[{"fieldsV1":{"f:%0200d":%s}},{"manager":"b","fieldsV1":%s}]}`, version, label, 1, &compact, &compact)
		}
		object := func(version string) string {
			return fmt.Sprintf(`{"kind":"T","apiVersion":"v1","metadata":%s,"spec":%s,"status":{"x":%s}}`, metadata(version), &compact, &compact)
		}
		e := encoded(object(""))
		assert.Equal(t, object(""), string(e.Append(nil, 0)))
		assert.Equal(t, object(`,"resourceVersion":"9"`), string(e.Append(nil, 9)))
		assert.Equal(t, metadata(""), string(e.AppendMetadata(nil, 0)))
	})
}
