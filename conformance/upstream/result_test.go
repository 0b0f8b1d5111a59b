package main

import (
	"os"
	"path/filepath"
	"strings"
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
	assert.NotContains(t, p.failures, folder+".TestMultiWebhookAuthzConfig")
}

func TestReadReasons(t *testing.T) {
	for _, row := range []struct{ name, text, err string }{
		{"sections", "# Comment\n[http]\na.TestA: one: two\n\n[process]\na.TestB: three\n[timing]\na.TestC: four\n", ""},
		{"no section", "a.TestA: one\n", "reasons.txt:1: "},
		{"twice", "[http]\na.TestA: one\n[process]\na.TestA: two\n", "reasons.txt:4: "},
		{"no reason", "[http]\na.TestA\n", "reasons.txt:2: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("reasons.txt", []byte(row.text), 0o644))
			reasons, err := readReasons("reasons.txt")
			if row.err != "" {
				assert.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, map[string]reason{
				"a.TestA": {text: "one: two", http: true}, "a.TestB": {text: "three"}, "a.TestC": {text: "four", http: true, atTimes: true},
			}, reasons)
		})
	}
}

// The results of specs are those that ran; a failure of the suite's set-up is an error.
func TestSpecResults(t *testing.T) {
	spec := func(node, text, state, took string) string {
		return `{"ContainerHierarchyTexts":["[sig-a] Things"],"LeafNodeType":"` + node + `","LeafNodeText":"` + text + `","State":"` + state + `","RunTime":` + took + `}`
	}
	report := func(specs ...string) []byte { return []byte(`[{"SpecReports":[` + strings.Join(specs, ",") + `]}]`) }
	results, err := kubernetes.specResults(report(
		spec("SynchronizedBeforeSuite", "", "passed", "1"), spec("It", "work 1.17", "passed", "5"), spec("It", "break", "panicked", "5"),
		spec("It", "need more", "skipped", "5"), spec("It", "are not in focus", "skipped", "0"), spec("It", "are not written", "pending", "0")))
	require.NoError(t, err)
	of := func(test string, o outcome) result {
		return result{Module: "k8s.io/kubernetes", Folder: "test/e2e", Test: "[sig-a] Things " + test, Outcome: o}
	}
	assert.Equal(t, []result{of("work 1.17", passed), of("break", failed), of("need more", skipped)}, results)
	assert.Equal(t, specsRow, folderOf(results[0].name()))

	_, err = kubernetes.specResults(report(spec("SynchronizedBeforeSuite", "", "failed", "1")))
	assert.ErrorContains(t, err, "SynchronizedBeforeSuite")
}
