package conformance

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
	"github.com/kubefake/kubefake/conformance/corpus"
	"github.com/kubefake/kubefake/conformance/pending"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios"
)

// Timeouts for what a scenario waits for: events, and the status of until. A real
// server needs some seconds for work in the background.
const (
	remoteTimeout    = 10 * time.Second
	inProcessTimeout = 2 * time.Second
	pendingTimeout   = 100 * time.Millisecond
)

// TestCorpus plays all recorded scenarios. In process, each scenario gets its own
// server, and scenarios run in parallel.
func TestCorpus(t *testing.T) {
	recordings, err := corpus.Read("testdata/corpus")
	require.NoError(t, err)
	names := make([]string, len(recordings))
	for i, r := range recordings {
		names[i] = r.Name
	}
	if target.Remote() {
		transport := &http.Transport{
			TLSClientConfig:    &tls.Config{InsecureSkipVerify: true},
			DisableCompression: true,
		}
		t.Cleanup(transport.CloseIdleConnections)
		for _, r := range recordings {
			t.Run(r.Name, func(t *testing.T) {
				s, err := r.Decode()
				require.NoError(t, err)
				server := target.Start(t, s.Gates...)
				p := &scenarios.Player{URL: server.URL, Transport: transport, Token: target.AdminToken, Timeout: remoteTimeout, Compact: server.Compact}
				result := p.Play(t.Context(), s)
				assert.False(t, result.Failed(), result)
			})
		}
		return
	}
	list := pending.Load(t, "testdata/pending.txt", names)
	for _, r := range recordings {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			s, err := r.Decode()
			require.NoError(t, err)
			timeout := inProcessTimeout
			if list.Has(r.Name) {
				timeout = pendingTimeout
			}
			failure := ""
			if result := playInProcess(t, s, r.Text, timeout, fakeapi.WithRelease(s.Recorded)); result.Failed() {
				failure = result.String()
			}
			list.Verdict(t, r.Name, failure)
		})
	}
}

// playInProcess plays a scenario, whose source is text, with a clock that does not
// depend on the speed of the machine: managed fields are sorted by their times in
// seconds.
func playInProcess(t *testing.T, s *scenarios.Scenario, text []byte, timeout time.Duration, more ...fakeapi.Option) (result *scenarios.Result) {
	play := func(t *testing.T, options ...fakeapi.Option) *scenarios.Result {
		options = append(append(options, fakeapi.WithInMemory()), more...)
		srv := fakeapi.Start(t, append(options, target.Options(s.Gates...)...)...)
		p := &scenarios.Player{URL: srv.URL, Transport: srv.Transport(), Token: target.AdminToken, Timeout: timeout}
		return p.Play(t.Context(), s)
	}
	switch {
	case bytes.Contains(text, []byte("${webhook}/slow")):
		// The server waits for its clock until the call of the webhook times out.
		return play(t)
	case bytes.Contains(text, []byte("${webhook")):
		// The webhook server uses sockets, which block the clock of a bubble.
		return play(t, fakeapi.WithManualClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	}
	// In a bubble the clock advances only while everything waits for it.
	synctest.Test(t, func(t *testing.T) { result = play(t) })
	return result
}

// TestCorpusNames checks that the names of recordings are unique, as the list of
// pending scenarios requires.
func TestCorpusNames(t *testing.T) {
	recordings, err := corpus.Read("testdata/corpus")
	require.NoError(t, err)
	seen := map[string]string{}
	for _, r := range recordings {
		assert.Empty(t, seen[r.Name], "%s is also in %s", r.Name, r.File)
		seen[r.Name] = r.File
	}
}
