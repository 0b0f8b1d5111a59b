package scenarios

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everything has all keys of the format.
const everything = `version: 1
area: demo
name: everything
why: to have all keys
recorded: v1.36.3
gates: [A]
managedFields: true
history:
- store: {kind: Node, metadata: {name: a}}
- at: 1.2s
  store:
  - {kind: Node, metadata: {name: a}}
  - {kind: Node, metadata: {name: b}}
  remove: {kind: Node, metadata: {name: c}}
steps:
- do: POST /api/v1/namespaces/${ns}/configmaps
  name: create
  user: none
  type: application/json
  accept: application/json
  headers: {X-A: b}
  body: {data: {size: 1.50}}
  until: 201
  capture: {uid: metadata.uid}
  only: [metadata.name]
  want:
    status: 201
    headers: {Content-Type: application/json}
    warning: ['299 - "careful"']
    body: {metadata.name: a}
- do: POST /a
  raw: text
- do: POST /b
  base64: dGV4dA==
- watch: /api/v1/pods?watch=1
  as: pods
- events: pods
  count: 1
  ends: true
  want: {events: [{type: ADDED}]}
- at: 2s
  store: {kind: ConfigMap, metadata: {namespace: x, name: a}}
- compact: true
- compact: {watchCache: true}
- pause: 150ms
- advance: 10m
- lag: {by: 3s}
- fault: {times: 2}
- restart: pods
- upgrade: v1.36
- expect: /api/v1/nodes/a
  within: 5s
  want: {body: {spec: {}}}
`

func TestParse(t *testing.T) {
	f, err := Parse("everything.yaml", []byte(everything))
	require.NoError(t, err)
	require.Len(t, f.Scenarios, 1)
	s := f.Scenarios[0]
	assert.Equal(t, "demo/everything", s.String())
	assert.Equal(t, Duration(1200*time.Millisecond), s.History[1].At)
	assert.Equal(t, "store Node a, Node b, remove Node c", s.History[1].String())
	assert.Equal(t, map[string]any{"data": map[string]any{"size": json.Number("1.5")}}, s.Steps[0].Body)
	assert.Equal(t, &Compaction{}, s.Steps[6].Compact)
	assert.Equal(t, &Compaction{WatchCache: true}, s.Steps[7].Compact)

	var names []string
	for i := range s.Steps {
		names = append(names, s.Steps[i].String())
	}
	assert.Equal(t, []string{
		"create", "POST /a", "POST /b", "watch /api/v1/pods?watch=1", "events of pods", "store ConfigMap x/a",
		"compact", "compact", "pause 150ms", "advance 10m0s", "lag", "fault", "restart watches of pods", "upgrade to v1.36", "expect /api/v1/nodes/a",
	}, names)

	text, err := Format(s, s)
	require.NoError(t, err)
	again, err := Parse("again", text)
	require.NoError(t, err)
	for _, copied := range again.Scenarios {
		copied.origin = s.origin
		assert.Equal(t, s, copied)
	}
}

func TestParseErrors(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"unknown key", "name: a\nstep: []", `x: document 1: unknown field "step"; did you mean steps?`},
		{"key twice", "name: a\nname: b", `x: document 1: yaml: unmarshal errors:
  line 2: key "name" already set in map`},
		{"no name", "area: a", "x: document 1: no name"},
		{"second document", "name: a\n---\narea: a", "x: document 2: no name"},
		{"version", "name: a\nversion: 2", "x: document 1: unsupported version of the scenario format: version 2 instead of 1"},
		{"no action", "name: a\nsteps: [{name: b}]", "x: document 1: steps[0] (b): it has no action, such as do"},
		{"two actions", "name: a\nsteps: [{do: GET /a, pause: 1s}]", "x: document 1: steps[0] (GET /a): it has more than one action: do, pause"},
		{"advance with until", "name: a\nsteps: [{do: GET /a, advance: 1s, until: 200}]", "x: document 1: steps[0] (GET /a): advance: cannot be combined with until"},
		{"no path", "name: a\nsteps: [{do: GET}]", `x: document 1: steps[0] (GET): do: "GET" is not METHOD /path`},
		{"watch without a name", "name: a\nsteps: [{watch: /a}]", "x: document 1: steps[0] (watch /a): as: a watch must have a name"},
		{"name without a watch", "name: a\nsteps: [{pause: 1s, as: b}]", "x: document 1: steps[0] (pause 1s): as: only a watch and a request can have it"},
		{"groups without a user", "name: a\nsteps: [{create: {kind: A}, groups: [b]}]", "x: document 1: steps[0] (create A ): groups: it needs as, the user"},
		{"rows of no request", "name: a\nsteps: [{pause: 1s, rows: [{a: 1}]}]", "x: document 1: steps[0] (pause 1s): rows: only a request can have it, such as create"},
		{"unknown verdict", "name: a\nsteps: [{create: {kind: A}, expect: refused}]", `x: document 1: expect: "refused" is not allowed, denied, forbidden or error, with a message, and not a path`},
		{"two verdicts", "name: a\nsteps: [{create: {kind: A}, expect: {allowed: true, denied: a}}]", "x: document 1: expect: it needs one of allowed, mutated, denied, forbidden and error"},
		{"expect and want", "name: a\nsteps: [{create: {kind: A}, expect: allowed, want: {}}]", "x: document 1: steps[0] (create A ): want: cannot be combined with expect, warnings, audit and rows"},
		{"unknown value", "name: a\nsteps: [{create: {kind: A}, rows: [{replica: 1}]}]", "x: document 1: steps[0] (create A ): rows[0] (replica: 1): replica: the step has no ${replica}, and the object no such field"},
		{"a place that is none", "name: a\nsteps: [{create: {kind: A}, rows: [{kind.a: 1}]}]", "x: document 1: steps[0] (create A ): rows[0] (kind.a: 1): kind.a: the object has no such place"},
		{"events of an unknown watch", "name: a\nsteps: [{events: b}]", `x: document 1: steps[0] (events of b): events: no watch is named "b"`},
		{"expect without want", "name: a\nsteps: [{expect: /a}]", "x: document 1: steps[0] (expect /a): expect: want is missing"},
		{"pause", "name: a\nsteps: [{pause: soon}]", `x: document 1: time: invalid duration "soon"`},
		{"negative pause", "name: a\nsteps: [{pause: -1s}]", "x: document 1: the duration -1s is negative"},
		{"compact", "name: a\nsteps: [{compact: {all: true}}]", `x: document 1: unknown field "all"`},
		{"history out of order", "name: a\nhistory: [{at: 2s, store: {}}, {at: 1s, store: {}}]", "x: document 1: history: its changes must be sorted by their offsets"},
		{"empty change", "name: a\nhistory: [{at: 2s}]", "x: document 1: history[0]: it has neither store nor remove"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Parse("x", []byte(row.text))
			require.EqualError(t, err, row.want)
		})
	}
}

func TestParseDocuments(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       []string
	}{
		{"separators without a document", "---\nname: b1\n---\n\n---\nname: b2\nwhy: |\n  text\n  ---\n", []string{"b1", "b2"}},
		{"carriage returns", "name: a\r\n---\r\nname: a2\r\n", []string{"a", "a2"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, err := Parse("x", []byte(row.text))
			require.NoError(t, err)
			var names []string
			for _, s := range f.Scenarios {
				names = append(names, s.Name)
			}
			assert.Equal(t, row.want, names)
		})
	}
}

// FuzzParse checks that formatting and parsing again gives the same scenarios.
func FuzzParse(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte("name: a\n---\nname: b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse("fuzzed", text)
		if err != nil || len(file.Scenarios) == 0 {
			return
		}
		out, err := Format(file.Scenarios...)
		require.NoError(t, err)
		again, err := Parse("formatted", out)
		require.NoError(t, err)
		assert.Equal(t, len(file.Scenarios), len(again.Scenarios))
	})
}
