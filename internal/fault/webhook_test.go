//go:build go1.25

package fault

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/faults"
)

// A hook is a transport to a webhook. It counts the calls.
type hook struct{ called int }

func (h *hook) RoundTrip(r *http.Request) (*http.Response, error) {
	h.called++
	r.Body.Close()
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// A closer is an empty body that notes that it was closed.
type closer struct {
	strings.Reader
	closed bool
}

func (c *closer) Close() error {
	c.closed = true
	return nil
}

// call calls the webhook and returns the status code and the body of the response.
func call(ctx context.Context, s *Set, h *hook) (int, string, error) {
	sent := &closer{}
	r, err := http.NewRequestWithContext(ctx, "POST", "https://admit.shop.svc:443/validate?timeout=10s", sent)
	if err != nil {
		return 0, "", err
	}
	resp, err := s.Transport(h).RoundTrip(r)
	if !sent.closed {
		return 0, "", errors.New("RoundTrip has not closed the body")
	}
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

func TestWebhookCalls(t *testing.T) {
	for _, row := range []struct {
		name   string
		faults []faults.Fault
		code   int
		body   string
		err    error
		called int
		took   time.Duration
	}{
		{name: "no fault", code: 200, body: body, called: 1},
		{name: "fault of another webhook", faults: []faults.Fault{{Webhook: "*/mutate", Reset: true}}, code: 200, body: body, called: 1},
		{name: "fault of requests", faults: []faults.Fault{{Reset: true}}, code: 200, body: body, called: 1},
		{name: "delay", faults: []faults.Fault{{Webhook: "*", Delay: time.Second}}, code: 200, body: body, called: 1, took: time.Second},
		{name: "delay after serving", faults: []faults.Fault{{Webhook: "*", Delay: time.Second, ServeFirst: true}}, code: 200, body: body, called: 1, took: time.Second},
		{name: "delay beyond the timeout", faults: []faults.Fault{{Webhook: "*", Delay: time.Minute}}, err: context.DeadlineExceeded, took: 10 * time.Second},
		{name: "delay after serving beyond the timeout", faults: []faults.Fault{{Webhook: "*", Delay: time.Minute, ServeFirst: true}}, err: context.DeadlineExceeded, called: 1, took: 10 * time.Second},
		{name: "reset", faults: []faults.Fault{{Webhook: "*", Reset: true}}, err: syscall.ECONNRESET},
		{name: "reset after serving", faults: []faults.Fault{{Webhook: "*", Reset: true, ServeFirst: true}}, err: syscall.ECONNRESET, called: 1},
		{name: "code after the commit", faults: []faults.Fault{{Webhook: "*", Code: 500, At: faults.AfterCommit}}, code: 500, body: "Internal Server Error", called: 1},
		{name: "delay after the commit beyond the timeout", faults: []faults.Fault{{Webhook: "*", Delay: time.Minute, At: faults.AfterCommit}}, err: context.DeadlineExceeded, called: 1, took: 10 * time.Second},
		{name: "code", faults: []faults.Fault{{Webhook: "*", Code: 503}}, code: 503, body: "Service Unavailable"},
		{name: "code with a message", faults: []faults.Fault{{Webhook: "*", Delay: time.Second}, {Webhook: "*", Code: 500, Message: "no"}, {Webhook: "*", Reset: true}},
			code: 500, body: "no", took: time.Second},
		{name: "cut", faults: []faults.Fault{{Webhook: "*", CutAfterBytes: 3}}, code: 200, body: body[:3], err: io.ErrUnexpectedEOF, called: 1},
		{name: "cut beyond the end", faults: []faults.Fault{{Webhook: "*", CutAfterBytes: 100}}, code: 200, body: body[:len(body)-1], err: io.ErrUnexpectedEOF, called: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, h := newTestSet(), &hook{}
				_, err := s.Inject(row.faults...)
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				start := time.Now()
				code, got, err := call(ctx, s, h)
				assert.ErrorIs(t, err, row.err)
				assert.Equal(t, row.code, code)
				assert.Equal(t, row.body, got)
				assert.Equal(t, row.called, h.called)
				assert.Equal(t, row.took, time.Since(start))
			})
		})
	}
}

func TestWebhookHits(t *testing.T) {
	var hits []Hit
	s := newTestSet()
	s.options.OnHit = func(h Hit) { hits = append(hits, h) }
	r := inject(t, s, faults.Fault{Webhook: "*", Code: 500, Skip: 1, Times: 1})
	for _, want := range []int{200, 500, 200} {
		code, _, err := call(t.Context(), s, &hook{})
		require.NoError(t, err)
		assert.Equal(t, want, code)
	}
	assert.Equal(t, 1, r.Hits())
	assert.False(t, s.Active())
	require.Len(t, hits, 1)
	assert.Equal(t, "500: webhook https://admit.shop.svc:443/validate", hits[0].String())
}
