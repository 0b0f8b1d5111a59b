package scenarios

import (
	"fmt"

	"github.com/kubefake/kubefake/httptest"
)

// Strict starts a server that answers a client under test from the one scenario
// of a file, in its order, and closes it when the test ends. A request that is
// not the one whose turn it is fails the test, and is told with what differs from
// the nearest of those that are still to come. So does one that was not made when
// the test ends.
func Strict(t TB, file string, options ...StrictOption) *httptest.Server {
	t.Helper()
	f, err := Load(file)
	if err == nil && len(f.Scenarios) != 1 {
		err = fmt.Errorf("%s: %d scenarios instead of one", file, len(f.Scenarios))
	}
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	script, err := NewScript(f.Scenarios[0], func(problem string) { t.Errorf("%s: %s", file, problem) }, options...)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
		return nil
	}
	srv, err := httptest.Start(script, httptest.Options{})
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		t.Helper()
		srv.Close()
		for _, request := range script.Left() {
			t.Errorf("%s: never asked: %s", file, request)
		}
	})
	return srv
}

// A StrictOption says how strict a Script is.
type StrictOption func(*Script)

// Concurrent is for clients that do several things at once: requests may come
// before others of other paths, but for writes, which keep the order among them.
func Concurrent() StrictOption { return func(s *Script) { s.concurrent = true } }
