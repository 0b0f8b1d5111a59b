package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// receive returns the URL of a webhook, and the bodies of the requests that it has
// accepted: those for which the function returns 200.
func receive(t *testing.T, code func() int) (string, <-chan string) {
	t.Helper()
	bodies := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		c := code()
		if c == http.StatusOK {
			bodies <- string(body)
		}
		w.WriteHeader(c)
	}))
	t.Cleanup(s.Close)
	return s.URL, bodies
}

func accept() int { return http.StatusOK }

// event returns a line of a log.
func event(id int) []byte {
	return fmt.Appendf(nil, "%s\"level\":\"Metadata\",\"auditID\":\"%d\"}\n", eventHead, id)
}

// ids returns the IDs of the events of a list.
func ids(t *testing.T, body string) string {
	t.Helper()
	var list struct {
		Kind, APIVersion string
		Items            []map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	assert.Equal(t, "EventList audit.k8s.io/v1", list.Kind+" "+list.APIVersion)
	out := ""
	for _, e := range list.Items {
		assert.Empty(t, e["kind"], "items of a list have no kind")
		out += e["auditID"]
	}
	return out
}

func unexpected(t *testing.T) func(int, error) {
	return func(events int, err error) { t.Errorf("%d events are lost: %v", events, err) }
}

func TestWebhookBatches(t *testing.T) {
	url, bodies := receive(t, accept)
	w := NewWebhook(WebhookConfig{URL: url, BufferSize: 10, MaxBatchSize: 2, MaxBatchWait: time.Hour, Report: unexpected(t)})
	for id := range 5 {
		w.Write(event(id))
	}
	assert.Equal(t, "01", ids(t, <-bodies))
	assert.Equal(t, "23", ids(t, <-bodies))
	require.NoError(t, w.Close())
	assert.Equal(t, "4", ids(t, <-bodies), "Close sends the rest")
	require.NoError(t, w.Close())
	assert.Zero(t, w.size.Load())
}

func TestWebhookMaxBatchWait(t *testing.T) {
	url, bodies := receive(t, accept)
	w := NewWebhook(WebhookConfig{URL: url, BufferSize: 10, MaxBatchSize: 10, MaxBatchWait: time.Millisecond, QPS: 1000, Burst: 1, Report: unexpected(t)})
	defer w.Close()
	for id := range 3 {
		w.Write(event(id))
		assert.Equal(t, fmt.Sprint(id), ids(t, <-bodies))
	}
}

func TestWebhookBlocking(t *testing.T) {
	url, bodies := receive(t, accept)
	w := NewWebhook(WebhookConfig{URL: url, Blocking: true})
	defer w.Close()
	_, err := w.Write(event(7))
	require.NoError(t, err)
	select {
	case body := <-bodies:
		assert.Equal(t, "7", ids(t, body))
	default:
		t.Error("Write returned before the event was sent")
	}
}

func TestWebhookRetries(t *testing.T) {
	for _, tt := range []struct {
		name           string
		failures, sent int32
		err            string
	}{
		{"delivered", 4, 5, ""},
		{"lost", 100, 5, "the server answered 500 Internal Server Error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sent atomic.Int32
			url, _ := receive(t, func() int {
				if sent.Add(1) <= tt.failures {
					return http.StatusInternalServerError
				}
				return http.StatusOK
			})
			w := NewWebhook(WebhookConfig{URL: url, InitialBackoff: 1, Blocking: true})
			defer w.Close()
			_, err := w.Write(event(1))
			assert.Equal(t, tt.err == "", err == nil)
			if err != nil {
				assert.EqualError(t, err, tt.err)
			}
			assert.Equal(t, tt.sent, sent.Load())
		})
	}
}

// Events that find the buffer full are lost; Close does not wait for further attempts.
func TestWebhookBufferFull(t *testing.T) {
	begun := make(chan bool, 10)
	finish := make(chan bool)
	url, _ := receive(t, func() int {
		begun <- true
		<-finish
		return http.StatusServiceUnavailable
	})
	var lost atomic.Int32
	w := NewWebhook(WebhookConfig{URL: url, BufferSize: 2, MaxBatchSize: 1, InitialBackoff: time.Hour, Report: func(n int, _ error) { lost.Add(int32(n)) }})
	w.Write(event(1))
	<-begun // the buffer is empty
	for id := range 4 {
		w.Write(event(id))
	}
	assert.Equal(t, int32(2), lost.Load())
	close(finish)
	require.NoError(t, w.Close())
	assert.Equal(t, int32(5), lost.Load())
}
