package corpus_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/conformance/corpus"
)

// TestRebase makes another release the one of the corpus and then the first one again: neither its
// recordings nor what the other releases differ in is another.
func TestRebase(t *testing.T) {
	const folder = "../testdata"
	base, err := corpus.Read(filepath.Join(folder, "corpus"))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(folder, "releases", "*.yaml"))
	require.NoError(t, err)
	var all []*corpus.Differences
	for _, file := range files {
		d, err := corpus.Load(file)
		require.NoError(t, err)
		all = append(all, d)
	}
	find := func(all []*corpus.Differences, release string) *corpus.Differences {
		for _, d := range all {
			if d.Release == release {
				return d
			}
		}
		t.Fatalf("no differences of %s", release)
		return nil
	}
	other, others, err := corpus.Rebase(base, find(all, "v1.36.3"), all)
	require.NoError(t, err)
	require.Len(t, others, len(all))
	again, differences, err := corpus.Rebase(other, find(others, "v1.37.2"), others)
	require.NoError(t, err)
	require.Len(t, again, len(base))
	for i, r := range base {
		assert.Equal(t, r.Name, again[i].Name)
		assert.YAMLEq(t, string(r.Text), string(again[i].Text), r.Name)
	}
	for _, d := range all {
		want, err := d.Format()
		require.NoError(t, err)
		got, err := find(differences, d.Release).Format()
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), d.Release)
	}
}
