//go:build go1.24

package scenarios

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// playAndUpdate plays the scenarios of a text and returns the text after Update.
func playAndUpdate(t *testing.T, text string) (string, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "scenario.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	f, err := Load(name)
	require.NoError(t, err)
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	p := &Player{URL: srv.URL, Transport: srv.Transport(), Timeout: time.Second}
	var results []*Result
	for _, s := range f.Scenarios {
		results = append(results, p.Play(t.Context(), s))
	}
	err = f.Update(results...)
	b, readErr := os.ReadFile(name)
	require.NoError(t, readErr)
	return string(b), err
}

func TestUpdate(t *testing.T) {
	const before = `# A comment at the start.
name: first
steps:
# The first write.
- do: POST /api/v1/namespaces/${ns}/configmaps
  body:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: a} # its name
    data:
      text: |
        steps:
        - want: none
  want: {}

# The second write, with want before its body.
- want:
    status: 500   # wrong
    headers: {Content-Type: <any>, Vary: <maybe>}
    body:
      apiVersion: v1
      kind: Secret
      metadata:
        creationTimestamp: <any>
        name: <*>
        namespace: ${ns}
        resourceVersion: <rv:7>
        uid: <uid:3>
  do: POST /api/v1/namespaces/${ns}/configmaps
  body: {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
- do: GET /api/v1/namespaces/${ns}/configmaps/a
  only: [metadata.resourceVersion, metadata.uid]
  want:
    status: 200
    headers: {Cache-Control: "no-cache, private", Content-Type: application/json}
    body: {metadata.resourceVersion: <rv:9>, metadata.uid: <uid:9>} # right
- do: GET /api/v1/namespaces/${ns}/configmaps
  only: [metadata, items.1.metadata.resourceVersion, items.2]
  want: {}
# The last step has no want.
- do: GET /api
---
# Matches.
name: second
steps: [{do: GET /healthz, want: {status: 200, headers: {Cache-Control: "no-cache, private", Content-Type: <any>}, body: ok}}]
`
	const after = `# A comment at the start.
name: first
steps:
# The first write.
- do: POST /api/v1/namespaces/${ns}/configmaps
  body:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: a} # its name
    data:
      text: |
        steps:
        - want: none
  want:
    body:
      apiVersion: v1
      data:
        text: |
          steps:
          - want: none
      kind: ConfigMap
      metadata:
        creationTimestamp: <time>
        name: a
        namespace: ${ns}
        resourceVersion: <rv:9>
        uid: <uid:9>
    status: 201

# The second write, with want before its body.
- want:
    body:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        creationTimestamp: <any>
        name: <*>
        namespace: ${ns}
        resourceVersion: <rv:7>
        uid: <uid:3>
    headers:
      Cache-Control: no-cache, private
      Content-Type: <any>
      Vary: <maybe>
    status: 201
  do: POST /api/v1/namespaces/${ns}/configmaps
  body: {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
- do: GET /api/v1/namespaces/${ns}/configmaps/a
  only: [metadata.resourceVersion, metadata.uid]
  want:
    status: 200
    headers: {Cache-Control: "no-cache, private", Content-Type: application/json}
    body: {metadata.resourceVersion: <rv:9>, metadata.uid: <uid:9>} # right
- do: GET /api/v1/namespaces/${ns}/configmaps
  only: [metadata, items.1.metadata.resourceVersion, items.2]
  want:
    body:
      items.1.metadata.resourceVersion: <rv:7>
      items.2: <absent>
      metadata:
        resourceVersion: <rv:7>
    status: 200
# The last step has no want.
- do: GET /api
---
# Matches.
name: second
steps: [{do: GET /healthz, want: {status: 200, headers: {Cache-Control: "no-cache, private", Content-Type: <any>}, body: ok}}]
`
	got, err := playAndUpdate(t, before)
	require.NoError(t, err)
	assert.Equal(t, after, got)
	again, err := playAndUpdate(t, got)
	require.NoError(t, err)
	assert.Equal(t, after, again, "the updated file matches")
}

func TestUpdateParts(t *testing.T) {
	for _, row := range []struct{ name, before, after string }{
		{"expect gets only the members that it mentions",
			"name: a\nsteps:\n- store: {kind: Node, apiVersion: v1, metadata: {name: a}, spec: {unschedulable: true}}\n- expect: /api/v1/nodes/a\n  want: {body: {spec: {unschedulable: false}}}\n",
			"name: a\nsteps:\n- store: {kind: Node, apiVersion: v1, metadata: {name: a}, spec: {unschedulable: true}}\n- expect: /api/v1/nodes/a\n  want:\n    body:\n      spec:\n        unschedulable: true\n    status: 200\n"},
		{"events",
			"name: a\nsteps:\n- watch: /api/v1/nodes?watch=1\n  as: w\n- store: {kind: Node, apiVersion: v1, metadata: {name: a}}\n- events: w\n  count: 1\n  only: [type, object.metadata.resourceVersion, object.metadata.uid]\n  want: {events: [{type: DELETED, object.metadata.uid: <uid>}, {type: ADDED}]}\n",
			"name: a\nsteps:\n- watch: /api/v1/nodes?watch=1\n  as: w\n- store: {kind: Node, apiVersion: v1, metadata: {name: a}}\n- events: w\n  count: 1\n  only: [type, object.metadata.resourceVersion, object.metadata.uid]\n  want:\n    events:\n    - object.metadata.resourceVersion: <rv:1>\n      object.metadata.uid: <uid>\n      type: ADDED\n"},
		{"a longer list and a warning",
			"name: a\nsteps:\n  - do: POST /api/v1/namespaces/${ns}/configmaps?fieldValidation=Warn\n    body: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [a/b, a/c]}, x: 1}\n    only: [metadata.finalizers]\n    want: {status: 201, body: {metadata.finalizers: [<any>]}}",
			"name: a\nsteps:\n  - do: POST /api/v1/namespaces/${ns}/configmaps?fieldValidation=Warn\n    body: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [a/b, a/c]}, x: 1}\n    only: [metadata.finalizers]\n    want:\n      body:\n        metadata.finalizers:\n        - <any>\n        - a/c\n      status: 201\n      warning:\n      - 299 - \"unknown field \\\"x\\\"\"\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := playAndUpdate(t, row.before)
			require.NoError(t, err)
			assert.Equal(t, row.after, got)
		})
	}
}

func TestUpdateErrors(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"flow style", "name: a\nsteps: [{do: GET /healthz, want: {}}]", "a: step 0: the step is not in block style"},
		{"a step in flow style", "name: a\nsteps:\n- {do: GET /healthz, want: {}}", "a: step 0: the step is not in block style"},
		{"an event that did not come", "name: a\nsteps:\n- watch: /api/v1/nodes?watch=1\n  as: w\n- events: w\n  count: 1\n  want: {events: [1]}\n", "a: step 1 (events of w): an event did not come in time"},
		{"a step that failed", "name: a\nsteps:\n- remove: {kind: Node, apiVersion: v1, metadata: {name: a}}\n", "a: step 0 (remove Node a): objects: 404 remove[0]: not found: nodes a"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := playAndUpdate(t, row.text)
			require.ErrorContains(t, err, "scenario.yaml: the file cannot be updated: "+row.want)
			require.ErrorIs(t, err, ErrNotUpdatable)
			assert.Equal(t, row.text, got, "the file is unchanged")
		})
	}
}

// FuzzSetWant checks that updating any layout either fails or writes the intended
// want.
func FuzzSetWant(f *testing.F) {
	f.Add([]byte(everything), 0)
	f.Add([]byte("name: a\nsteps:\n- do: GET /a\n  want:\n    status: 1 # one\n\n# a\n- \n  do: GET /b\n"), 1)
	f.Add([]byte("name: a\nsteps: # some\n  -   want: {\n        status: 1}\n      do: GET /a\nwhy: b\n"), 0)
	f.Add([]byte("name: a\r\nsteps:\r\n- do: GET /a\r\n"), 0)
	f.Fuzz(func(t *testing.T, doc []byte, step int) {
		s, err := parse(doc)
		if err != nil || s == nil || step < 0 || step >= len(s.Steps) {
			return
		}
		want := &Answer{Status: 299, Body: map[string]any{"a": []any{"b"}}}
		lines, err := setWant(bytes.SplitAfter(doc, []byte("\n")), step, want)
		if err != nil {
			return
		}
		s.Steps[step].Want = want
		out := bytes.Join(lines, nil)
		if check(out, s) != nil {
			return // Update fails
		}
		again, err := parse(out)
		require.NoError(t, err)
		assert.Equal(t, 299, again.Steps[step].Want.Status)
	})
}
