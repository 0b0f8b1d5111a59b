package openapi

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/status"
)

// A Service serves a set of documents. What is served is made when it is first
// asked for and kept. A Service is immutable and safe for concurrent use.
type Service struct {
	documents map[string]*Document
	index     func() ([]byte, error)
	v2        func() (*v2Document, error)
	now       func() time.Time
}

type v2Document struct {
	json  []byte
	proto func() ([]byte, error)
	etag  string // in either form
}

const (
	v2Path = "/openapi/v2"
	v3Path = "/openapi/v3"
)

// New returns a service of documents. Of two with the same path the later one
// is served. now is the clock that Expires is told by.
func New(documents []*Document, now func() time.Time) *Service {
	s := &Service{documents: make(map[string]*Document, len(documents)), now: now}
	for _, d := range documents {
		s.documents[d.path] = d
	}
	s.index = sync.OnceValues(s.makeIndex)
	s.v2 = sync.OnceValues(func() (*v2Document, error) {
		body, err := merge(s.documents)
		if err != nil {
			return nil, err
		}
		return &v2Document{
			json:  body,
			proto: sync.OnceValues(func() ([]byte, error) { return protoV2(body) }),
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
	for path, d := range s.documents {
		hash, err := d.hash()
		if err != nil {
			return nil, err
		}
		paths[path] = entry{hashedURL(path, hash)}
	}
	return json.Marshal(map[string]any{"paths": paths})
}

// hashedURL is where the document may be cached for ever.
func hashedURL(path, hash string) string {
	u := url.URL{Path: v3Path + "/" + path, RawQuery: url.Values{"hash": {hash}}.Encode()}
	return u.String()
}

// Serve answers a request for a path under /openapi, of any method, and reports
// whether something is served there. Nothing is written if not, or if err is
// not nil: then a document failed to load, and err is a *status.Status.
//
// A document asked for by its hash is told to be immutable; one asked for by
// another hash is redirected. Cache-Control is otherwise left to the caller.
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
	// The index is JSON; that it is called text is the real server's doing.
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	serve(w, r, body)
	return nil
}

func (s *Service) serveDocument(w http.ResponseWriter, r *http.Request, name string) error {
	d := s.documents[name]
	if d == nil {
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	h := w.Header()
	inProto, ok := wantsProto(r, v3Proto)
	if !ok {
		h.Set("Vary", "Accept")
		w.WriteHeader(http.StatusNotAcceptable)
		return nil
	}
	hash, err := d.hash()
	if err != nil {
		return err
	}
	form, load := jsonForm, d.json
	if inProto {
		form, load = v3Proto, d.proto
	}
	body, err := load()
	if err != nil {
		return err
	}
	h.Set("Vary", "Accept")
	h.Set("Content-Type", form.contentType)
	h.Set("Etag", `"`+hash+`"`)
	if asked := r.URL.Query().Get("hash"); asked != "" {
		if asked != hash {
			http.Redirect(w, r, hashedURL(name, hash), http.StatusMovedPermanently)
			return nil
		}
		h.Set("Cache-Control", "public, immutable")
		h.Set("Expires", s.now().UTC().AddDate(1, 0, 0).Format(time.RFC1123))
	}
	serve(w, r, body)
	return nil
}

func (s *Service) serveV2(w http.ResponseWriter, r *http.Request) error {
	inProto, ok := wantsProto(r, v2Proto)
	if !ok {
		varyV2(w.Header())
		w.WriteHeader(http.StatusNotAcceptable)
		return nil
	}
	doc, err := s.v2()
	if err != nil {
		return err
	}
	form, body := jsonForm, doc.json
	if inProto {
		form = v2Proto
		if body, err = doc.proto(); err != nil {
			return err
		}
	}
	h := w.Header()
	varyV2(h)
	h.Set("Content-Type", form.contentType)
	h.Set("Etag", `"`+doc.etag+`"`)
	serve(w, r, body)
	return nil
}

// varyV2 has two fields and not one list, as clients that read only the first
// see it.
func varyV2(h http.Header) { h["Vary"] = []string{"Accept-Encoding", "Accept"} }

// serve writes a body or the range of it, or 304, that a request asks for.
func serve(w http.ResponseWriter, r *http.Request, body []byte) {
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
