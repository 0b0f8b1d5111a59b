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
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
	"github.com/kubefake/kubefake/conformance/pending"
	"github.com/kubefake/kubefake/scenarios"
)

// How long a scenario waits for what should come. A right server in process
// needs next to nothing of it, a real server some seconds for what it does in
// the background. Scenarios that are expected to fail need not wait.
const (
	realPatience      = 10 * time.Second
	inProcessPatience = 2 * time.Second
	pendingPatience   = 100 * time.Millisecond
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
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
		DisableCompression:  true,
		MaxIdleConnsPerHost: 16,
	}
	t.Cleanup(transport.CloseIdleConnections)
	for _, r := range recordings {
		t.Run(r.name, func(t *testing.T) {
			if !target.Remote() {
				t.Parallel()
			}
			s, err := r.decode()
			require.NoError(t, err)
			play := func() *scenarios.Result {
				server := target.Start(t, s.Gates...)
				p := &scenarios.Player{URL: server.URL, Transport: transport, Token: target.AdminToken, Patience: inProcessPatience}
				switch {
				case target.Remote():
					p.Patience, p.Compact = realPatience, server.Compact
				case list.Has(r.name):
					p.Patience = pendingPatience
				}
				return p.Play(t.Context(), s)
			}
			begun := time.Now().Unix()
			result := play()
			if result.Failed() && !target.Remote() && time.Now().Unix() != begun {
				// Managed fields are in the order of their times, which are whole
				// seconds: one that ends amid a scenario may be what differs.
				result = play()
			}
			failure := ""
			if result.Failed() {
				failure = result.String()
			}
			list.Verdict(t, r.name, failure)
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

// A recording is a scenario still in its text. The corpus is some five
// megabytes, so a recording is decoded only by the test that plays it.
type recording struct {
	name string // area/name
	file string
	text []byte
}

// decode reads the scenario.
func (r recording) decode() (*scenarios.Scenario, error) {
	f, err := scenarios.Parse(r.file, r.text)
	if err != nil {
		return nil, err
	}
	if len(f.Scenarios) != 1 || f.Scenarios[0].String() != r.name {
		return nil, fmt.Errorf("%s: %s is not one scenario", r.file, r.name)
	}
	return f.Scenarios[0], nil
}

// An unindented line of a block mapping can only be one of its own keys.
var (
	areaLine = regexp.MustCompile(`(?m)^area: (\S+)$`)
	nameLine = regexp.MustCompile(`(?m)^name: (\S+)$`)
)

// readCorpus lists the recordings under dir in the order of their files.
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
