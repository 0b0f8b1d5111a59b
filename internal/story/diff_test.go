package story

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDiff(t *testing.T) {
	for _, row := range []struct {
		name     string
		old, new string // JSON; "" for a nil object
		want     []string
	}{
		{"equal objects", `{"spec":{"a":1}}`, `{"spec":{"a":1}}`, nil},
		{"changed field", `{"spec":{"replicas":1,"paused":true}}`, `{"spec":{"replicas":3,"paused":true}}`, []string{"spec.replicas 1 → 3"}},
		{"added field", `{"spec":{}}`, `{"spec":{"replicas":3}}`, []string{"spec.replicas = 3"}},
		{"removed field", `{"spec":{"replicas":3}}`, `{"spec":{}}`, []string{"spec.replicas removed"}},
		{"zero values", `{"spec":{"n":0,"s":"","b":false}}`, `{"spec":{"n":1,"s":"x","b":true}}`, []string{"spec.b false → true", "spec.n 0 → 1", `spec.s "" → x`}},
		{"order of fields", `{"metadata":{"labels":{"a":"1"}},"spec":{"a":1},"status":{"a":1},"other":1}`, `{"metadata":{"labels":{"a":"2"}},"spec":{"a":2},"status":{"a":2},"other":2}`,
			[]string{"spec.a 1 → 2", "status.a 1 → 2", "other 1 → 2", "metadata.labels.a 1 → 2"}},
		{"ignored fields", `{"metadata":{"resourceVersion":"1","managedFields":[]}}`, `{"metadata":{"resourceVersion":"2","managedFields":[{}]}}`, nil},
		{"quoted name", `{"metadata":{"labels":{"app.kubernetes.io/name":"a"}}}`, `{"metadata":{"labels":{"app.kubernetes.io/name":"b"}}}`, []string{`metadata.labels["app.kubernetes.io/name"] a → b`}},
		{"list element by name", `{"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}}`, `{"spec":{"containers":[{"name":"b","image":"2"},{"name":"a","image":"1"}]}}`,
			[]string{"spec.containers[name=b].image 1 → 2"}},
		{"list element by type", `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, `{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"New","status":"True"}]}}`,
			[]string{"status.conditions[type=New] = {status: True}", "status.conditions[type=Ready].status False → True"}},
		{"list elements without a key", `{"spec":{"rules":[{"a":1},{"a":2}]}}`, `{"spec":{"rules":[{"a":1}]}}`, []string{"spec.rules [{a: 1}, {a: 2}] → [{a: 1}]"}},
		{"list elements with equal keys", `{"l":[{"name":"a"},{"name":"a"}]}`, `{"l":[{"name":"a"}]}`, []string{"l [{name: a}, {name: a}] → [{name: a}]"}},
		{"empty list", `{"l":[]}`, `{"l":[{"name":"a"}]}`, []string{"l [] → [{name: a}]"}},
		{"long object by its members", `{"spec":{}}`, `{"spec":{"m":{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","b":{"c":"ccccccccccccccccccccc"}}}}`,
			[]string{"spec.m.a = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "spec.m.b = {c: ccccccccccccccccccccc}"}},
		{"long list by its elements", `{"status":{}}`, `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"CrashLoopBackOff","lastTransitionTime":"2030-01-02T03:04:05Z"},{"type":"New","status":"True"}]}}`,
			[]string{"status.conditions[type=New] = {status: True}", "status.conditions[type=Ready] = {status: False, reason: CrashLoopBackOff}"}},
		{"long list without a key", `{"rules":[{"verbs":["get"],"resources":["configmaps","endpoints","persistentvolumeclaims"]},{"verbs":["create"]}]}`,
			`{"rules":[{"verbs":["get"],"resources":["configmaps","endpoints","persistentvolumeclaims"]},{"verbs":["list"]},{"verbs":["watch"]}]}`,
			[]string{"rules + {verbs: [list]}, 1 more, − {verbs: [create]}"}},
		{"long list in another order", `{"l":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]}`,
			`{"l":["bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]}`, []string{"l in another order"}},
		{"very long object", `{"spec":1}`, `{"spec":{"a":{"x":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},"b":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","c":"c","d":["d"],"e":1}}`,
			[]string{"spec 1 → {a: {x: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}, b: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, …}"}},
		{"text that is not plain", `{"data":{}}`, `{"data":{"a":"two words","b":"a,b","c":"x\u001b[2J","d":"[x]"}}`, []string{`data.a = "two words"`, `data.b = "a,b"`, `data.c = "x\x1b[2J"`, `data.d = "[x]"`}},
		{"changed type", `{"v":{"a":1}}`, `{"v":"text"}`, []string{"v {a: 1} → text"}},
		{"large numbers", `{"n":9007199254740993}`, `{"n":9007199254740992}`, []string{"n 9007199254740993 → 9007199254740992"}},
		{"added object", "", `{"kind":"Pod","metadata":{"name":"a","uid":"u"},"spec":{"a":1}}`, []string{"spec = {a: 1}", "metadata.name = a", "metadata.uid = u", "kind = Pod"}},
		{"deleted object", `{"kind":"Pod","metadata":{"name":"a"}}`, "", []string{"metadata.name removed", "kind removed"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var old, new map[string]any
			if row.old != "" {
				old = decode([]byte(row.old))
			}
			if row.new != "" {
				new = decode([]byte(row.new))
			}
			var got []string
			for _, f := range diff(old, new) {
				got = append(got, f.String())
			}
			assert.Equal(t, row.want, got)
		})
	}
}

// A long value is cut and ends with its length.
func TestLongValues(t *testing.T) {
	long := strings.Repeat("ä", maxStored)
	for name, v := range map[string]any{"a string": long, "a list": []any{long}, "an object": map[string]any{"a": long}} {
		t.Run(name, func(t *testing.T) {
			fields := diff(map[string]any{}, map[string]any{"v": v})
			text, ok := fields[0].New.(string)
			assert.True(t, ok)
			assert.Less(t, len(text), maxStored+100)
			assert.Regexp(t, `… \(\d+ bytes\)$`, text)
		})
	}
	assert.Equal(t, "v = "+strings.Repeat("x", maxString)+"…", fmt.Sprint(Field{Path: "v", New: strings.Repeat("x", 100)}))
}

func FuzzDiff(f *testing.F) {
	f.Add(`{"spec":{"l":[{"name":"a"}]}}`, `{"spec":{"l":[{"name":"b"},1,null]}}`)
	f.Add(`{"metadata":{"a":null}}`, `{"metadata":[]}`)
	f.Add(`{"metadata":1,"l":[[]]}`, `{"l":[{}]}`)
	f.Fuzz(func(t *testing.T, old, new string) {
		a, ok1 := parse(old)
		b, ok2 := parse(new)
		if !ok1 || !ok2 {
			t.Skip()
		}
		for _, field := range diff(a, b) {
			assert.NotEmpty(t, field.String())
		}
		assert.Empty(t, diff(a, a))
	})
}
