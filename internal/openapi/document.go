package openapi

import (
	"crypto/sha512"
	"fmt"
	"sync"
)

// A Document is the OpenAPI v3 document of one path. It is immutable and safe
// for concurrent use; services that serve the same Document share what is made
// of it.
type Document struct {
	path  string
	hash  func() (string, error)
	json  func() ([]byte, error)
	proto func() ([]byte, error)
	v2    func() (*fragment, error)
}

// NewDocument returns the document that the index names path, such as "api/v1"
// or "apis/apps/v1". Its contents are loaded once, when they are first needed;
// the bytes must not change then, and an error stays. The hash under which the
// index publishes the document may be empty: it is then the SHA-512 of the
// contents.
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
		return protoV3(b)
	})
	d.v2 = sync.OnceValues(func() (*fragment, error) {
		b, err := d.json()
		if err != nil {
			return nil, err
		}
		return convert(b, InV2{Consumes: []string{"*/*"}})
	})
	return d
}

// InV2 is what the v2 document says otherwise than what a v3 document converts
// to.
type InV2 struct {
	// Definitions stand in the place of those of their names.
	Definitions map[string]any
	// Consumes are the media types of operations without a body.
	Consumes []string
}

// WithV2 is the document with what v2 says otherwise, which is asked for when it
// is first needed.
func (d *Document) WithV2(v2 func() InV2) *Document {
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
