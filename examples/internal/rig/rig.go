// Package rig plays the examples' stories: what a controller lives through, and
// what must have come of it.
//
// A story is played in a testing/synctest bubble against a server in memory, so
// that minutes pass in milliseconds, and twice under one seed: the two plays
// must write the same, byte for byte.
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
)

func init() { klog.SetLogger(logr.Discard()) } // clients tell of every watch that ends

// A Story is a test of a controller.
type Story func(t testing.TB, srv *fakeapi.Server)

// Passes plays a story that must pass.
func Passes(t *testing.T, story Story, options ...fakeapi.Option) {
	t.Helper()
	assert.Empty(t, playTwice(t, story, options), "the story's failures")
}

// Fails plays a story that must fail, with a message that has want in it.
func Fails(t *testing.T, want string, story Story, options ...fakeapi.Option) {
	t.Helper()
	assert.Contains(t, strings.Join(playTwice(t, story, options), "\n"), want, "the story's failures")
}

// Config reaches a server.
func Config(srv *fakeapi.Server, userAgent string) *rest.Config {
	return &rest.Config{Host: srv.URL, Transport: srv.Transport(), UserAgent: userAgent, QPS: -1}
}

// playTwice returns how the story failed.
func playTwice(t *testing.T, story Story, options []fakeapi.Option) []string {
	t.Helper()
	first, second := play(t, story, options), play(t, story, options)
	require.Equal(t, first.history, second.history, "two plays under one seed")
	return first.failures
}

// An outcome is what came of a play.
type outcome struct {
	failures []string
	history  string // every write that the server has seen, and the objects in the end
}

func play(t *testing.T, story Story, options []fakeapi.Option) outcome {
	t.Helper()
	var out outcome
	synctest.Test(t, func(t *testing.T) {
		srv, err := fakeapi.New(append(options, fakeapi.WithInMemory(), fakeapi.WithSeed(1))...)
		require.NoError(t, err)
		defer srv.Close()
		player := &player{TB: t}
		player.run(func() { story(player, srv) })
		out = outcome{player.failures, history(t, srv)}
	})
	return out
}

// history is what the server has seen and holds.
func history(t *testing.T, srv *fakeapi.Server) string {
	t.Helper()
	var b strings.Builder
	for _, write := range srv.Writes(0) {
		line, err := json.Marshal(write)
		require.NoError(t, err)
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.String()
}

// A player is a testing.TB whose failures are kept instead of told.
type player struct {
	testing.TB
	failures []string
	cleanups []func()
}

// run runs f to its end or to its first fatal failure, and then what f has
// left to clean up.
func (p *player) run(f func()) {
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

func (p *player) Helper()           {}
func (p *player) Failed() bool      { return len(p.failures) > 0 }
func (p *player) Cleanup(f func())  { p.cleanups = append(p.cleanups, f) }
func (p *player) Error(args ...any) { p.failures = append(p.failures, fmt.Sprint(args...)) }
func (p *player) Errorf(format string, args ...any) {
	p.failures = append(p.failures, fmt.Sprintf(format, args...))
}
func (p *player) Fatal(args ...any)                 { p.Error(args...); p.FailNow() }
func (p *player) Fatalf(format string, args ...any) { p.Errorf(format, args...); p.FailNow() }
func (p *player) FailNow()                          { runtime.Goexit() }
