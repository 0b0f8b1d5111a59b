package codec

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// compressThreshold is how long an answer can be that is not compressed.
const compressThreshold = 128 << 10

// A Compressor writes an answer, compressed if the client accepts gzip and the
// answer turns out longer than 128 KiB. Until then it holds back what is written,
// header included; Close sends the rest. It has to be closed, also after an error,
// and is of no use after that.
type Compressor struct {
	http.ResponseWriter
	code int // of a header held back
	held *[]byte
	gzip *gzip.Writer
}

var (
	heldPool = sync.Pool{New: func() any {
		b := make([]byte, 0, compressThreshold)
		return &b
	}}
	gzipPool = sync.Pool{New: func() any {
		// The fastest level, which kube-apiserver uses.
		w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			panic("codec: " + err.Error()) // unreachable: the level is a valid one
		}
		return w
	}}
)

// Compress returns a Compressor for the answer to r. A client accepts gzip if its
// Accept-Encoding header has that word alone between commas: a quality after it,
// capitals or a * are not understood. Watches should not be compressed.
func Compress(w http.ResponseWriter, r *http.Request) *Compressor {
	c := &Compressor{ResponseWriter: w}
	for token := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(token) == "gzip" {
			c.held = heldPool.Get().(*[]byte)
			break
		}
	}
	return c
}

// WriteHeader sets the status of the answer.
func (c *Compressor) WriteHeader(code int) {
	switch {
	case c.held == nil:
		c.ResponseWriter.WriteHeader(code)
	case c.code == 0:
		c.code = code
	}
}

// Write writes a part of the answer.
func (c *Compressor) Write(b []byte) (int, error) {
	switch {
	case c.gzip != nil:
		return c.gzip.Write(b)
	case c.held == nil:
		return c.ResponseWriter.Write(b)
	case len(*c.held)+len(b) <= compressThreshold:
		*c.held = append(*c.held, b...)
		return len(b), nil
	}
	h := c.Header()
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
	h.Del("Content-Length")
	c.gzip = gzipPool.Get().(*gzip.Writer)
	c.gzip.Reset(c.ResponseWriter)
	if err := c.release(c.gzip); err != nil {
		return 0, err
	}
	return c.gzip.Write(b)
}

// release sends the header and hands what was held back to w.
func (c *Compressor) release(w io.Writer) error {
	held := c.held
	c.held = nil
	if c.code != 0 {
		c.ResponseWriter.WriteHeader(c.code)
	}
	var err error
	if len(*held) > 0 {
		_, err = w.Write(*held)
	}
	*held = (*held)[:0]
	heldPool.Put(held)
	return err
}

// Close sends what is left of the answer. The error is that of the connection.
func (c *Compressor) Close() error {
	switch {
	case c.gzip != nil:
		err := c.gzip.Close()
		c.gzip.Reset(nil)
		gzipPool.Put(c.gzip)
		c.gzip = nil
		return err
	case c.held != nil:
		return c.release(c.ResponseWriter)
	}
	return nil
}

// Unwrap lets http.ResponseController find the writer below.
func (c *Compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }
