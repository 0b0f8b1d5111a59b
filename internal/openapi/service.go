package openapi

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/status"
)

// A Service serves sets of documents. It converts them on first use and keeps
// the result. A Service is immutable and safe for concurrent use.
type Service struct {
	documents map[string]servedDocument
	remotes   []*Remote
	index     func() ([]byte, error)
	v2        func() (*v2Document, error)
	now       func() time.Time
}

// A servedDocument is a document of a set with the time of the set.
type servedDocument struct {
	*Document
	modified time.Time
}

type v2Document struct {
	made  time.Time
	json  []byte
	proto func() ([]byte, error)
	etag  string // of both encodings
}

const (
	v2Path = "/openapi/v2"
	v3Path = "/openapi/v3"
)

// New returns a service of some sets. What several of them have is served from
// the first one. What other servers have in addition, the first of them before the others,
// is in the index and in the v2 document; the caller forwards requests for their v3 documents.
// now is the clock for the headers Expires and Last-Modified.
func New(sets []*Set, remotes []*Remote, now func() time.Time) *Service {
	s := &Service{documents: map[string]servedDocument{}, remotes: remotes, now: now}
	for _, set := range slices.Backward(sets) {
		for _, d := range set.documents {
			s.documents[d.path] = servedDocument{d, set.modified}
		}
	}
	s.index = sync.OnceValues(s.makeIndex)
	s.v2 = sync.OnceValues(func() (*v2Document, error) {
		fragments := make([]*fragment, len(sets))
		for i, set := range sets {
			var err error
			if fragments[i], err = set.v2(); err != nil {
				return nil, err
			}
		}
		body, err := merge(fragments, remotes)
		if err != nil {
			return nil, err
		}
		return &v2Document{
			made:  now(),
			json:  body,
			proto: sync.OnceValues(func() ([]byte, error) { return encodeV2(body) }),
			etag:  fmt.Sprintf("%X", sha512.Sum512(body)),
		}, nil
	})
	return s
}

func (s *Service) makeIndex() ([]byte, error) {
	type entry struct {
		URL string `json:"serverRelativeURL"`
	}
	paths := make(map[string]entry, len(s.documents))
	for _, r := range slices.Backward(s.remotes) {
		for path, url := range r.urls {
			paths[path] = entry{url}
		}
	}
	for path, d := range s.documents {
		hash, err := d.hash()
		if err != nil {
			return nil, err
		}
		paths[path] = entry{hashedURL(path, hash)}
	}
	return json.Marshal(map[string]any{"paths": paths})
}

// hashedURL returns the URL at which the document may be cached forever.
func hashedURL(path, hash string) string {
	u := url.URL{Path: v3Path + "/" + path, RawQuery: url.Values{"hash": {hash}}.Encode()}
	return u.String()
}

// Has reports whether Serve serves the v3 document of a path itself.
func (s *Service) Has(path string) bool {
	_, ok := s.documents[strings.TrimPrefix(path, v3Path+"/")]
	return ok
}

// Serve responds to a request for a path under /openapi, of any method. It
// reports whether the path exists. It writes nothing if not, or if err is not
// nil: then a document failed to load, and err is a *status.Status.
//
// The response to a request with the document's hash is immutable; a request
// with another hash is redirected. Otherwise the caller sets Cache-Control.
func (s *Service) Serve(w http.ResponseWriter, r *http.Request, path string) (found bool, err error) {
	switch name, under := strings.CutPrefix(path, v3Path+"/"); {
	case path == v2Path:
		err = s.serveV2(w, r)
	case path == v3Path:
		err = s.serveIndex(w, r)
	case under:
		err = s.serveDocument(w, r, name)
	default:
		return false, nil
	}
	if err != nil {
		return true, status.Internal(err.Error())
	}
	return true, nil
}

func (s *Service) serveIndex(w http.ResponseWriter, r *http.Request) error {
	body, err := s.index()
	if err != nil {
		return err
	}
	// The index is JSON, but kube-apiserver declares it as text.
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	serve(w, r, body, s.now())
	return nil
}

func (s *Service) serveDocument(w http.ResponseWriter, r *http.Request, name string) error {
	d, ok := s.documents[name]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	h := w.Header()
	inProto, ok := wantsProtobuf(r, v3Protobuf)
	if !ok {
		h.Set("Vary", "Accept")
		w.WriteHeader(http.StatusNotAcceptable)
		return nil
	}
	hash, err := d.hash()
	if err != nil {
		return err
	}
	encoding, load := jsonEncoding, d.json
	if inProto {
		encoding, load = v3Protobuf, d.proto
	}
	body, err := load()
	if err != nil {
		return err
	}
	h.Set("Vary", "Accept")
	h.Set("Content-Type", encoding.contentType)
	h.Set("Etag", `"`+hash+`"`)
	if asked := r.URL.Query().Get("hash"); asked != "" {
		if asked != hash {
			http.Redirect(w, r, hashedURL(name, hash), http.StatusMovedPermanently)
			return nil
		}
		h.Set("Cache-Control", "public, immutable")
		h.Set("Expires", s.now().UTC().AddDate(1, 0, 0).Format(time.RFC1123))
	}
	serve(w, r, body, d.modified)
	return nil
}

func (s *Service) serveV2(w http.ResponseWriter, r *http.Request) error {
	inProto, ok := wantsProtobuf(r, v2Protobuf)
	if !ok {
		varyV2(w.Header())
		w.WriteHeader(http.StatusNotAcceptable)
		return nil
	}
	doc, err := s.v2()
	if err != nil {
		return err
	}
	encoding, body := jsonEncoding, doc.json
	if inProto {
		encoding = v2Protobuf
		if body, err = doc.proto(); err != nil {
			return err
		}
	}
	h := w.Header()
	varyV2(h)
	h.Set("Content-Type", encoding.contentType)
	h.Set("Etag", `"`+doc.etag+`"`)
	serve(w, r, body, doc.made)
	return nil
}

// varyV2 sets two Vary fields instead of one list, as kube-apiserver does.
func varyV2(h http.Header) { h["Vary"] = []string{"Accept-Encoding", "Accept"} }

// serve writes a body, the requested range of it, or 304. Without a time it has no
// Last-Modified header.
func serve(w http.ResponseWriter, r *http.Request, body []byte, modified time.Time) {
	http.ServeContent(w, r, "", modified, bytes.NewReader(body))
}
