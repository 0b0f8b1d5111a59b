//go:build go1.25

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

// incident is a history of ConfigMaps: initially a and b; after 10 seconds a changes,
// after 30 seconds b is deleted and c created, 30 seconds later c changes.
const incident = "testdata/incident.yaml"

// state returns the values of the ConfigMaps in the namespace shop, by name.
func state(t *testing.T, srv *fakeapi.Server) map[string]string {
	t.Helper()
	list, err := srv.List("configmaps", "shop")
	require.NoError(t, err)
	out := map[string]string{}
	for _, o := range list {
		value, _ := o["data"].(map[string]any)["value"].(string)
		out[o["metadata"].(map[string]any)["name"].(string)] = value
	}
	return out
}

func TestReenact(t *testing.T) {
	for _, row := range []struct {
		name    string
		options []scenarios.ReenactOption
		unit    time.Duration // the time that ten seconds of the history take
	}{
		{"recorded speed", nil, 10 * time.Second},
		{"ten times as fast", []scenarios.ReenactOption{scenarios.Speed(10)}, time.Second},
		{"half as fast", []scenarios.ReenactOption{scenarios.Speed(0.5)}, 20 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := fakeapi.Start(t, fakeapi.WithInMemory())
				r := scenarios.Reenact(t, srv, incident, row.options...)
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
				started := time.Now()
				<-r.Done()
				assert.InDelta(t, 3*row.unit, time.Since(started), float64(10*time.Millisecond))
				assert.Equal(t, map[string]string{"a": "2", "c": "2"}, state(t, srv))
			})
		})
	}
}

// A reenactment ends with the test.
func TestReenactEndsWithTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scenarios.Reenact(t, fakeapi.Start(t, fakeapi.WithInMemory()), incident)
	})
}

func TestReenactWithManualClock(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(epoch))
	r := scenarios.Reenact(t, srv, incident)
	srv.Clock().Advance(time.Hour)
	<-r.Done()
	assert.Equal(t, map[string]string{"a": "2", "c": "2"}, state(t, srv))
}

func TestReenactStepped(t *testing.T) {
	for _, row := range []struct {
		name    string
		options []fakeapi.Option
		manual  bool
	}{
		{"wall clock", nil, false},
		{"manual clock", []fakeapi.Option{fakeapi.WithManualClock(epoch)}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := fakeapi.Start(t, append(row.options, fakeapi.WithInMemory())...)
			r := scenarios.Reenact(t, srv, incident, scenarios.Stepped())
			for _, want := range []map[string]string{
				{"a": "2", "b": "1"},
				{"a": "2", "c": "1"},
				{"a": "2", "c": "2"},
			} {
				more, err := r.Step()
				require.NoError(t, err)
				assert.True(t, more)
				assert.Equal(t, want, state(t, srv))
			}
			<-r.Done()
			more, err := r.Step()
			require.NoError(t, err)
			assert.False(t, more)
			if row.manual {
				assert.Equal(t, epoch.Add(time.Minute), srv.Clock().Now())
			}
		})
	}
}

// Two reenactments with the same seed leave the same log and objects.
func TestReenactIsDeterministic(t *testing.T) {
	run := func() any {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(epoch), fakeapi.WithSeed(1))
		r := scenarios.Reenact(t, srv, incident, scenarios.Stepped())
		for more := true; more; {
			var err error
			more, err = r.Step()
			require.NoError(t, err)
		}
		objects, err := srv.List("configmaps", "")
		require.NoError(t, err)
		return []any{srv.Writes(0), objects}
	}
	assert.Equal(t, run(), run())
}

// Recording a reenactment gives the history that is reenacted.
func TestReenactRecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		f, err := scenarios.Load(incident)
		require.NoError(t, err)
		h, err := scenarios.NewReenactment(srv, f)
		require.NoError(t, err)
		require.NoError(t, h.Start())
		r, err := scenarios.RecordState(t.Context(), scenarios.StateOptions{URL: srv.URL, Transport: srv.Transport(), Resources: []string{"configmaps"}, Namespace: "shop"})
		require.NoError(t, err)
		require.NoError(t, h.Run(t.Context()))
		synctest.Wait()
		s, err := r.Stop()
		require.NoError(t, err)
		assert.Equal(t, `0s store Namespace shop
0s store ConfigMap shop/a, ConfigMap shop/b
10s store ConfigMap shop/a
30s store ConfigMap shop/c
30s remove ConfigMap shop/b
1m0s store ConfigMap shop/c
`, format(s))
	})
}

func TestReenactErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, row := range []struct{ name, history, want string }{
		{"no such object", "- {at: 1s, remove: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}", "history at 1s: fakeapi: Remove: not found: configmaps a"},
		{"no such kind", "- {store: {apiVersion: v9, kind: Nothing, metadata: {name: a}}}", "history at 0s: fakeapi: Store: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, err := scenarios.Parse("x", []byte("name: a\nhistory:\n"+row.history))
			require.NoError(t, err)
			r, err := scenarios.NewReenactment(srv, f)
			require.NoError(t, err)
			err = r.Start()
			if err == nil {
				_, err = r.Step()
			}
			assert.ErrorContains(t, err, row.want)
		})
	}
	_, err := scenarios.NewReenactment(srv, &scenarios.File{}, scenarios.Speed(0))
	assert.ErrorIs(t, err, scenarios.ErrInvalidOption)
}
