package clientsuite

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stream returns events in the framing of a media type.
func stream(contentType string, events ...string) []byte {
	var out []byte
	for _, e := range events {
		if contentType == "application/json" {
			out = append(append(out, e...), '\n')
			continue
		}
		out = binary.BigEndian.AppendUint32(out, uint32(len(e)))
		out = append(out, e...)
	}
	return out
}

func TestCutBody(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf;stream=watch"} {
		events := []string{"one", "twotwo", "three", "four"}
		whole := stream(contentType, events...)
		for name, pieces := range map[string]func(io.Reader) io.Reader{
			"in one read":  func(r io.Reader) io.Reader { return r },
			"in halves":    iotest.HalfReader,
			"byte by byte": iotest.OneByteReader,
		} {
			t.Run(contentType+" "+name, func(t *testing.T) {
				for n := 1; n <= len(events); n++ {
					least := len(stream(contentType, events[:n]...))
					b := &cutBody{
						ReadCloser: io.NopCloser(pieces(bytes.NewReader(whole))),
						frames:     framesOf(contentType),
						events:     n,
						onCut:      func() bool { return true },
					}
					got, err := io.ReadAll(b)
					require.ErrorIs(t, err, io.ErrUnexpectedEOF)
					assert.GreaterOrEqual(t, len(got), least, "bytes of %d complete events", n)
					assert.True(t, bytes.HasPrefix(whole, got))
					if n < len(events) {
						assert.Less(t, len(got), len(whole))
					}
				}
			})
		}
	}
}

func TestCutBodyWithoutCut(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	b := &cutBody{
		ReadCloser: io.NopCloser(strings.NewReader(text)),
		frames:     lines{},
		events:     1,
		onCut:      func() bool { return false },
	}
	got, err := io.ReadAll(b)
	require.NoError(t, err)
	assert.Equal(t, text, string(got))
}

// FuzzFrames checks that the ends of the events do not depend on the sizes of the
// reads.
func FuzzFrames(f *testing.F) {
	f.Add(stream("application/json", "one", "", "three"), uint8(2), true)
	f.Add(stream("application/vnd.kubernetes.protobuf", "one", "", "three"), uint8(3), false)
	f.Fuzz(func(t *testing.T, body []byte, piece uint8, json bool) {
		framing := func() frames {
			if json {
				return lines{}
			}
			return &prefixed{}
		}
		assert.Equal(t, ends(framing(), body, len(body)), ends(framing(), body, int(piece)))
	})
}

// ends returns the offsets of the ends of the events in body, read in parts of the
// given size.
func ends(f frames, body []byte, size int) []int {
	var out []int
	size = max(size, 1)
	for start := 0; start < len(body); start += size {
		p := body[start:min(start+size, len(body))]
		for at := 0; at < len(p); {
			n, whole := f.next(p[at:])
			at += n
			if whole {
				out = append(out, start+at)
			}
		}
	}
	return out
}
