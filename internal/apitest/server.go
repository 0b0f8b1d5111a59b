//go:build go1.24

package apitest

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
)

// Epoch is a time for a manual clock.
var Epoch = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// Replica starts a replica of a server.
func Replica(t testing.TB, srv *fakeapi.Server) *fakeapi.Server {
	t.Helper()
	r, err := srv.NewReplica()
	require.NoError(t, err)
	return r
}

// Inject injects valid faults.
func Inject(t testing.TB, srv *fakeapi.Server, faults ...faults.Fault) *faults.Injection {
	t.Helper()
	i, err := srv.Inject(faults...)
	require.NoError(t, err)
	return i
}

// Eventually waits until a condition is true.
func Eventually(condition func() bool) {
	for !condition() {
		runtime.Gosched()
	}
}
