package corpus_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/conformance/corpus"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios"
)

// newRecorder returns a Recorder of a fresh server.
func newRecorder(t *testing.T) *corpus.Recorder {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	return &corpus.Recorder{
		Player:  &scenarios.Player{URL: srv.URL, Transport: srv.Transport()},
		Port:    "6443",
		Version: "v1.0.0",
	}
}

// TestRecord records a scenario from a server whose answers are others: what differs between two
// plays is a placeholder, and a step whose answer nobody wants has none.
func TestRecord(t *testing.T) {
	recorder := newRecorder(t)
	recorded, report, err := recorder.Record(t.Context(), corpus.Recording{Name: "a/b", Text: []byte(`area: a
name: b
recorded: v0.9.0
steps:
- do: POST /api/v1/namespaces/${ns}/configmaps
  body: {metadata: {name: a}, data: {at: "https://192.0.2.1:6443/x"}}
  want: {status: 418}
- do: GET /api/v1/namespaces/${ns}/configmaps/none
- do: GET /api/v1/namespaces/${ns}/configmaps/a
  only: [metadata.uid, metadata.name, kind]
  want: {status: 200}
- do: POST /api/v1/namespaces
  body: {metadata: {name: once}}
  want: {status: 418}
`)})
	require.NoError(t, err)
	assert.Equal(t, corpus.Report{Plays: 8, Changed: true, Dropped: []string{"a/b step 3: status 201, then 409"}}, report)
	const headers = `    headers:
      Cache-Control: no-cache, private
      Content-Type: application/json
`
	assert.Equal(t, `area: a
name: b
recorded: v1.0.0
steps:
- body:
    data:
      at: https://192.0.2.1:6443/x
    metadata:
      name: a
  do: POST /api/v1/namespaces/${ns}/configmaps
  want:
    body:
      apiVersion: v1
      data:
        at: https://<*>/x
      kind: ConfigMap
      metadata:
        creationTimestamp: <time>
        name: a
        namespace: ${ns}
        resourceVersion: <rv:1>
        uid: <uid:1>
`+headers+`    status: 201
- do: GET /api/v1/namespaces/${ns}/configmaps/none
- do: GET /api/v1/namespaces/${ns}/configmaps/a
  only:
  - metadata.uid
  - metadata.name
  - kind
  want:
    body:
      kind: ConfigMap
      metadata.name: a
      metadata.uid: <uid:1>
`+headers+`    status: 200
- body:
    metadata:
      name: once
  do: POST /api/v1/namespaces
`, string(recorded.Text))

	again, report, err := recorder.Record(t.Context(), recorded)
	require.NoError(t, err)
	assert.Equal(t, corpus.Report{Plays: 1}, report)
	assert.Equal(t, string(recorded.Text), string(again.Text))
}

// TestRecordSeveralPlays records a scenario whose answers come in different plays: all stay.
func TestRecordSeveralPlays(t *testing.T) {
	recorder := newRecorder(t)
	recording := corpus.Recording{Name: "a/b", Text: []byte(`area: a
name: b
recorded: v1.0.0
steps:
- do: POST /api/v1/namespaces
  body: {metadata: {name: once}}
  want: {status: 201, body: <any>}
- do: POST /api/v1/namespaces/default/configmaps
  body: {metadata: {name: once}}
  want: {status: 409, body: <any>}
`)}
	recorded, report, err := recorder.Record(t.Context(), recording)
	require.NoError(t, err)
	assert.Equal(t, corpus.Report{Plays: 2}, report)
	assert.Equal(t, string(recording.Text), string(recorded.Text))
}
