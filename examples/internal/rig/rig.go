// Package rig runs the tests of the examples.
//
// A test runs in a testing/synctest bubble against a server in memory, so that minutes
// pass in milliseconds. It runs twice with the same seed, and both runs must make the
// same writes, byte for byte.
package rig

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
)

func init() { klog.SetLogger(logr.Discard()) } // client-go logs each watch that ends

// A Test is a test of a controller.
type Test func(t testing.TB, srv *fakeapi.Server)

// Passes runs a test that must pass.
func Passes(t *testing.T, test Test, options ...fakeapi.Option) {
	t.Helper()
	assert.Empty(t, runTwice(t, test, options), "the test's failures")
}

// Fails runs a test that must fail with a message that contains want.
func Fails(t *testing.T, want string, test Test, options ...fakeapi.Option) {
	t.Helper()
	assert.Contains(t, strings.Join(runTwice(t, test, options), "\n"), want, "the test's failures")
}

// Config returns a client configuration for a server.
func Config(srv *fakeapi.Server, userAgent string) *rest.Config {
	config := restconfig.For(srv)
	config.UserAgent = userAgent
	return config
}

// runTwice runs a test twice and returns its failures.
func runTwice(t *testing.T, test Test, options []fakeapi.Option) []string {
	t.Helper()
	first, second := runOnce(t, test, options), runOnce(t, test, options)
	require.Equal(t, first.history, second.history, "two runs with the same seed")
	return first.failures
}

// An outcome is the result of a run.
type outcome struct {
	failures []string
	history  string // all writes and the final objects
}

func runOnce(t *testing.T, test Test, options []fakeapi.Option) outcome {
	t.Helper()
	var out outcome
	synctest.Test(t, func(t *testing.T) {
		srv, err := fakeapi.New(append(options, fakeapi.WithInMemory(), fakeapi.WithSeed(1))...)
		require.NoError(t, err)
		defer srv.Close()
		tb := &recordingTB{TB: t}
		tb.run(func() { test(tb, srv) })
		out = outcome{tb.failures, history(t, srv)}
	})
	return out
}

// history returns the writes of a server, and of the other clusters if there are several.
func history(t *testing.T, srv *fakeapi.Server) string {
	t.Helper()
	servers := []*fakeapi.Server{srv}
	for _, name := range clusters.Names(srv) {
		if other := clusters.Get(srv, name); other != srv {
			servers = append(servers, other)
		}
	}
	var b strings.Builder
	for _, srv := range servers {
		for _, write := range srv.Writes(0) {
			line, err := json.Marshal(write)
			require.NoError(t, err)
			fmt.Fprintf(&b, "%s\n", line)
		}
	}
	return b.String()
}

// A recordingTB is a testing.TB that records failures instead of reporting them.
type recordingTB struct {
	testing.TB
	failures []string
	cleanups []func()
}

// run runs f to its end or its first fatal failure, and then the cleanups.
func (p *recordingTB) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for len(p.cleanups) > 0 {
				last := len(p.cleanups) - 1
				cleanup := p.cleanups[last]
				p.cleanups = p.cleanups[:last]
				cleanup()
			}
		}()
		f()
	}()
	<-done
}

func (p *recordingTB) Helper()           {}
func (p *recordingTB) Failed() bool      { return len(p.failures) > 0 }
func (p *recordingTB) Cleanup(f func())  { p.cleanups = append(p.cleanups, f) }
func (p *recordingTB) Error(args ...any) { p.failures = append(p.failures, fmt.Sprint(args...)) }
func (p *recordingTB) Errorf(format string, args ...any) {
	p.failures = append(p.failures, fmt.Sprintf(format, args...))
}
func (p *recordingTB) Fatal(args ...any)                 { p.Error(args...); p.FailNow() }
func (p *recordingTB) Fatalf(format string, args ...any) { p.Errorf(format, args...); p.FailNow() }
func (p *recordingTB) FailNow()                          { runtime.Goexit() }
