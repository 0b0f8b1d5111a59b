//go:build go1.24

package kubeconfig

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A plugin with a path is found beside the kubeconfig, also if that is in the working directory:
// never in PATH.
func TestPluginBesideTheFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a shell script")
	}
	dir, elsewhere := t.TempDir(), t.TempDir()
	script := func(dir, token string) {
		text := "#!/bin/sh\necho '{\"status\":{\"token\":\"" + token + "\"}}'\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "plugin"), []byte(text), 0o700))
	}
	script(dir, "beside")
	script(elsewhere, "path")
	t.Setenv("PATH", elsewhere+":"+os.Getenv("PATH"))
	t.Chdir(dir)
	text := "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n" +
		"users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: COMMAND}}}]\n"
	for command, want := range map[string]string{"./plugin": "beside", "plugin": "path"} {
		require.NoError(t, os.WriteFile("config", []byte(strings.Replace(text, "COMMAND", command, 1)), 0o600))
		c, err := Load(context.Background(), "config", "")
		require.NoError(t, err)
		assert.Equal(t, want, c.Token, command)
	}
}
