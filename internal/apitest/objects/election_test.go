package objects_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

const (
	electedLeases   = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	leaseCandidates = "/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates"
)

var electionStart = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

func electing(on bool) fakeapi.Option {
	return fakeapi.WithAPIServer(apiserver.Config{
		FeatureGates:  map[string]bool{"CoordinatedLeaderElection": on},
		RuntimeConfig: map[string]bool{"coordination.k8s.io/v1beta1": true},
	})
}

func electionTime(after time.Duration) string {
	return electionStart.Add(after).Format("2006-01-02T15:04:05.000000Z")
}

// candidate is a LeaseCandidate for the Lease l, renewed some time after electionStart.
func candidate(name, emulation, binary, strategy string, renewed time.Duration) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"leaseName":"l","emulationVersion":%q,"binaryVersion":%q,"strategy":%q,"renewTime":%q}}`,
		name, emulation, binary, strategy, electionTime(renewed))
}

// The server elects the best of the candidates of a Lease, by what the test does.
func TestCoordinatedLeaderElection(t *testing.T) {
	const oldest, custom = "OldestEmulationVersion", "example.com/mine"
	type write struct{ method, path, body string }
	create := func(name, emulation, binary, strategy string) write {
		return write{"POST", leaseCandidates, candidate(name, emulation, binary, strategy, 0)}
	}
	patchLease := func(spec string) write { return write{"PATCH", electedLeases + "/l", `{"spec":` + spec + `}`} }
	held := func(by string) write {
		return write{"POST", electedLeases, `{"metadata":{"name":"l"},"spec":{"holderIdentity":"` + by + `","leaseDurationSeconds":60,"renewTime":"` + electionTime(0) + `"}}`}
	}
	for _, row := range []struct {
		name   string
		writes []write
		want   map[string]any // the spec of the Lease; nil if there is none
	}{
		{"one candidate", []write{create("a", "1.20.0", "1.20.0", oldest)},
			map[string]any{"holderIdentity": "a", "strategy": oldest, "leaseDurationSeconds": float64(5), "renewTime": electionTime(0)}},
		{"older emulation version", []write{create("a", "1.20.0", "1.20.0", oldest), create("b", "1.19.0", "1.20.0", oldest)},
			map[string]any{"holderIdentity": "a", "preferredHolder": "b", "strategy": oldest, "leaseDurationSeconds": float64(5), "renewTime": electionTime(0)}},
		{"older binary version", []write{held("z"), create("a", "1.19.0", "1.20.0", oldest), create("b", "1.19.0", "1.19.0", oldest)},
			map[string]any{"holderIdentity": "z", "preferredHolder": "b", "strategy": oldest, "leaseDurationSeconds": float64(60), "renewTime": electionTime(0)}},
		{"holder that resigns", []write{create("a", "1.20.0", "1.20.0", oldest), create("b", "1.19.0", "1.20.0", oldest), patchLease(`{"holderIdentity":""}`)},
			map[string]any{"holderIdentity": "b", "strategy": oldest, "leaseDurationSeconds": float64(5), "renewTime": electionTime(0)}},
		{"strategy of others", []write{create("a", "1.20.0", "1.20.0", custom)},
			map[string]any{"strategy": custom, "leaseDurationSeconds": float64(5), "renewTime": electionTime(0)}},
		{"strategies that differ", []write{held("z"), create("a", "1.20.0", "1.20.0", oldest), create("b", "1.20.0", "1.20.0", custom)},
			map[string]any{"holderIdentity": "z", "preferredHolder": "a", "strategy": oldest, "leaseDurationSeconds": float64(60), "renewTime": electionTime(0)}},
		{"strategy of the newest binary version", []write{create("a", "1.20.0", "1.20.0", custom), create("b", "1.20.0", "1.21.0", oldest)},
			map[string]any{"holderIdentity": "a", "strategy": oldest, "leaseDurationSeconds": float64(5), "renewTime": electionTime(0)}},
		{"Lease that has been deleted", []write{create("a", "1.20.0", "1.20.0", oldest), {"DELETE", electedLeases + "/l", ""}},
			map[string]any{"holderIdentity": "a", "strategy": oldest, "leaseDurationSeconds": float64(5), "renewTime": electionTime(0)}},
		{"no candidate", []write{create("a", "1.20.0", "1.20.0", oldest), {"DELETE", leaseCandidates + "/a", ""}, {"DELETE", electedLeases + "/l", ""}}, nil},
		{"candidate of the past that has not answered", []write{{"POST", leaseCandidates, strings.Replace(candidate("a", "1.20.0", "1.20.0", oldest, -2*time.Hour), `"spec":{`, `"spec":{"pingTime":"`+electionTime(-time.Hour)+`",`, 1)}}, nil},
		{"candidate of the past", []write{{"POST", leaseCandidates, candidate("a", "1.20.0", "1.20.0", oldest, -time.Hour)}}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(electionStart), electing(true))
			for _, w := range row.writes {
				code, answer := apitest.Do(t, srv, w.method, w.path, w.body)
				require.Less(t, code, 300, "%v", answer)
			}
			_, lease := apitest.Do(t, srv, "GET", electedLeases+"/l", "")
			spec, _ := lease["spec"].(map[string]any)
			assert.Equal(t, row.want, spec)
			if row.want == nil {
				_, list := apitest.Do(t, srv, "GET", leaseCandidates, "")
				assert.Empty(t, list["items"])
			}
		})
	}
}

// Candidates whose renewal is old are pinged, and have five seconds to answer.
func TestPingOfLeaseCandidates(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(electionStart), electing(true))
	spec := func(path string) map[string]any {
		_, obj := apitest.Do(t, srv, "GET", path, "")
		spec, _ := obj["spec"].(map[string]any)
		return spec
	}
	for _, body := range []string{
		candidate("a", "1.20.0", "1.20.0", "OldestEmulationVersion", 0),
		candidate("b", "1.19.0", "1.19.0", "OldestEmulationVersion", 0),
	} {
		code, _ := apitest.Do(t, srv, "POST", leaseCandidates, body)
		require.Equal(t, 201, code)
	}
	for _, step := range []struct {
		name    string
		advance time.Duration
		answer  string // the candidate that is renewed
		pings   []any  // of a and b
		holder  any
		renewed any // the renewTime of the Lease
	}{
		{"nothing to elect while the Lease is valid", 4 * time.Second, "", []any{nil, nil}, "a", electionTime(0)},
		{"the Lease expires", 6 * time.Second, "", []any{electionTime(10 * time.Second), electionTime(10 * time.Second)}, "a", electionTime(0)},
		{"a answers, and b has time", 2 * time.Second, "a", []any{electionTime(10 * time.Second), electionTime(10 * time.Second)}, "a", electionTime(0)},
		{"b does not answer: the Lease of a holder that does not renew it", 4 * time.Second, "a", []any{electionTime(10 * time.Second), electionTime(10 * time.Second)}, "a", electionTime(0)},
		{"b answers late", time.Second, "b", []any{electionTime(10 * time.Second), electionTime(10 * time.Second)}, "b", electionTime(17 * time.Second)},
	} {
		t.Run(step.name, func(t *testing.T) {
			require.NoError(t, srv.Clock().Advance(step.advance))
			if step.answer != "" {
				renewed := srv.Clock().Now().Format("2006-01-02T15:04:05.000000Z")
				code, _ := apitest.Do(t, srv, "PATCH", leaseCandidates+"/"+step.answer, `{"spec":{"renewTime":"`+renewed+`"}}`)
				require.Equal(t, 200, code)
			}
			lease := spec(electedLeases + "/l")
			assert.Equal(t, step.pings, []any{spec(leaseCandidates + "/a")["pingTime"], spec(leaseCandidates + "/b")["pingTime"]})
			assert.Equal(t, []any{step.holder, step.renewed}, []any{lease["holderIdentity"], lease["renewTime"]})
		})
	}
}

// Candidates expire half an hour after their last renewal, or after their creation.
func TestExpiryOfLeaseCandidates(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(electionStart), electing(true))
	for _, body := range []string{
		candidate("a", "1.20.0", "1.20.0", "OldestEmulationVersion", 0),
		candidate("b", "1.20.0", "1.20.0", "OldestEmulationVersion", 10*time.Minute),
		`{"metadata":{"name":"c"},"spec":{"leaseName":"l","emulationVersion":"1.20.0","binaryVersion":"1.20.0","strategy":"OldestEmulationVersion"}}`,
	} {
		code, _ := apitest.Do(t, srv, "POST", leaseCandidates, body)
		require.Equal(t, 201, code)
	}
	for _, row := range []struct {
		advance time.Duration
		want    []string
	}{
		{30 * time.Minute, []string{"a", "b", "c"}},
		{5 * time.Second, []string{"b"}},
		{10 * time.Minute, nil},
	} {
		require.NoError(t, srv.Clock().Advance(row.advance))
		var names []string
		_, list := apitest.Do(t, srv, "GET", leaseCandidates, "")
		for _, item := range list["items"].([]any) {
			names = append(names, item.(map[string]any)["metadata"].(map[string]any)["name"].(string))
		}
		assert.Equal(t, row.want, names)
	}
}

// Forks, states and restored snapshots go on with elections; without the gate there are none.
func TestElectionsGoOn(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(electionStart), electing(true))
	code, _ := apitest.Do(t, srv, "POST", leaseCandidates, candidate("a", "1.20.0", "1.20.0", "OldestEmulationVersion", 0))
	require.Equal(t, 201, code)
	var state bytes.Buffer
	require.NoError(t, srv.WriteState(&state))
	loaded := func(on bool) *fakeapi.Server {
		return fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(electionStart), electing(on), fakeapi.WithState(bytes.NewReader(state.Bytes())))
	}
	for _, row := range []struct {
		name string
		srv  *fakeapi.Server
		want any // the pingTime of the candidate when its Lease has expired
	}{
		{"fork", srv.Fork(t), electionTime(10 * time.Second)},
		{"state", loaded(true), electionTime(10 * time.Second)},
		{"state without the gate", loaded(false), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.NoError(t, row.srv.Clock().Advance(10*time.Second))
			_, obj := apitest.Do(t, row.srv, "GET", leaseCandidates+"/a", "")
			assert.Equal(t, row.want, obj["spec"].(map[string]any)["pingTime"])
		})
	}
	t.Run("server that was reset", func(t *testing.T) {
		snapshot := srv.Snapshot()
		code, _ := apitest.Do(t, srv, "DELETE", leaseCandidates+"/a", "")
		require.Equal(t, 200, code)
		require.NoError(t, srv.Restore(snapshot))
		require.NoError(t, srv.Clock().Advance(10*time.Second))
		_, obj := apitest.Do(t, srv, "GET", leaseCandidates+"/a", "")
		assert.Equal(t, electionTime(10*time.Second), obj["spec"].(map[string]any)["pingTime"])
	})
}
