package codec_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/codec"
)

var streamed = []codec.Format{codec.JSON, codec.Protobuf, codec.CBOR}

// stream returns the bytes of a watch with events of the given types.
func stream(t testing.TB, f codec.Format, types ...string) (stream []byte, ends []int) {
	configMap := []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"text":"two\nlines"}}`)
	object := f.Append(nil, configMap, kind(t, "ConfigMap"))
	for _, typ := range types {
		stream = f.AppendEvent(stream, typ, object)
		ends = append(ends, len(stream))
	}
	return stream, ends
}

func TestEvents(t *testing.T) {
	types := []string{"ADDED", "BOOKMARK", "DELETED"}
	for _, f := range streamed {
		t.Run(f.StreamMediaType(), func(t *testing.T) {
			got, ok := codec.StreamFormat(f.StreamMediaType())
			require.True(t, ok)
			assert.Equal(t, f, got)

			b, ends := stream(t, f, types...)
			for end := range len(b) + 1 {
				whole := 0
				for _, e := range ends {
					if e <= end {
						whole = e
					}
				}
				require.Equal(t, whole, f.WholeEvents(b[:end]), "of the first %d bytes", end)
			}
			var read []string
			for len(b) > 0 {
				n := f.NextEvent(b)
				read = append(read, f.EventType(b[:n]))
				b = b[n:]
			}
			assert.Equal(t, types, read)
		})
	}
}

func TestStreamFormat(t *testing.T) {
	for contentType, want := range map[string]bool{
		"application/json":                                  true,
		"application/json;stream=watch":                     true,
		"application/json; charset=utf-8":                   true,
		"application/vnd.kubernetes.protobuf":               false,
		"application/vnd.kubernetes.protobuf; stream=watch": true,
		"application/cbor":                                  false,
		"application/cbor-seq":                              true,
		"text/plain; charset=utf-8":                         false,
		"":                                                  false,
		";":                                                 false,
	} {
		_, ok := codec.StreamFormat(contentType)
		assert.Equal(t, want, ok, "%q", contentType)
	}
}

func TestAppendError(t *testing.T) {
	status := []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}` + "\n")
	for _, f := range streamed {
		t.Run(f.StreamMediaType(), func(t *testing.T) {
			event := f.AppendError([]byte{}, status)
			assert.Equal(t, len(event), f.NextEvent(event))
			assert.Equal(t, "ERROR", f.EventType(event))
			assert.Contains(t, string(event), "too old")
		})
	}
	var event struct {
		Object json.RawMessage `json:"object"`
	}
	require.NoError(t, json.Unmarshal(codec.JSON.AppendError(nil, status), &event))
	assert.JSONEq(t, string(status), string(event.Object))
}

func TestEventTypeOfWhatIsNone(t *testing.T) {
	for _, f := range streamed {
		for _, b := range []string{"", "{}\n", "\x00\x00\x00\x02\x0a\x05", "\xd9\xd9\xf7\xa0", "\xff"} {
			assert.Empty(t, f.EventType([]byte(b)), "%s: %q", f.MediaType(), b)
		}
	}
}

// FuzzEvents checks that NextEvent and WholeEvents accept any bytes, and agree.
func FuzzEvents(f *testing.F) {
	for _, format := range streamed {
		b, _ := stream(f, format, "ADDED", "MODIFIED")
		f.Add(uint8(format), b)
	}
	f.Fuzz(func(t *testing.T, format uint8, b []byte) {
		of := streamed[int(format)%len(streamed)]
		whole := of.WholeEvents(b)
		end := 0
		for {
			n := of.NextEvent(b[end:])
			if n == 0 {
				break
			}
			of.EventType(b[end : end+n])
			end += n
		}
		assert.Equal(t, whole, end)
		assert.Zero(t, of.NextEvent(b[whole:]))
	})
}

func ExampleFormat_NextEvent() {
	b := []byte("{\"type\":\"ADDED\",\"object\":{}}\n{\"type\":\"DELETED\",\"object\":{}}\n{\"type\":")
	for n := codec.JSON.NextEvent(b); n > 0; n = codec.JSON.NextEvent(b) {
		fmt.Println(codec.JSON.EventType(b[:n]))
		b = b[n:]
	}
	fmt.Printf("%s is to be continued\n", b)
	// Output:
	// ADDED
	// DELETED
	// {"type": is to be continued
}
