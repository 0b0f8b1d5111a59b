package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/release"
)

// TestRecord records this project's own server, which serves what was recorded
// from kube-apiserver.
func TestRecord(t *testing.T) {
	s := &server{client: http.DefaultClient, url: fakeapi.Start(t).URL}
	rec, err := s.record("")
	require.NoError(t, err)
	assert.Equal(t, release.Default, rec.name)
	assert.Len(t, rec.files, 6)
	recorded := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(recordingsDir, name))
		require.NoError(t, err)
		return b
	}
	for name, content := range rec.files {
		want := string(recorded(release.Default + "/" + name))
		if name == "gates.txt" {
			assert.Equal(t, want, string(content))
			continue
		}
		assert.JSONEq(t, want, string(content), name)
	}
	var index map[string]documentEntry
	require.NoError(t, json.Unmarshal(rec.files["openapi.json"], &index))
	assert.Len(t, index, len(rec.documents))

	require.NoError(t, s.recordBootstrap(rec))
	var objects, recordedObjects map[string][]json.RawMessage
	require.NoError(t, json.Unmarshal(rec.files["bootstrap.json"], &objects))
	require.NoError(t, json.Unmarshal(recorded(release.Default+"-all/bootstrap.json"), &recordedObjects))
	assert.Len(t, objects, len(bootstrapSources))
	assert.Len(t, objects["v1/namespaces"], len(recordedObjects["v1/namespaces"]))

	columns := map[string][]json.RawMessage{}
	require.NoError(t, s.addListColumns(columns))
	var recordedColumns map[string]any
	require.NoError(t, json.Unmarshal(recorded(release.Default+"-gates/columns.json"), &recordedColumns))
	assert.Contains(t, columns, "apps/Deployment")
	for kind := range columns {
		got, err := json.Marshal(columns[kind])
		require.NoError(t, err)
		want, err := json.Marshal(recordedColumns[kind])
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(got), kind)
	}

	_, err = s.record("unknown")
	assert.EqualError(t, err, release.Default+` has no variant "unknown"`)
	_, err = s.get("/nothing", "application/json")
	assert.ErrorContains(t, err, "GET /nothing: 404 Not Found: ")
}

// TestMissingRecordings: data is not generated before each release has all of its recordings.
func TestMissingRecordings(t *testing.T) {
	recordings := fstest.MapFS{}
	for _, name := range []string{release.Newest, release.Newest + "-all", release.Newest + "-gates", "v1.35.4", "v1.36.3-all"} {
		recordings[name+"/discovery.json"] = &fstest.MapFile{}
	}
	missing, err := missingRecordings(recordings)
	require.NoError(t, err)
	assert.Equal(t, []string{"v1.35.4-all", "v1.36.3", "v1.36.3-gates"}, missing)
}

func TestStorageVersionHash(t *testing.T) {
	// As kube-apiserver publishes them for deployments and pods.
	assert.Equal(t, "8aSe+NMegvE=", storageVersionHash("apps/v1", "Deployment"))
	assert.Equal(t, "xPOwRZ+Yhw8=", storageVersionHash("v1", "Pod"))
}
