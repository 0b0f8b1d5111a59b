package fakeapi

// TB is the part of testing.TB that Start needs.
type TB interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Start starts a server for a test and closes it when the test ends. If the
// test has failed by then, it logs what happened, and with go test -artifacts
// keeps all of that as a page among the test's artifacts: see Story. A server
// that does not start fails the test.
func Start(t TB, options ...Option) *Server {
	t.Helper()
	s, err := New(options...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	s.endWith(t)
	return s
}

// Fork starts a server of the same state, history and options for a test, and
// closes it when the test ends, as Start does. The two are apart from now on.
// It takes constant time however much the server holds: fixtures are loaded
// once, and every subtest gets its own copy of them.
//
// The fork listens on an address of its own. Its clock is set as this one's, and
// what lags in this one does in it.
func (s *Server) Fork(t TB) *Server {
	t.Helper()
	f, err := s.NewFork()
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	f.endWith(t)
	return f
}

func (s *Server) endWith(t TB) {
	t.Cleanup(func() {
		t.Helper()
		if t.Failed() {
			s.tell(t)
		}
		s.Close()
	})
}
