package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
)

// TestData checks that package data has the files that this program generates,
// and no others. The contents of zip archives are compared, not their bytes: how
// well they are compressed depends on the Go release.
func TestData(t *testing.T) {
	require.NoError(t, checkRequirements())
	documents, err := readDocuments(os.DirFS(recordingsDir), os.DirFS(dataDir))
	require.NoError(t, err)
	want, err := generate(os.DirFS(recordingsDir), documents)
	require.NoError(t, err)

	have := map[string][]byte{}
	require.NoError(t, fs.WalkDir(os.DirFS(dataDir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path != "data.go" {
			have[path], err = os.ReadFile(filepath.Join(dataDir, path))
		}
		return err
	}))
	const hint = "run: go -C internal/release/gen run ."
	assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(have)), hint)
	for name, content := range want {
		assert.True(t, sameContent(name, have[name], content), "%s is not what gen generates; %s", name, hint)
	}
}

// TestRecordings checks that there is a recording for each release, and that each
// recorded file is used.
func TestRecordings(t *testing.T) {
	surfaces, err := surfaceNames(os.DirFS(recordingsDir))
	require.NoError(t, err)
	assert.ElementsMatch(t, release.Names(), surfaces)

	used := map[string]bool{
		release.Default + "-all/bootstrap.json":   true,
		release.Default + "-gates/columns.json":   true,
		release.Default + "-gates/version.json":   true,
		release.Default + "-gates/discovery.json": true,
		release.Default + "-gates/stored.json":    true,
		release.Default + "-gates/openapi.json":   true,
	}
	older, err := variantsOfOlder(os.DirFS(recordingsDir))
	require.NoError(t, err)
	for _, name := range older {
		for _, file := range []string{"version.json", "bootstrap.json", "columns.json"} {
			used[name+"/"+file] = true
		}
	}
	for _, name := range surfaces {
		for _, file := range []string{"version.json", "discovery.json", "stored.json", "openapi.json", "openapi-v2.json"} {
			used[name+"/"+file] = true
		}
		if !strings.HasSuffix(name, "-all") {
			used[name+"/"+gatesFile] = true
		}
	}
	files, err := fs.Glob(os.DirFS(recordingsDir), "*/*")
	require.NoError(t, err)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(used)), files)
}

// TestGates checks that the recorded gates are those of the source.
func TestGates(t *testing.T) {
	want, err := sourceGates(release.Default)
	require.NoError(t, err)
	have, err := os.ReadFile(filepath.Join(recordingsDir, release.Default, gatesFile))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(have))
}

func TestReplaceFiles(t *testing.T) {
	dir := t.TempDir()
	archive := func(content string) []byte {
		b, err := pack("comment", map[string][]byte{"entry": []byte(content)})
		require.NoError(t, err)
		return b
	}
	for _, step := range []struct {
		name  string
		files map[string][]byte
		want  []string
	}{
		{"new", map[string][]byte{"a/b.txt": []byte("1"), "c.zip": archive("1")}, []string{"a/b.txt", "c.zip"}},
		{"unchanged", map[string][]byte{"a/b.txt": []byte("1"), "c.zip": archive("1")}, nil},
		{"changed", map[string][]byte{"a/b.txt": []byte("2"), "c.zip": archive("2")}, []string{"a/b.txt", "c.zip"}},
	} {
		t.Run(step.name, func(t *testing.T) {
			changed, err := replaceFiles(dir, step.files)
			require.NoError(t, err)
			assert.Equal(t, step.want, changed)
		})
	}
}

func TestDocuments(t *testing.T) {
	document := []byte(`{"openapi":"3.0.0","info":{"description":"d"}}`)
	entry := func(hash, name string) fstest.MapFS {
		return fstest.MapFS{
			"v1.0.0/discovery.json": {},
			"v1.0.0/openapi.json":   {Data: fmt.Appendf(nil, `{"api":{"hash":%q,"document":%q},"apis":{"hash":%q,"document":%q}}`, hash, name, hash, name)},
		}
	}
	const name = "e19baf6ae9ae3d44"
	hash := documentHash(document)
	recordings := entry(hash, name)
	openAPI, described, err := packDocuments(recordings, map[string][]byte{hash: document, "unused": nil})
	require.NoError(t, err)
	data := fstest.MapFS{openAPIFile: {Data: openAPI}, descriptionsFile: {Data: described}}
	bare, err := readArchive(data, openAPIFile)
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{name: []byte(`{"openapi":"3.0.0","info":{}}`)}, bare)
	documents, err := readDocuments(recordings, data)
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{hash: document}, documents)

	for _, row := range []struct {
		name       string
		recordings fs.FS
		documents  map[string][]byte
		pack, read string // errors
	}{
		{"not recorded", recordings, nil, "no document with the hash " + hash, ""},
		{"another name", entry(hash, "x"), map[string][]byte{hash: document}, "document " + name + " has the name x in openapi.json", "openapi.zip has no document x"},
		{"space", entry("h", "x"), map[string][]byte{"h": []byte("{ }")}, "document has insignificant space", "openapi.zip has no document x"},
		{"no descriptions", entry("h", name), map[string][]byte{"h": document}, "", "no descriptions of document h"},
		{"another hash", entry(hash[:100], name), map[string][]byte{hash[:100]: document}, "", "is not the one that was recorded"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, _, err := packDocuments(row.recordings, row.documents)
			if row.pack == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, row.pack)
			}
			_, err = readDocuments(row.recordings, data)
			if row.read == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, row.read)
			}
		})
	}
}
