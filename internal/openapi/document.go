package openapi

import (
	"crypto/sha512"
	"fmt"
	"sync"
)

// A Document is the OpenAPI v3 document of one path. It is immutable and safe
// for concurrent use. Services that serve the same Document share the results
// of its conversions.
type Document struct {
	path  string
	hash  func() (string, error)
	json  func() ([]byte, error)
	proto func() ([]byte, error)
	v2    func() (*fragment, error)
}

// NewDocument returns the document that the index lists under path, such as
// "api/v1" or "apis/apps/v1". load is called once, on first use; the bytes must
// not change afterwards, and an error is kept. hash is the hash in the index;
// "" stands for the SHA-512 of the contents.
func NewDocument(path, hash string, load func() ([]byte, error)) *Document {
	d := &Document{path: path, json: sync.OnceValues(load)}
	d.hash = sync.OnceValues(func() (string, error) {
		if hash != "" {
			return hash, nil
		}
		b, err := d.json()
		return fmt.Sprintf("%X", sha512.Sum512(b)), err
	})
	d.proto = sync.OnceValues(func() ([]byte, error) {
		b, err := d.json()
		if err != nil {
			return nil, err
		}
		return encodeV3(b)
	})
	d.v2 = sync.OnceValues(func() (*fragment, error) {
		b, err := d.json()
		if err != nil {
			return nil, err
		}
		return convert(b, V2Overrides{Consumes: []string{"*/*"}})
	})
	return d
}

// V2Overrides has what the conversion of a v3 document to v2 cannot derive.
type V2Overrides struct {
	// Definitions replace the converted definitions with the same names.
	Definitions map[string]any
	// Consumes are the media types of operations without a body.
	Consumes []string
}

// WithV2 returns the document with overrides for v2. v2 is called on first use.
func (d *Document) WithV2(v2 func() V2Overrides) *Document {
	out := *d
	out.v2 = sync.OnceValues(func() (*fragment, error) {
		b, err := d.json()
		if err != nil {
			return nil, err
		}
		return convert(b, v2())
	})
	return &out
}
