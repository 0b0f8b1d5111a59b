package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// attempts is how often a Webhook sends a batch that fails.
	attempts = 5
	// growth is the factor between the waits before two attempts.
	growth = 1.5
	// requestTimeout bounds each attempt.
	requestTimeout = 30 * time.Second
	// closeTimeout bounds Close.
	closeTimeout = time.Second
	// maxBuffered bounds the bytes of the events in the buffer of a Webhook.
	maxBuffered = 64 << 20
)

// A WebhookConfig has the flags of kube-apiserver for a Webhook.
type WebhookConfig struct {
	// URL is the address of the webhook.
	URL string
	// Transport sends the requests.
	Transport http.RoundTripper
	// InitialBackoff is the wait before the second attempt.
	InitialBackoff time.Duration
	// Blocking sends each event before its answer ends, by itself. The fields below have no
	// effect then.
	Blocking bool
	// BufferSize is how many events wait for a batch. Further ones are lost.
	BufferSize int
	// MaxBatchSize is how many events a batch has at most.
	MaxBatchSize int
	// MaxBatchWait is how long a batch waits for further events after the first one.
	MaxBatchWait time.Duration
	// QPS is how many batches are sent in a second, after the first Burst ones; 0 is no
	// limit.
	QPS   float64
	Burst int
	// Report is called for events that are lost after Write. It may be called concurrently.
	Report func(events int, err error)
}

// A Webhook is the writer of a [Log] that sends events to a server, as EventLists of
// audit.k8s.io/v1. It sends one batch after the other. Close releases it.
//
// Differs from kube-apiserver: events for an audit webhook that fails: they wait until the
// batch before is delivered or lost, and are lost beyond 64 MiB. Request: any, with
// --audit-webhook-config-file.
type Webhook struct {
	config WebhookConfig
	client *http.Client
	buffer chan []byte
	size   atomic.Int64 // of the events in buffer
	ctx    context.Context
	cancel context.CancelFunc // ends requests
	stop   chan struct{}      // closed by Close
	close  sync.Once
	done   chan struct{} // closed when the goroutine of batches ends

	tokens float64   // of the limit, at the time filled
	filled time.Time // of the goroutine of batches
}

// errBufferFull is reported for events that find the buffer full.
var errBufferFull = errors.New("audit buffer queue blocked")

// NewWebhook returns a Webhook, and begins its goroutine unless it blocks.
func NewWebhook(c WebhookConfig) *Webhook {
	w := &Webhook{
		config: c, client: &http.Client{Transport: c.Transport, Timeout: requestTimeout},
		stop: make(chan struct{}), done: make(chan struct{}), tokens: float64(c.Burst), filled: time.Now(),
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	if c.Blocking {
		close(w.done)
		return w
	}
	w.buffer = make(chan []byte, c.BufferSize)
	go w.run()
	return w
}

// Write sends an event, or adds it to the buffer, which does not fail.
func (w *Webhook) Write(line []byte) (int, error) {
	if w.config.Blocking {
		return len(line), w.post([][]byte{line})
	}
	event := bytes.Clone(line)
	if w.size.Add(int64(len(event))) <= maxBuffered {
		select {
		case w.buffer <- event:
			return len(line), nil
		default:
		}
	}
	w.size.Add(-int64(len(event)))
	w.config.Report(1, errBufferFull)
	return len(line), nil
}

// Close sends the events of the buffer, each once, for up to a second, and ends all
// requests. No Write comes after it.
func (w *Webhook) Close() error {
	w.close.Do(func() {
		close(w.stop)
		timer := time.AfterFunc(closeTimeout, w.cancel)
		<-w.done
		timer.Stop()
		w.cancel()
		w.client.CloseIdleConnections()
	})
	return nil
}

// run sends batches until Close.
func (w *Webhook) run() {
	defer close(w.done)
	for {
		batch, more := w.collect()
		if len(batch) > 0 {
			w.limit()
			if err := w.post(batch); err != nil {
				w.config.Report(len(batch), err)
			}
		}
		if !more {
			return
		}
	}
}

// collect returns the events of the next batch. more is false after the last one.
func (w *Webhook) collect() (batch [][]byte, more bool) {
	var full <-chan time.Time // nil until the first event
	add := func(event []byte) {
		w.size.Add(-int64(len(event)))
		batch = append(batch, event)
	}
	for len(batch) < w.config.MaxBatchSize {
		select {
		case event := <-w.buffer:
			add(event)
			if full == nil {
				timer := time.NewTimer(w.config.MaxBatchWait)
				defer timer.Stop()
				full = timer.C
			}
		case <-full:
			return batch, true
		case <-w.stop:
			for len(batch) < w.config.MaxBatchSize {
				select {
				case event := <-w.buffer:
					add(event)
				default:
					return batch, false
				}
			}
		}
	}
	return batch, true
}

// limit waits until a batch may be sent.
func (w *Webhook) limit() {
	if w.config.QPS == 0 {
		return
	}
	now := time.Now()
	w.tokens = min(float64(w.config.Burst), w.tokens+now.Sub(w.filled).Seconds()*w.config.QPS) - 1
	w.filled = now
	if w.tokens < 0 {
		w.wait(time.Duration(-w.tokens / w.config.QPS * float64(time.Second)))
	}
}

// wait waits for d. It is false if Close ends it.
func (w *Webhook) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.stop:
		return false
	}
}

// post sends events, and tries again if that fails. The error is the last one.
func (w *Webhook) post(events [][]byte) error {
	body := eventList(events)
	delay := w.config.InitialBackoff
	for attempt := 1; ; attempt++ {
		err := w.send(body)
		if err == nil || attempt == attempts || !w.wait(delay) {
			return err
		}
		delay = time.Duration(float64(delay) * growth)
	}
}

// send sends an EventList once.
func (w *Webhook) send(body []byte) error {
	req, err := http.NewRequestWithContext(w.ctx, http.MethodPost, w.config.URL+"?timeout="+requestTimeout.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, */*")
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // for the next request on the connection
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	return nil
}

// eventHead is the begin of each line of a Log. The items of a list are without it.
const eventHead = `{"kind":"Event","apiVersion":"audit.k8s.io/v1",`

// eventList returns the EventList of lines of a Log.
func eventList(events [][]byte) []byte {
	body := []byte(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[`)
	for i, event := range events {
		if i > 0 {
			body = append(body, ',')
		}
		event = bytes.TrimSpace(event)
		if rest, ok := bytes.CutPrefix(event, []byte(eventHead)); ok {
			body = append(body, '{')
			event = rest
		}
		body = append(body, event...)
	}
	return append(body, "]}"...)
}
