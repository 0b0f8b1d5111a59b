package firstminutes

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
)

// TestMain runs kubectl if the test binary is called by that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "kubectl" {
		kubectlutil.CheckErr(kubectl.NewDefaultKubectlCommand().Execute())
		return
	}
	os.Exit(m.Run())
}

// race reports whether the test was built with -race. The script then builds with it
// too, to share what they compile.
func race() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}

// The first minutes go well. A section whose tools are missing is a skipped test.
func TestFirstMinutes(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "kubectl")
	require.NoError(t, os.Symlink(self, link))
	cmd := exec.CommandContext(t.Context(), "./run")
	cmd.Env = append(os.Environ(), "KUBECTL="+link)
	if race() {
		cmd.Env = append(cmd.Env, "GOFLAGS="+os.Getenv("GOFLAGS")+" -race")
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if skipped, ok := strings.CutPrefix(lines.Text(), "SKIP "); ok {
			section, reason, _ := strings.Cut(skipped, ": ")
			t.Run(section, func(t *testing.T) { t.Skip(reason) })
		}
	}
}
