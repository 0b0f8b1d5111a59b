package scenarios_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios"
)

var epoch = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// incident is a history of ConfigMaps: a and b from the begin, a changed after
// 10 seconds, b gone and c there after 30, and 30 seconds later c changed.
const incident = "testdata/incident.yaml"

// state is the values of the ConfigMaps of the namespace shop by their names.
func state(t *testing.T, srv *fakeapi.Server) map[string]string {
	t.Helper()
	list, err := srv.List("configmaps", fakeapi.In("shop"))
	require.NoError(t, err)
	out := map[string]string{}
	for _, o := range list {
		value, _ := o["data"].(map[string]any)["value"].(string)
		out[o["metadata"].(map[string]any)["name"].(string)] = value
	}
	return out
}

func TestReplay(t *testing.T) {
	for _, row := range []struct {
		name    string
		options []scenarios.ReplayOption
		unit    time.Duration // ten seconds of the history
	}{
		{"as it was", nil, 10 * time.Second},
		{"ten times as fast", []scenarios.ReplayOption{scenarios.Speed(10)}, time.Second},
		{"half as fast", []scenarios.ReplayOption{scenarios.Speed(0.5)}, 20 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, fakeapi.WithInMemory())
				p := scenarios.Replay(t, srv, incident, row.options...)
				assert.Equal(t, map[string]string{"a": "1", "b": "1"}, state(t, srv))
				time.Sleep(row.unit - time.Millisecond)
				synctest.Wait()
				assert.Equal(t, map[string]string{"a": "1", "b": "1"}, state(t, srv))
				time.Sleep(2 * time.Millisecond)
				synctest.Wait()
				assert.Equal(t, map[string]string{"a": "2", "b": "1"}, state(t, srv))
				time.Sleep(2 * row.unit)
				synctest.Wait()
				assert.Equal(t, map[string]string{"a": "2", "c": "1"}, state(t, srv))
				begun := time.Now()
				<-p.Done()
				assert.InDelta(t, 3*row.unit, time.Since(begun), float64(10*time.Millisecond))
				assert.Equal(t, map[string]string{"a": "2", "c": "2"}, state(t, srv))
			})
		})
	}
}

// A replay that the test does not wait for ends with the test.
func TestReplayLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scenarios.Replay(t, fakeapi.Start(t, fakeapi.WithInMemory()), incident)
	})
}

func TestReplayFollowsTheClock(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithClock(epoch))
	p := scenarios.Replay(t, srv, incident)
	srv.Clock().Advance(time.Hour)
	<-p.Done()
	assert.Equal(t, map[string]string{"a": "2", "c": "2"}, state(t, srv))
}

func TestReplayStepped(t *testing.T) {
	for _, row := range []struct {
		name    string
		options []fakeapi.Option
		moves   bool
	}{
		{"clock that runs", nil, false},
		{"clock that stands still", []fakeapi.Option{fakeapi.WithClock(epoch)}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, append(row.options, fakeapi.WithInMemory())...)
			p := scenarios.Replay(t, srv, incident, scenarios.Stepped())
			for _, want := range []map[string]string{
				{"a": "2", "b": "1"},
				{"a": "2", "c": "1"},
				{"a": "2", "c": "2"},
			} {
				more, err := p.Step()
				require.NoError(t, err)
				assert.True(t, more)
				assert.Equal(t, want, state(t, srv))
			}
			<-p.Done()
			more, err := p.Step()
			require.NoError(t, err)
			assert.False(t, more)
			if row.moves {
				assert.Equal(t, epoch.Add(time.Minute), srv.Clock().Now())
			}
		})
	}
}

// Two replays under one seed leave the same behind, byte for byte.
func TestReplayIsDeterministic(t *testing.T) {
	play := func() any {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithClock(epoch), fakeapi.WithSeed(1))
		p := scenarios.Replay(t, srv, incident, scenarios.Stepped())
		for more := true; more; {
			var err error
			more, err = p.Step()
			require.NoError(t, err)
		}
		objects, err := srv.List("configmaps")
		require.NoError(t, err)
		return []any{srv.Log(0), objects}
	}
	assert.Equal(t, play(), play())
}

// What a recording of a replay says is what the replayed recording said.
func TestReplayOfRecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		f, err := scenarios.Load(incident)
		require.NoError(t, err)
		p := scenarios.NewPlayback(srv, f)
		require.NoError(t, p.Begin())
		r, err := scenarios.RecordState(t.Context(), scenarios.StateOptions{URL: srv.URL, Transport: srv.Transport(), Resources: []string{"configmaps"}, Namespace: "shop"})
		require.NoError(t, err)
		require.NoError(t, p.Run(t.Context()))
		synctest.Wait()
		s, err := r.Stop()
		require.NoError(t, err)
		assert.Equal(t, `0s put Namespace shop
0s put ConfigMap shop/a, ConfigMap shop/b
10s put ConfigMap shop/a
30s put ConfigMap shop/c
30s delete ConfigMap shop/b
1m0s put ConfigMap shop/c
`, told(s))
	})
}

func TestReplayErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, row := range []struct{ name, history, want string }{
		{"no such object", "- {at: 1s, delete: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}", "history at 1s: not found: configmaps a"},
		{"no such kind", "- {put: {apiVersion: v9, kind: Nothing, metadata: {name: a}}}", "history at 0s: fakeapi: Put: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, err := scenarios.Parse("x", []byte("name: a\nhistory:\n"+row.history))
			require.NoError(t, err)
			p := scenarios.NewPlayback(srv, f)
			err = p.Begin()
			if err == nil {
				_, err = p.Step()
			}
			assert.ErrorContains(t, err, row.want)
		})
	}
	assert.Panics(t, func() { scenarios.Speed(0) })
}
