package conformance

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
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
	recordings, err := readCorpus("testdata/corpus")
	require.NoError(t, err)
	names := make([]string, len(recordings))
	for i, r := range recordings {
		names[i] = r.name
	}
	if target.Remote() {
		transport := &http.Transport{
			TLSClientConfig:    &tls.Config{InsecureSkipVerify: true},
			DisableCompression: true,
		}
		t.Cleanup(transport.CloseIdleConnections)
		for _, r := range recordings {
			t.Run(r.name, func(t *testing.T) {
				s, err := r.decode()
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
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s, err := r.decode()
			require.NoError(t, err)
			timeout := inProcessTimeout
			if list.Has(r.name) {
				timeout = pendingTimeout
			}
			failure := ""
			if result := playInProcess(t, s, r.text, timeout); result.Failed() {
				failure = result.String()
			}
			list.Verdict(t, r.name, failure)
		})
	}
}

// playInProcess plays a scenario, whose source is text, with a clock that does not
// depend on the speed of the machine: managed fields are sorted by their times in
// seconds.
func playInProcess(t *testing.T, s *scenarios.Scenario, text []byte, timeout time.Duration) (result *scenarios.Result) {
	play := func(t *testing.T, options ...fakeapi.Option) *scenarios.Result {
		options = append(options, fakeapi.WithInMemory())
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
	recordings, err := readCorpus("testdata/corpus")
	require.NoError(t, err)
	seen := map[string]string{}
	for _, r := range recordings {
		assert.Empty(t, seen[r.name], "%s is also in %s", r.name, r.file)
		seen[r.name] = r.file
	}
}

// A recording is the text of a scenario. The corpus is about five megabytes, so only
// the test that plays a recording decodes it.
type recording struct {
	name string // area/name
	file string
	text []byte
}

// decode parses the scenario.
func (r recording) decode() (*scenarios.Scenario, error) {
	f, err := scenarios.Parse(r.file, r.text)
	if err != nil {
		return nil, err
	}
	if len(f.Scenarios) != 1 || f.Scenarios[0].String() != r.name {
		return nil, fmt.Errorf("%s: %s is not exactly one scenario", r.file, r.name)
	}
	return f.Scenarios[0], nil
}

// Lines that are not indented are keys of the scenario.
var (
	areaLine = regexp.MustCompile(`(?m)^area: (\S+)$`)
	nameLine = regexp.MustCompile(`(?m)^name: (\S+)$`)
)

// readCorpus returns the recordings in dir in the order of their files.
func readCorpus(dir string) ([]recording, error) {
	var all []recording
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, text := range bytes.Split(b, []byte("\n---\n")) {
			area, name := areaLine.FindSubmatch(text), nameLine.FindSubmatch(text)
			if area == nil || name == nil {
				return fmt.Errorf("%s: document %d has no area and name", path, i)
			}
			all = append(all, recording{
				name: string(area[1]) + "/" + string(name[1]),
				file: path,
				text: text,
			})
		}
		return nil
	})
	return all, err
}
