package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
	"github.com/kubefake/kubefake/conformance/pending"
)

// TestCorpus plays every recorded scenario. In process each has a server of its
// own, so that none sees what another leaves behind, and several play at once.
func TestCorpus(t *testing.T) {
	recordings, err := readCorpus("testdata/corpus")
	require.NoError(t, err)
	names := make([]string, len(recordings))
	for i, r := range recordings {
		names[i] = r.name
	}
	list := &pending.List{}
	if !target.Remote() {
		list = pending.Load(t, "testdata/pending.txt", names)
	}
	hooks := startWebhooks(t)
	client := newHTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	for _, r := range recordings {
		t.Run(r.name, func(t *testing.T) {
			if !target.Remote() {
				t.Parallel()
			}
			s, err := r.decode()
			require.NoError(t, err)
			require.Equal(t, r.name, s.Area+"/"+s.Name)
			server := target.Start(t, s.Gates...)
			wait := inProcessPatience
			switch {
			case target.Remote():
				wait = realPatience
			case list.Has(r.name):
				wait = littlePatience
			}
			begun := time.Now().Unix()
			failures, err := play(s, server, client, hooks, wait)
			if len(failures) > 0 && !target.Remote() && time.Now().Unix() != begun {
				// Managed fields are in the order of their times, which are whole
				// seconds: one that ends amid a scenario may be what differs.
				s, err = r.decode()
				require.NoError(t, err)
				failures, err = play(s, target.Start(t, s.Gates...), client, hooks, wait)
			}
			if err != nil {
				failures = append(failures, err.Error())
			}
			list.Verdict(t, r.name, strings.Join(failures, "\n"))
		})
	}
}

// TestCorpusNames guards what the list of pending scenarios relies on.
func TestCorpusNames(t *testing.T) {
	recordings, err := readCorpus("testdata/corpus")
	require.NoError(t, err)
	seen := map[string]string{}
	for _, r := range recordings {
		assert.Empty(t, seen[r.name], "%s is in %s too", r.name, r.file)
		seen[r.name] = r.file
	}
}
