package target

import "testing"

func start(t testing.TB, gates []string) *Server {
	t.Helper()
	t.Skip("no server in process yet")
	return nil
}
