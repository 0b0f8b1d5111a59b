package openapi

import (
	"crypto/sha512"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/resource"
)

// A Document is the OpenAPI v3 document of one path. It is immutable and safe
// for concurrent use. Services that serve the same Document share the results
// of its conversions.
type Document struct {
	path  string
	hash  func() (string, error)
	json  func() ([]byte, error)
	proto func() ([]byte, error)
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
	return d
}

// A Set is a set of documents and their conversion to v2. It is immutable and
// safe for concurrent use. Services that serve the same Set share its results.
type Set struct {
	documents []*Document
	v2        func() (*fragment, error)
	modified  time.Time
}

// V2Overrides has what the conversion of v3 documents to v2 cannot derive.
type V2Overrides struct {
	// Definitions replace the converted definitions with the same names.
	Definitions map[string]any
	// GroupVersions are those that the definitions of DeleteOptions and
	// WatchEvent list.
	GroupVersions []resource.GroupVersion
	// Consumes are the media types of operations without a body.
	Consumes []string
}

// NewSet returns the set of some documents. v2 is called on first use.
func NewSet(documents []*Document, v2 func() V2Overrides) *Set {
	return &Set{documents: documents, v2: sync.OnceValues(func() (*fragment, error) {
		byPath := slices.Clone(documents)
		slices.SortFunc(byPath, func(a, b *Document) int { return strings.Compare(a.path, b.path) })
		f, overrides := newFragment(), v2()
		for _, d := range slices.Backward(byPath) { // of conflicting definitions, kube-apiserver serves the last one
			b, err := d.json()
			if err == nil {
				err = f.add(b, overrides)
			}
			if err != nil {
				return nil, fmt.Errorf("OpenAPI of %s: %w", d.path, err)
			}
		}
		return f, nil
	})}
}

// ModifiedAt returns the set with a time for the Last-Modified header of its documents, which
// have none otherwise. It shares the results of s.
func (s *Set) ModifiedAt(t time.Time) *Set { return &Set{s.documents, s.v2, t} }
