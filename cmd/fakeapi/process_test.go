//go:build unix

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fault of a file kills a process when a ConfigMap is stored.
func TestServeProcess(t *testing.T) {
	dir := t.TempDir()
	ids, faults := filepath.Join(dir, "manager.pid"), filepath.Join(dir, "faults.yaml")
	require.NoError(t, os.WriteFile(faults, []byte(`
- {verb: create, resource: configmaps, at: afterCommit, do: [{signal: {process: manager, signal: SIGKILL}}]}
`), 0o666))
	s := start(t, "--faults", faults, "--process", "manager="+ids)
	process := exec.Command("sleep", "600") // it starts later, as a program does that needs the server
	require.NoError(t, process.Start())
	require.NoError(t, os.WriteFile(ids, []byte(strconv.Itoa(process.Process.Pid)+"\n"), 0o666))

	code, _ := s.do(t, "POST", "/api/v1/namespaces/default/configmaps", "", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
	assert.Equal(t, http.StatusCreated, code)
	require.Error(t, process.Wait())
	assert.Equal(t, syscall.SIGKILL, process.ProcessState.Sys().(syscall.WaitStatus).Signal())
}

func TestSignalProcess(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"a group":           {"-1", `"-1" is not the ID of a process`},
		"the first process": {"1\n", `"1" is not the ID of a process`},
		"text":              {"manager", `"manager" is not the ID of a process`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			require.NoError(t, os.WriteFile(file, []byte(row.text), 0o666))
			assert.ErrorContains(t, signalProcess(file, syscall.SIGKILL), row.want)
		})
	}
	assert.ErrorIs(t, signalProcess(filepath.Join(t.TempDir(), "pid"), syscall.SIGKILL), os.ErrNotExist)
}
