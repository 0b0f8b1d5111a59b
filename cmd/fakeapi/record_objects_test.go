//go:build go1.24

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The recorded objects of a cluster pass an upgrade.
func TestRecordObjects(t *testing.T) {
	dir := t.TempDir()
	config, cluster, objects := filepath.Join(dir, "config"), filepath.Join(dir, "cluster.profile"), filepath.Join(dir, "objects")
	real := start(t, "--release", "v1.33", "--kubeconfig", config)
	code, _ := real.do(t, "POST", "/api/v1/namespaces/default/secrets", "", `{"metadata":{"name":"s"},"data":{"a":"aHVudGVyMg=="}}`)
	require.Equal(t, http.StatusCreated, code)
	args := []string{"record", "--profile", "--kubeconfig", config, "--out", cluster, "--objects", objects, "--exclude", "events,flowschemas.flowcontrol.apiserver.k8s.io"}
	assert.Contains(t, runs(t, 0, args...), "objects of "+real.url)
	text, err := os.ReadFile(filepath.Join(objects, "secrets.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "  a: c2NydWJiZWQtMQ==")
	assert.NoFileExists(t, filepath.Join(objects, "flowschemas.flowcontrol.apiserver.k8s.io.yaml"))

	assert.Contains(t, runs(t, 0, "validate", "--profile", cluster, "--from", "1.33", "--to", "1.37", objects), " 0 invalid (v1.33.13, ")
	runs(t, 1, args...) // the folder is not empty
	runs(t, 2, "record", "--objects", objects, "--state", "pods", "--kubeconfig", config)
}

// Large resources have several files.
func TestObjectFolder(t *testing.T) {
	f := objectFolder{dir: t.TempDir(), maxFile: 1 << 10}
	require.NoError(t, f.create())
	for range 3 {
		require.NoError(t, f.write("configmaps", map[string]any{"data": strings.Repeat("a", f.maxFile)}))
	}
	require.NoError(t, f.write("pods", map[string]any{}))
	for _, name := range []string{"../pods", "pods/a", ".."} {
		assert.ErrorContains(t, f.write(name, nil), "cannot be that of a file")
	}
	require.NoError(t, f.close())
	var names []string
	entries, err := os.ReadDir(f.dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{"configmaps-2.yaml", "configmaps-3.yaml", "configmaps.yaml", "pods.yaml"}, names)
	assert.Equal(t, 4, f.files)
}
