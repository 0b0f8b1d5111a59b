package scenarios

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// maxFrame bounds one event of a protobuf watch.
	maxFrame = 16 << 20
	// readAhead is how many events wait for the step that reads them before the
	// server does.
	readAhead = 4096
)

// A stream is a watch that later steps read. A goroutine reads its events as
// they come, so that the server need not wait for a step.
type stream struct {
	events chan any // closed when the stream ends
	cancel context.CancelFunc
}

// openStream takes over the answer to a watch: the events of one that was
// opened, the body of one that was refused.
func openStream(resp *http.Response, cancel context.CancelFunc) (*stream, any, error) {
	contentType := resp.Header.Get("Content-Type")
	if resp.StatusCode != http.StatusOK {
		defer cancel()
		defer resp.Body.Close()
		s := &stream{events: make(chan any), cancel: cancel}
		close(s.events)
		b, err := io.ReadAll(resp.Body)
		return s, decodeBody(contentType, b), err
	}
	s := &stream{events: make(chan any, readAhead), cancel: cancel}
	go func() {
		defer close(s.events)
		defer resp.Body.Close()
		next := eventDecoder(contentType, resp.Body)
		for {
			e, err := next()
			if err != nil {
				return
			}
			s.events <- e
		}
	}()
	return s, nil, nil
}

// close ends the watch and waits for its reader.
func (s *stream) close() {
	s.cancel()
	for range s.events {
	}
}

// eventDecoder returns a function that gives one event after another, and an
// error at the end.
func eventDecoder(contentType string, r io.Reader) func() (any, error) {
	switch {
	case strings.HasPrefix(contentType, "application/json"):
		d := json.NewDecoder(r)
		d.UseNumber()
		return func() (v any, err error) {
			err = d.Decode(&v)
			return v, err
		}
	case strings.HasPrefix(contentType, "application/cbor-seq"):
		d := cborMode().NewDecoder(r)
		return func() (v any, err error) {
			err = d.Decode(&v)
			return fromCBOR(v), err
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

// protobufEvent reads a frame: a big-endian length, then an event.
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
	return decodeEvent(frame)
}

// decodeEvent decodes a WatchEvent: field 1 is its type, field 2 an extension
// whose field 1 is the object in its envelope.
func decodeEvent(frame []byte) (any, error) {
	eventType, err := field(frame, 1)
	if err != nil {
		return nil, err
	}
	extension, err := field(frame, 2)
	if err != nil {
		return nil, err
	}
	raw, err := field(extension, 1)
	if err != nil {
		return nil, err
	}
	object, err := decodeProtobuf(raw)
	return map[string]any{"type": string(eventType), "object": object}, err
}

// field returns the content of a field of a message, which is empty if it is
// not there.
func field(message []byte, number protowire.Number) (content []byte, err error) {
	for len(message) > 0 {
		n, sort, size := protowire.ConsumeField(message)
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		if n == number && sort == protowire.BytesType {
			_, _, head := protowire.ConsumeTag(message)
			content, _ = protowire.ConsumeBytes(message[head:])
		}
		message = message[size:]
	}
	return content, nil
}
