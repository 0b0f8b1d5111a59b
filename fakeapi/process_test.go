//go:build unix && go1.24

package fakeapi_test

import (
	"errors"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A process records the signals that it gets.
type process struct {
	mu   sync.Mutex // guards the fields below
	got  []os.Signal
	fail error
}

func (p *process) send(s os.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, s)
	return p.fail
}

func (p *process) signals() []os.Signal {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got
}

const signalPath = "/debug/fakeapi/signal"

// A fault kills the manager after its write is stored and before its answer.
func TestSignalAtPoint(t *testing.T) {
	var manager process
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithProcess("manager", manager.send))
	code, answer := apitest.Do(t, srv, "POST", "/debug/fakeapi/faults",
		`{"verb":"create","resource":"configmaps","at":"afterCommit","reset":true,"do":[{"signal":{"process":"manager","signal":"SIGKILL"}}]}`)
	require.Equal(t, http.StatusOK, code, answer)
	assert.Zero(t, agent{srv, "manager/1.0", t.Context()}.create("a"), "its connection breaks")
	assert.Equal(t, []os.Signal{syscall.SIGKILL}, manager.signals())
	_, err := srv.Get("configmaps", "default", "a")
	assert.NoError(t, err)
}

func TestSignalErrors(t *testing.T) {
	ended := process{fail: errors.New("it has ended")}
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithProcess("manager", (&process{}).send), fakeapi.WithProcess("ended", ended.send))
	for name, row := range map[string]struct {
		body string
		code int
		want string
	}{
		"process":      {`{"process":"operator","signal":"SIGKILL"}`, http.StatusBadRequest, `process: "operator" is not one of ended, manager`},
		"signal":       {`{"process":"manager","signal":"KILL"}`, http.StatusBadRequest, `signal: "KILL" is not one of SIGCONT, SIGHUP,`},
		"duration":     {`{"process":"manager","signal":"SIGSTOP","duration":"-1s"}`, http.StatusBadRequest, `duration: "-1s" is not a positive duration`},
		"other signal": {`{"process":"manager","signal":"SIGKILL","duration":"1s"}`, http.StatusBadRequest, "duration: only SIGSTOP ends after a time"},
		"it has ended": {`{"process":"ended","signal":"SIGTERM"}`, http.StatusServiceUnavailable, "process ended: it has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, "POST", signalPath, row.body)
			assert.Equal(t, row.code, code)
			assert.Contains(t, answer["message"], row.want)
		})
	}
	code, answer := apitest.Do(t, fakeapi.Start(t, fakeapi.WithInMemory()), "POST", signalPath, `{"process":"manager","signal":"SIGKILL"}`)
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, answer["message"], "fakeapi serve --process names them")
}

// A process that is stopped for a time continues when the server's clock reaches the time, with
// an earlier SIGCONT, and when the server ends.
func TestSignalFor(t *testing.T) {
	stop := func(t *testing.T) (*fakeapi.Server, *process) {
		manager := &process{}
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Unix(0, 0)), fakeapi.WithProcess("manager", manager.send))
		code, answer := apitest.Do(t, srv, "POST", signalPath, `{"process":"manager","signal":"SIGSTOP","duration":"15s"}`)
		require.Equal(t, http.StatusOK, code, answer)
		return srv, manager
	}
	both := []os.Signal{syscall.SIGSTOP, syscall.SIGCONT}
	t.Run("clock", func(t *testing.T) {
		srv, manager := stop(t)
		require.NoError(t, srv.Clock().Advance(14*time.Second))
		assert.Len(t, manager.signals(), 1)
		require.NoError(t, srv.Clock().Advance(time.Second))
		assert.Equal(t, both, manager.signals())
	})
	t.Run("earlier", func(t *testing.T) {
		srv, manager := stop(t)
		code, _ := apitest.Do(t, srv, "POST", signalPath, `{"process":"manager","signal":"SIGCONT"}`)
		require.Equal(t, http.StatusOK, code)
		require.NoError(t, srv.Clock().Advance(time.Minute))
		assert.Equal(t, both, manager.signals())
	})
	t.Run("end", func(t *testing.T) {
		srv, manager := stop(t)
		srv.Close()
		assert.Equal(t, both, manager.signals())
	})
}
