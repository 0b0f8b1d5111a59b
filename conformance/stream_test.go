package conformance

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxFrame bounds one event of a protobuf watch.
const maxFrame = 16 << 20

// A stream is a watch that a scenario reads from later. A goroutine reads its
// events as they come, so that the server never waits for the scenario.
type stream struct {
	events chan any // closed when the stream ends
	cancel context.CancelFunc
}

// newStream takes over body and decodes its events.
func newStream(cancel context.CancelFunc, contentType string, body io.ReadCloser) *stream {
	// More room than any scenario has events.
	s := &stream{events: make(chan any, 4096), cancel: cancel}
	go func() {
		defer close(s.events)
		defer body.Close()
		next := decoder(contentType, body)
		for {
			e, err := next()
			if err != nil {
				return
			}
			s.events <- e
		}
	}()
	return s
}

// refused is the stream of a watch that the server did not open.
func refused() *stream {
	s := &stream{events: make(chan any), cancel: func() {}}
	close(s.events)
	return s
}

// close ends the watch and waits for its reader.
func (s *stream) close() {
	s.cancel()
	for range s.events {
	}
}

// decoder returns a function that gives one event after another and an error
// at the end.
func decoder(contentType string, r io.Reader) func() (any, error) {
	switch {
	case strings.HasPrefix(contentType, "application/json"):
		d := json.NewDecoder(r)
		d.UseNumber()
		return func() (v any, err error) {
			err = d.Decode(&v)
			return v, err
		}
	case strings.HasPrefix(contentType, "application/cbor-seq"):
		d := cborMode.NewDecoder(r)
		return func() (v any, err error) {
			err = d.Decode(&v)
			return cborToJSON(v), err
		}
	case strings.HasPrefix(contentType, "application/vnd.kubernetes.protobuf"):
		return func() (any, error) { return protobufEvent(r) }
	}
	return func() (any, error) {
		b, err := io.ReadAll(r)
		if err == nil && len(b) == 0 {
			err = io.EOF
		}
		return decodeBody(contentType, b), err
	}
}

// protobufEvent reads a frame: a big-endian length, then a WatchEvent whose
// object has the usual envelope.
func protobufEvent(r io.Reader) (any, error) {
	var size uint32
	if err := binary.Read(r, binary.BigEndian, &size); err != nil {
		return nil, err
	}
	if size > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes", size)
	}
	frame := make([]byte, size)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, err
	}
	var e metav1.WatchEvent
	if err := e.Unmarshal(frame); err != nil {
		return nil, err
	}
	return map[string]any{"type": e.Type, "object": decodeProtobuf(e.Object.Raw)}, nil
}

// openStream answers a watch request: a stream of events where the server
// opened one, and the refusal's body where it did not.
func openStream(resp *http.Response, cancel context.CancelFunc) (*stream, any, error) {
	contentType := resp.Header.Get("Content-Type")
	if resp.StatusCode == http.StatusOK {
		return newStream(cancel, contentType, resp.Body), nil, nil
	}
	defer cancel()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return refused(), decodeBody(contentType, b), err
}
