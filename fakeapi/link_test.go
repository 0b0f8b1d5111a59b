package fakeapi_test

import (
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLink checks that a program without WithStages cannot reach text/template, which may
// call any method by name: the linker would keep the exported methods of all types, a
// seventh of the program.
func TestLink(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	program := filepath.Join(t.TempDir(), "program")
	build := []string{"build", "-o", program}
	if info, _ := debug.ReadBuildInfo(); slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		build = append(build, "-race") // as the packages of this test, which need not be compiled again
	}
	out, err := exec.Command("go", append(build, "./testdata/program")...).CombinedOutput()
	require.NoError(t, err, string(out))
	symbols, err := exec.Command("go", "tool", "nm", program).Output()
	require.NoError(t, err)
	assert.True(t, strings.Contains(string(symbols), " github.com/kubefake/kubefake/fakeapi.New\n"), "symbols of the program")
	assert.False(t, strings.Contains(string(symbols), " text/template.(*Template).Execute\n"), "text/template is linked")
}
