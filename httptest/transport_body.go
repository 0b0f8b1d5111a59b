package httptest

import (
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A responseBody is the client's side of an exchange.
type responseBody struct {
	e *exchange
}

// Read implements [io.Reader].
func (b responseBody) Read(p []byte) (int, error) {
	e := b.e
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.ready.Len() == 0 && !e.ended && e.err == nil && len(p) > 0 {
		e.change.Wait()
	}
	switch {
	case e.err == errClosedBody:
		return 0, e.err
	case e.ready.Len() > 0 || len(p) == 0:
		n, _ := e.ready.Read(p) // never fails with bytes to read
		e.change.Broadcast()
		return n, nil
	case e.err != nil:
		e.forget()
		return 0, e.err
	default:
		e.forget()
		return 0, io.EOF
	}
}

// Close implements [io.Closer]. It cancels the context of the handler and does not
// wait for it.
func (b responseBody) Close() error {
	b.e.abort(errClosedBody)
	b.e.forget()
	return nil
}

// A requestBody is the client's body as the handler reads it.
type requestBody struct {
	source io.ReadCloser // nil if there is no body
	failed func(error)   // called with an error of source
	once   sync.Once
	closed atomic.Bool
	late   atomic.Bool // the read deadline has passed

	mu       sync.Mutex // guards deadline
	deadline *time.Timer
}

// setDeadline closes the body at a time; the zero time is never.
func (b *requestBody) setDeadline(t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.deadline != nil {
		b.deadline.Stop()
	}
	if t.IsZero() || b.closed.Load() {
		return
	}
	b.deadline = time.AfterFunc(time.Until(t), func() {
		b.late.Store(true)
		b.Close()
	})
}

// Read implements [io.Reader].
func (b *requestBody) Read(p []byte) (int, error) {
	switch {
	case b.late.Load():
		return 0, os.ErrDeadlineExceeded
	case b.closed.Load():
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.source.Read(p)
	switch {
	case err == nil, err == io.EOF:
		return n, err
	case b.late.Load():
		return n, os.ErrDeadlineExceeded
	case !b.closed.Load():
		b.failed(err)
	}
	return n, io.ErrUnexpectedEOF
}

// Close implements [io.Closer].
func (b *requestBody) Close() error {
	b.once.Do(func() {
		b.closed.Store(true)
		b.setDeadline(time.Time{})
		if b.source != nil {
			b.source.Close()
		}
	})
	return nil
}
