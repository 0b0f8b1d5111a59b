package scenarios

import (
	"fmt"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/printable"
)

// Replay starts a server that answers the client under test with the recorded
// answers of a scenario, in the scenario's order, and closes it when the test
// ends. The file must hold exactly one scenario.
//
// A request other than the next one of the scenario fails the test; the message
// says how it differs from the most similar remaining request. A request that was
// not made by the end of the test fails the test too.
func Replay(t TB, file string, options ...ReplayOption) *httptest.Server {
	t.Helper()
	f, err := Load(file)
	if err == nil && len(f.Scenarios) != 1 {
		err = fmt.Errorf("%s: %d scenarios instead of one", file, len(f.Scenarios))
	}
	if err != nil {
		t.Fatalf("%s", printable.Text(err.Error()))
		return nil
	}
	replayer, err := NewReplayer(f.Scenarios[0], func(problem string) { t.Errorf("%s: %s", file, problem) }, options...)
	if err != nil {
		t.Fatalf("%s: %s", file, printable.Text(err.Error()))
		return nil
	}
	srv, err := httptest.Start(replayer, httptest.Options{})
	if err != nil {
		t.Fatalf("%s", printable.Text(err.Error()))
		return nil
	}
	t.Cleanup(func() {
		t.Helper()
		srv.Close()
		for _, request := range replayer.Remaining() {
			t.Errorf("%s: request not made: %s", file, request)
		}
	})
	return srv
}

// A ReplayOption configures a Replayer.
type ReplayOption func(*Replayer)

// Concurrent accepts the reordered requests of a client that uses several
// goroutines: a request may come before remaining requests of other paths. Writes
// must keep their order.
func Concurrent() ReplayOption { return func(r *Replayer) { r.concurrent = true } }
