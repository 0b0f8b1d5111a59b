package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page that is read is the page that is written, and keeps the rows of packages that
// did not run.
func TestPage(t *testing.T) {
	reasons, err := readReasons("reasons.txt")
	require.NoError(t, err)
	const file = "../../docs/upstream-tests.md"
	p, err := readPage(file)
	require.NoError(t, err)
	assert.Greater(t, len(p.packages), 50)
	assert.Greater(t, len(p.failures), 50)
	copied := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, p.write(copied, reasons))
	again, err := readPage(copied)
	require.NoError(t, err)
	assert.Equal(t, p, again)

	const folder = "kubernetes/test/integration/auth"
	auth := func(test string, o outcome) result {
		return result{Module: "k8s.io/kubernetes", Folder: "test/integration/auth", Test: test, Outcome: o}
	}
	packages := len(p.packages)
	p.replace([]result{auth("TestA", passed), auth("TestB", failed), auth("TestC", skipped), auth("TestD", passed)})
	assert.Equal(t, counts{failed: 1, passed: 2, skipped: 1}, p.packages[folder])
	assert.Len(t, p.packages, packages)
	assert.Contains(t, p.failures, folder+".TestB")
	assert.NotContains(t, p.failures, folder+".TestDiscoveryUpgradeBootstrapping")
}
