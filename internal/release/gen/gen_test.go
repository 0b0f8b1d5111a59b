package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/modules"
)

// TestData checks that package data has the files that this program generates,
// and no others. The contents of zip archives are compared, not their bytes: how
// well they are compressed depends on the Go release.
func TestData(t *testing.T) {
	require.NoError(t, checkRequirements(release.Newest))
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

	used := map[string]bool{}
	for _, name := range surfaces {
		for _, file := range []string{"version.json", "discovery.json", "stored.json", "openapi.json", "openapi-v2.json"} {
			used[name+"/"+file] = true
		}
		version, isAll := strings.CutSuffix(name, "-all")
		if !isAll {
			used[name+"/"+gatesFile], used[name+"/"+unversionedFile] = true, true
			continue
		}
		used[name+"/bootstrap.json"] = true
		if gated := gatedRecording(os.DirFS(recordingsDir), name); gated != "" {
			for _, file := range []string{"version.json", "discovery.json", "stored.json", "openapi.json"} {
				used[gated+"/"+file] = true
			}
		}
		used[columnsFolder(os.DirFS(recordingsDir), version)+"/columns.json"] = true
	}
	typed, err := fs.Glob(os.DirFS(recordingsDir), "*/"+typesFile)
	require.NoError(t, err)
	for _, file := range typed {
		used[file] = true
	}
	files, err := fs.Glob(os.DirFS(recordingsDir), "*/*")
	require.NoError(t, err)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(used)), files)
}

// TestTypes checks that the recorded types are those that this program is built with.
func TestTypes(t *testing.T) {
	require.NoError(t, checkRequirements(release.Newest))
	want, err := recordedTypes(release.Newest)
	require.NoError(t, err)
	for name, content := range want {
		have, err := os.ReadFile(filepath.Join(recordingsDir, release.Newest, name))
		require.NoError(t, err)
		assert.Equal(t, string(content), string(have), "%s; run: go -C internal/release/gen run .", name)
	}
	parsed := parseTypes(want[typesFile])
	assert.Equal(t, newestTypes(), parsed)
	assert.True(t, parsed.recognizes(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}))
	assert.False(t, parsed.recognizes(schema.GroupVersionKind{Version: "v1", Kind: "PodSpec"}), "a type that is no kind")
	assert.False(t, parsed.recognizes(schema.GroupVersionKind{Group: "shop", Version: "v1", Kind: "Pod"}))
}

// TestGroupVersions checks that package scheme has the packages of the newest release.
func TestGroupVersions(t *testing.T) {
	text, err := os.ReadFile("scheme/groupversions.go")
	require.NoError(t, err)
	assert.Contains(t, string(text), "from the modules of Kubernetes "+release.Newest+".")
	dirs, err := modules.Dirs(context.Background(), "k8s.io/api@"+modules.Staging(release.Newest))
	require.NoError(t, err)
	files, err := fs.Glob(os.DirFS(dirs["k8s.io/api"]), "*/v*/register.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if pkg := path.Dir(file); pkg != "apidiscovery/v2beta1" {
			assert.Contains(t, string(text), `"k8s.io/api/`+pkg+`"`, "run: go run ./internal/release/add -steps types "+release.Newest)
		}
	}
}

// TestWithoutChance checks that recordings of two servers have the same objects.
func TestWithoutChance(t *testing.T) {
	item := func(uid, version, time, date, manager, port string) []byte {
		return []byte(`{"uid":"` + uid + `","resourceVersion":"` + version + `","creationTimestamp":"` + time + `","since":"` + date +
			`","manager":"` + manager + `","ports":[{"port":443,"targetPort":` + port + `},{"port":` + port + `}]}`)
	}
	one := withoutChance(item("9d3f2c1e-0000-4000-8000-123456789abc", "7", "2026-11-24T10:00:00Z", "2026-11-24", "kube-apiserver-1.37", "16449"), "16449")
	two := withoutChance(item("1d3f2c1e-0000-4000-8000-123456789abc", "19", "2026-11-29T00:16:00Z", "2026-11-29", "kube-apiserver", "44443"), "44443")
	assert.Equal(t, string(one), string(two))
	assert.Contains(t, string(one), `"port":443,"targetPort":6443},{"port":6443}`)
}

// TestOlderThan checks what is kept of the types of an older release.
func TestOlderThan(t *testing.T) {
	older := apiTypes{entries: map[string][]byte{
		indexFile: []byte("a/v1 a\nb/v1 b\n"),
		"a":       []byte("struct Changed kind\n x string -\nstruct Gone\ntype Same string\n"),
		"b":       []byte("struct Removed kind\n"),
	}}
	next := apiTypes{entries: map[string][]byte{
		indexFile: []byte("a/v1 a\nc/v1 c\n"),
		"a":       []byte("struct Added\nstruct Changed kind\n x string -\n y string e\ntype Same string\n"),
		"c":       []byte("struct New kind\n"),
	}}
	got := map[string]string{}
	for name, text := range older.olderThan(next) {
		got[name] = string(text)
	}
	assert.Equal(t, map[string]string{
		indexFile: "b/v1 b\nabsent c/v1\n",
		"a":       "struct Changed kind\n x string -\nstruct Gone\nabsent Added\n",
		"b":       "struct Removed kind\n",
	}, got)
	assert.Empty(t, next.olderThan(next))
}

// TestFieldSince checks which release has a field first: the oldest recorded one with the
// type counts as none.
func TestFieldSince(t *testing.T) {
	type fields = map[string]bool
	releases := map[int]map[string]map[string]bool{
		32: {"T": fields{"old": true}},
		33: {"T": fields{"old": true, "added": true}, "U": fields{"first": true}},
		34: {"T": fields{"old": true}},
	}
	assert.Equal(t, 0, fieldSince(releases, "T", "old"))
	assert.Equal(t, 33, fieldSince(releases, "T", "added"), "it is gone again later")
	assert.Equal(t, 0, fieldSince(releases, "U", "first"))
}

// TestGates checks that the recorded gates are those of the source.
func TestGates(t *testing.T) {
	want, err := sourceGates(release.Newest)
	require.NoError(t, err)
	have, err := os.ReadFile(filepath.Join(recordingsDir, release.Newest, gatesFile))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(have))
}

// TestGatesText checks that the gates of a pre-release are those of its minor release.
func TestGatesText(t *testing.T) {
	got, err := gatesText(fstest.MapFS{
		"v1.37.2/discovery.json":          {},
		"v1.37.2/gates.txt":               {Data: []byte("A ALPHA=false\nB BETA=true\n")},
		"v1.38.0-rc.0/discovery.json":     {},
		"v1.38.0-rc.0/gates.txt":          {Data: []byte("A BETA=true\n")},
		"v1.38.0-rc.0-all/discovery.json": {},
	})
	require.NoError(t, err)
	_, lines, _ := strings.Cut(string(got), "\n")
	assert.Equal(t, "A 1.37:ALPHA=false 1.38:BETA=true\nB 1.37:BETA=true 1.38:-\n", lines)
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
