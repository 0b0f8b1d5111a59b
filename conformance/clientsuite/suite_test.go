package clientsuite

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tests of the suite run here with the client-go that this module requires,
// five minor releases behind the newest: the one that package restconfig requires, too,
// so that it is compiled once.

func TestInformers(t *testing.T)      { skipInWorkspace(t); Informers(t) }
func TestPages(t *testing.T)          { skipInWorkspace(t); Pages(t) }
func TestLeaderElection(t *testing.T) { skipInWorkspace(t); LeaderElection(t) }

// skipInWorkspace skips t in a workspace, which selects a newer client-go than
// this module requires. Package clients tests newer ones.
func skipInWorkspace(t *testing.T) {
	t.Helper()
	file, err := exec.CommandContext(t.Context(), "go", "env", "GOWORK").Output()
	require.NoError(t, err)
	if name := string(file); name != "\n" && name != "off\n" {
		t.Skip("a workspace selects a newer client-go: set GOWORK=off")
	}
}
