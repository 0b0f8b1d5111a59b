//go:build go1.24

package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each script is complete, and names the program. A shell that is installed parses it.
func TestCompletionScripts(t *testing.T) {
	for _, row := range []struct {
		shell string
		check []string // parses a script without running it
		want  string
	}{
		{"bash", []string{"bash", "-n"}, "complete -o default -F __start_fakeapi fakeapi"},
		{"zsh", []string{"zsh", "-n"}, "#compdef fakeapi"},
		{"fish", []string{"fish", "--no-execute"}, "complete -c fakeapi"},
		{"powershell", nil, "Register-ArgumentCompleter -CommandName 'fakeapi'"},
	} {
		t.Run(row.shell, func(t *testing.T) {
			script := runs(t, 0, "completion", row.shell)
			assert.Contains(t, script, row.want)
			if row.check == nil {
				return
			}
			path, err := exec.LookPath(row.check[0])
			if err != nil {
				t.Skip(err)
			}
			cmd := exec.CommandContext(t.Context(), path, row.check[1:]...)
			cmd.Stdin = strings.NewReader(script)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}

func TestComplete(t *testing.T) {
	for _, row := range []struct {
		name, words string // the last word may be incomplete, and empty if words ends with a space
		want        string
	}{
		{"command", "re", "record\trecord the traffic of a server, or the changes of its objects, to a scenario\nreplay"},
		{"flag", "serve --reen", "--reenact\tmake the changes of the history in FILE"},
		{"values of a flag", "serve --authorization-mode ", "AlwaysAllow\nAlwaysDeny\nABAC\nNode\nRBAC\nWebhook\n:4"},
		{"releases", "play --release v1.3", "v1.36.3\n"},
		{"files", "play ", ":0"},
		{"files of a flag", "serve --objects ", ":0"},
		{"shells", "completion ", "bash\nzsh\nfish\npowershell\n"},
		{"help", "help l", "log\tprint the story of a server"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Contains(t, runs(t, 0, append([]string{"__complete"}, strings.Split(row.words, " ")...)...), row.want)
		})
	}
}
