package codec

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/header"
)

// compressThreshold is the length of the longest response that is not
// compressed.
const compressThreshold = 128 << 10

// A Compressor writes a response. It compresses a response of more than 128 KiB
// if the client accepts gzip. It buffers the header and the body up to that
// length. Close sends the buffer; it must be called, also
// after an error. A closed Compressor must not be used.
type Compressor struct {
	http.ResponseWriter
	code   int // buffered status, 0 if none
	buffer *[]byte
	gzip   *gzip.Writer
}

var (
	bufferPool = sync.Pool{New: func() any {
		b := make([]byte, 0, compressThreshold)
		return &b
	}}
	gzipPool = sync.Pool{New: func() any {
		// kube-apiserver uses the fastest level.
		w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			panic("codec: " + err.Error()) // unreachable: the level is valid
		}
		return w
	}}
)

// Compress returns a Compressor for the response to r. Watches should not be compressed.
func Compress(w http.ResponseWriter, r *http.Request) *Compressor {
	c := &Compressor{ResponseWriter: w}
	if acceptsGzip(r) {
		c.buffer = bufferPool.Get().(*[]byte)
	}
	return c
}

// Compresses reports whether a response to r with a body of this length is compressed.
func Compresses(r *http.Request, length int) bool {
	return length > compressThreshold && acceptsGzip(r)
}

// acceptsGzip reports whether the Accept-Encoding header lists exactly the word gzip: a
// quality, capitals and * are not recognized, as in kube-apiserver.
func acceptsGzip(r *http.Request) bool {
	accepted := header.Get(r.Header, "Accept-Encoding")
	for more := true; more; {
		var token string
		token, accepted, more = strings.Cut(accepted, ",")
		if strings.TrimSpace(token) == "gzip" {
			return true
		}
	}
	return false
}

// WriteHeader sets the status of the response.
func (c *Compressor) WriteHeader(code int) {
	switch {
	case c.buffer == nil:
		c.ResponseWriter.WriteHeader(code)
	case c.code == 0:
		c.code = code
	}
}

// Write writes a part of the response.
func (c *Compressor) Write(b []byte) (int, error) {
	switch {
	case c.gzip != nil:
		return c.gzip.Write(b)
	case c.buffer == nil:
		return c.ResponseWriter.Write(b)
	case len(*c.buffer)+len(b) <= compressThreshold:
		*c.buffer = append(*c.buffer, b...)
		return len(b), nil
	}
	h := c.Header()
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
	h.Del("Content-Length")
	c.gzip = gzipPool.Get().(*gzip.Writer)
	c.gzip.Reset(c.ResponseWriter)
	if err := c.flushTo(c.gzip); err != nil {
		return 0, err
	}
	return c.gzip.Write(b)
}

// flushTo sends the header and writes the buffer to w.
func (c *Compressor) flushTo(w io.Writer) error {
	buffer := c.buffer
	c.buffer = nil
	if c.code != 0 {
		c.ResponseWriter.WriteHeader(c.code)
	}
	var err error
	if len(*buffer) > 0 {
		_, err = w.Write(*buffer)
	}
	*buffer = (*buffer)[:0]
	bufferPool.Put(buffer)
	return err
}

// Close sends the rest of the response. The error is that of the connection.
func (c *Compressor) Close() error {
	switch {
	case c.gzip != nil:
		err := c.gzip.Close()
		c.gzip.Reset(nil)
		gzipPool.Put(c.gzip)
		c.gzip = nil
		return err
	case c.buffer != nil:
		return c.flushTo(c.ResponseWriter)
	}
	return nil
}

// Unwrap lets http.ResponseController find the underlying writer.
func (c *Compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }
