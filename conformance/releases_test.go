package conformance

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
	"github.com/kubefake/kubefake/conformance/corpus"
	"github.com/kubefake/kubefake/conformance/pending"
	"github.com/kubefake/kubefake/fakeapi"
)

// TestReleases plays the recordings of other releases in process: the corpus with the
// differences in testdata/releases.
func TestReleases(t *testing.T) {
	if target.Remote() {
		t.Skip("the server has one release")
	}
	recordings, err := corpus.Read("testdata/corpus")
	require.NoError(t, err)
	files, err := filepath.Glob("testdata/releases/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var names []string
	var releases []*corpus.Differences
	for _, file := range files {
		d, err := corpus.Load(file)
		require.NoError(t, err)
		releases = append(releases, d)
		for _, r := range recordings {
			names = append(names, d.Release+"/"+r.Name)
		}
	}
	list := pending.Load(t, "testdata/releases-pending.txt", names)
	for _, d := range releases {
		t.Run(d.Release, func(t *testing.T) {
			for _, r := range recordings {
				name := d.Release + "/" + r.Name
				r, ok, err := d.Apply(r)
				require.NoError(t, err)
				if !ok {
					continue
				}
				t.Run(r.Name, func(t *testing.T) {
					t.Parallel()
					s, err := r.Decode()
					require.NoError(t, err)
					timeout := inProcessTimeout
					if list.Has(name) {
						timeout = pendingTimeout
					}
					failure := ""
					if result := playInProcess(t, s, r.Text, timeout, fakeapi.WithRelease(d.Release)); result.Failed() {
						failure = result.String()
					}
					list.Verdict(t, name, failure)
				})
			}
		})
	}
}

// TestDifferences checks that the differences of a release, applied to the corpus, are
// what they were made of.
func TestDifferences(t *testing.T) {
	recording := func(text string) []corpus.Recording {
		return []corpus.Recording{{Name: "a/b", Text: []byte("area: a\nname: b\nsteps:\n" + text)}}
	}
	base := recording(`
- {do: GET /x, want: {status: 200, body: {a: 1, "c/d": {e: f}, gone: true, list: [1, 2], long: [1]}}}
- {do: GET /y, want: {status: 200}}`)
	other := recording(`
- {do: GET /x, want: {status: 404, body: {a: 1, "c/d": {e: g}, new: 12345678901234567890, list: [1, 3], long: [1, 2]}}}
- {do: GET /y, want: {status: 200}}`)
	d, err := corpus.Compare(base, other, "v1.0.0")
	require.NoError(t, err)
	require.Len(t, d.Answers["a/b"], 1)
	assert.Len(t, d.Answers["a/b"][0].Set, 5)
	assert.Equal(t, []string{"/body/gone"}, d.Answers["a/b"][0].Remove)

	got, ok, err := d.Apply(base[0])
	require.NoError(t, err)
	require.True(t, ok)
	again, err := corpus.Compare([]corpus.Recording{got}, other, "v1.0.0")
	require.NoError(t, err)
	assert.Empty(t, again.Answers)

	d, err = corpus.Compare(base, recording("\n- {do: GET /z, want: {status: 200}}"), "v1.0.0")
	require.NoError(t, err)
	assert.Equal(t, []string{"a/b"}, d.Without, "a scenario with other requests")
}
