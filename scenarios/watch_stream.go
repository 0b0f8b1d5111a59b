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
	// maxFrame is the size limit of an event of a protobuf watch, in bytes.
	maxFrame = 16 << 20
	// readAhead is how many events a stream buffers for later steps.
	readAhead = 4096
)

// A stream is an open watch that later steps read. A goroutine buffers its events,
// so that the server does not wait for the steps.
type stream struct {
	events chan any // closed at the end of the watch
	cancel context.CancelFunc
}

// openStream returns a stream of the answer to a watch request. If the server
// refused the watch, it returns an ended stream and the decoded body.
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

// close ends the watch and waits for the goroutine.
func (s *stream) close() {
	s.cancel()
	for range s.events {
	}
}

// eventDecoder returns a function that decodes the next event. It fails at the end
// of the stream.
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

// protobufEvent decodes a frame: its length as a big-endian uint32, then the event.
func protobufEvent(r io.Reader) (any, error) {
	var size uint32
	if err := binary.Read(r, binary.BigEndian, &size); err != nil {
		return nil, err
	}
	if size > maxFrame {
		return nil, fmt.Errorf("the event is too large: %d bytes", size)
	}
	frame := make([]byte, size)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, err
	}
	return decodeEvent(frame)
}

// decodeEvent decodes a WatchEvent: field 1 is its type, field 2 is a RawExtension
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

// field returns the content of a field of a message; it is empty if the message does
// not have the field.
func field(message []byte, number protowire.Number) (content []byte, err error) {
	for len(message) > 0 {
		n, wireType, size := protowire.ConsumeField(message)
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		if n == number && wireType == protowire.BytesType {
			_, _, head := protowire.ConsumeTag(message)
			content, _ = protowire.ConsumeBytes(message[head:])
		}
		message = message[size:]
	}
	return content, nil
}
