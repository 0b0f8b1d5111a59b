package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
)

// TestData checks that package data has the files that this program generates,
// and no others. The contents of zip archives are compared, not their bytes: how
// well they are compressed depends on the Go release.
func TestData(t *testing.T) {
	require.NoError(t, checkRequirements())
	archive, err := os.ReadFile(filepath.Join(dataDir, openAPIFile))
	require.NoError(t, err)
	documents, err := readDocuments(archive)
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
		release.Default + "-all/bootstrap.json": true,
		release.Default + "-gates/columns.json": true,
		release.Default + "-gates/version.json": true,
	}
	for _, name := range surfaces {
		for _, file := range []string{"version.json", "discovery.json", "stored.json", "openapi.json"} {
			used[name+"/"+file] = true
		}
	}
	files, err := fs.Glob(os.DirFS(recordingsDir), "*/*")
	require.NoError(t, err)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(used)), files)
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

func TestWithoutDescriptions(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"member", `{"b": 1, "description": "x", "a": [true, null]}`, `{"b":1,"a":[true,null]}`},
		{"property of that name", `{"properties":{"description":{"type":"string","description":"x"}}}`, `{"properties":{"description":{"type":"string"}}}`},
		{"only member", `[{"description":"x"},1.50]`, `[{},1.50]`},
		{"special characters", `{"a":"<é\"&>"}`, `{"a":"<é\"&>"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := withoutDescriptions([]byte(row.in))
			require.NoError(t, err)
			assert.Equal(t, row.want, string(got))
		})
	}
	for _, in := range []string{"", `{"a"`, `{"a":1`, `[1`} {
		_, err := withoutDescriptions([]byte(in))
		assert.Error(t, err, in)
	}
}

func TestReadDocuments(t *testing.T) {
	document := []byte(`{"openapi":"3.0.0"}`)
	archive, err := packDocuments(map[string][]byte{documentID(document): document, "unused": nil}, []string{documentID(document)}, []string{"v1.0.0"})
	require.NoError(t, err)
	documents, err := readDocuments(archive)
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{"19c26227fd88ecdb": document}, documents)

	_, err = packDocuments(nil, []string{"x"}, nil)
	assert.EqualError(t, err, "no document x")
	archive, err = pack("", map[string][]byte{"x": document})
	require.NoError(t, err)
	_, err = readDocuments(archive)
	assert.EqualError(t, err, "openapi.zip: entry x is not the document that was recorded")
}
