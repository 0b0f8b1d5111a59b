package fakeapi

import "github.com/kubefake/kubefake/internal/printable"

// TB is the part of testing.TB that Start and Fork need.
type TB interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Start starts a server for a test and closes it when the test ends. It fails the
// test if the server does not start.
//
// If the test has failed by its end, Start logs the options and the end of the server's Story.
// With go test -artifacts it also writes the whole story, as a page, to the test's
// artifact directory.
func Start(t TB, options ...Option) *Server {
	t.Helper()
	s, err := New(options...)
	if err != nil {
		t.Fatalf("%s", printable.Text(err.Error()))
		return nil
	}
	s.closeAfter(t)
	return s
}

// Fork starts a server with the state, history and options of s, and closes it
// when the test ends, as Start does. The two servers are independent. Fork takes
// constant time, so a test can load its fixtures once and fork for each subtest.
//
// The fork listens on a port of its own. Its clock shows the same time, its
// watch caches lag as those of s, and it has the faults of s, except those for
// open watches, with no hits yet.
//
// Its new objects have other UIDs and generated names than those of s and of other forks.
// With WithSeed, they depend on the name of the test, if t has one, and on how many forks
// the test has made of s before, so that parallel tests get the same ones in every run.
func (s *Server) Fork(t TB) *Server {
	t.Helper()
	test := ""
	if named, ok := t.(interface{ Name() string }); ok {
		test = named.Name()
	}
	f, err := s.newFork(test)
	if err != nil {
		t.Fatalf("%s", printable.Text(err.Error()))
		return nil
	}
	f.closeAfter(t)
	return f
}

// closeAfter closes the server when the test ends.
func (s *Server) closeAfter(t TB) {
	t.Cleanup(func() {
		t.Helper()
		if t.Failed() {
			s.logStory(t)
		}
		s.Close()
	})
}
