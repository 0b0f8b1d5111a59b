//go:build go1.25

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubefake/kubefake/internal/release/modules"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVersions(t *testing.T) {
	for _, row := range []struct {
		version    string
		valid      bool
		minor      string
		number     int
		staging    string
		extensions string
	}{
		{"v1.37.2", true, "v1.37", 37, "v0.37.2", "k8s.io/apiextensions-apiserver"},
		{"v1.38.0", true, "v1.38", 38, "v0.38.0", "k8s.io/apiextensions-api"},
		{"v1.38.0-rc.0", true, "v1.38", 38, "v0.38.0-rc.0", "k8s.io/apiextensions-api"},
		{"v1.38.0-beta.1", true, "v1.38", 38, "v0.38.0-beta.1", "k8s.io/apiextensions-api"},
		{"1.38.0", false, "", 0, "", ""},
		{"v1.38", false, "", 0, "", ""},
		{"v1.38.0-all", false, "", 0, "", ""},
	} {
		t.Run(row.version, func(t *testing.T) {
			require.Equal(t, row.valid, versionPattern.MatchString(row.version))
			if row.valid {
				assert.Equal(t, row.minor, minorOf(row.version))
				assert.Equal(t, row.number, modules.Minor(row.version))
				assert.Equal(t, row.staging, modules.Staging(row.version))
				assert.Equal(t, row.extensions, modules.Extensions(row.version))
			}
		})
	}
}

// TestRemoveOtherPatches removes what is recorded of other versions of a minor release.
func TestRemoveOtherPatches(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{
		"v1.37.2.txt", "v1.37.2-all.txt", "v1.38.0-rc.0.txt", "v1.38.0-rc.0-all.txt", "v1.38.0.txt", "v1.38.0-all.txt",
	} {
		writeFile(t, filepath.Join(surfacesDir, name), "")
	}
	for _, name := range []string{"v1.37.2", "v1.37.2-all", "v1.38.0-rc.0", "v1.38.0-rc.0-gates", "v1.38.0", "v1.38.0-gates"} {
		writeFile(t, filepath.Join(recordingsDir, name, "version.json"), "")
	}
	writeFile(t, differencesFile("v1.38.0-rc.0"), "")
	previous, err := previousOf("v1.38.0")
	require.NoError(t, err)
	assert.Equal(t, "v1.37.2", previous)

	require.NoError(t, removeOtherPatches("v1.38.0"))
	assert.Equal(t, []string{"v1.37.2-all.txt", "v1.37.2.txt", "v1.38.0-all.txt", "v1.38.0.txt"}, names(t, surfacesDir))
	assert.Equal(t, []string{"v1.37.2", "v1.37.2-all", "v1.38.0", "v1.38.0-gates"}, names(t, recordingsDir))
	assert.NoFileExists(t, differencesFile("v1.38.0-rc.0"))

	require.NoError(t, removeOtherPatches("v1.38.1"))
	assert.Equal(t, []string{"v1.37.2-all.txt", "v1.37.2.txt"}, names(t, surfacesDir))
	assert.Equal(t, []string{"v1.37.2", "v1.37.2-all"}, names(t, recordingsDir))
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestWithoutRelease(t *testing.T) {
	for _, row := range []struct {
		name, line, want string
		kept             bool
	}{
		{"marker", "# from the help of Kubernetes v1.32.13, Kubernetes v1.33.13", "# from the help of Kubernetes v1.33.13", true},
		{"in others", "kube-apiserver a string 1.32 1.33", "kube-apiserver a string 1.33", true},
		{"only there", "kube-apiserver a string 1.32", "kube-apiserver a string", false},
		{"etcd", "etcd a string", "etcd a string", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, kept := withoutRelease(row.line, "v1.32.13")
			assert.Equal(t, row.want, got)
			assert.Equal(t, row.kept, kept)
		})
	}
}

func TestChangedDeclarations(t *testing.T) {
	old, now := t.TempDir(), t.TempDir()
	write := func(module, file, text string) {
		writeFile(t, filepath.Join(module, "pkg/apis", file), "package p\n"+text)
	}
	write(old, "a/a.go", "// Old.\nfunc Same() {}\nfunc (x *T[K]) M() {}\ntype T[K any] struct{}\nconst gone = 1\n")
	write(now, "a/a.go", "import _ \"fmt\"\n// New.\nfunc Same() {}\nfunc (x *T[K]) M() { return }\ntype T[K any] struct{}\nvar added = 1\n")
	write(old, "a/comment.go", "// Old.\n")
	write(now, "a/comment.go", "// New.\n")
	write(old, "gone.go", "func F() {}\n")
	write(now, "zz_generated.deepcopy.go", "func DeepCopy() {}\n")
	write(now, "zz_generated.validations.go", "func Validate() {}\n")
	write(now, "a/a_test.go", "func TestX() {}\n")
	got, err := changedDeclarations(old, now, "pkg/apis")
	require.NoError(t, err)
	assert.Equal(t, map[string][]string{
		"pkg/apis/a/a.go":                      {"T.M", "+added", "-gone"},
		"pkg/apis/gone.go":                     {"-F"},
		"pkg/apis/zz_generated.validations.go": {"+Validate"},
	}, got)
}

func TestReadFailures(t *testing.T) {
	const output = `{"Action":"run","Test":"TestReleases"}
{"Action":"output","Test":"TestReleases/v1.38.0/pods/create","Output":"    pods/create\n"}
{"Action":"output","Test":"TestReleases/v1.38.0/pods/create","Output":"        body.spec: want 1, got 2\n"}
{"Action":"output","Test":"TestReleases/v1.38.0/pods/create","Output":"        body.status: want 1, got 2\n"}
{"Action":"fail","Test":"TestReleases/v1.38.0/pods/create"}
{"Action":"pass","Test":"TestReleases/v1.38.0/pods/delete"}
{"Action":"skip","Test":"TestReleases/v1.38.0/crd/pending"}
{"Action":"fail","Test":"TestReleases/v1.38.0"}
{"Action":"fail","Test":"TestReleases"}
`
	failures, played, err := readFailures([]byte(output))
	require.NoError(t, err)
	assert.Equal(t, 3, played)
	assert.Equal(t, []failure{{"crd/pending", ""}, {"pods/create", "body.spec: want 1, got 2"}}, failures)
}

func TestChanges(t *testing.T) {
	old := map[string]string{"same": "1", "changed": "a 1 b", "longer": "a", "gone": "1"}
	now := map[string]string{"same": "1", "changed": "a 2 b", "longer": "a b", "added": "1"}
	assert.Equal(t, map[string]string{"changed": "`2`, before `1`", "longer": "`a b`, before `a`", "gone": "gone", "added": "new"}, changes(old, now))
}
