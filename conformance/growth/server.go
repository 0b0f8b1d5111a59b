package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// The measured objects are in a namespace of their own, and there are always a few.
const (
	namespace = "measured"
	path      = "/api/v1/namespaces/" + namespace + "/configmaps"
	few       = 10
)

// A server is a server under measurement.
type server struct {
	*fakeapi.Server
	client *http.Client
	serial int      // for names and values that differ
	made   []string // the names that creates have made
	open   []io.Closer
	stuck  bool // there are watches that do not read
}

func newServer() (*server, error) {
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithNamespaces(namespace), fakeapi.WithHistory(fakeapi.History{Bytes: 2 << 30}))
	if err != nil {
		return nil, err
	}
	s := &server{Server: srv, client: &http.Client{Transport: srv.Transport()}}
	for i := range few {
		if err := s.put(namespace, fmt.Sprintf("cm-%d", i)); err != nil {
			srv.Close()
			return nil, err
		}
	}
	return s, nil
}

func (s *server) close() {
	for _, c := range s.open {
		c.Close()
	}
	s.Close()
	runtime.GC()
}

// put stores a ConfigMap.
func (s *server) put(namespace, name string) error {
	_, err := s.Store(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": namespace},
		"data": map[string]any{"key": "value"},
	})
	return err
}

// do makes a request and returns the body of the answer.
func (s *server) do(method, path, contentType, body string) ([]byte, error) {
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(resp.Body); err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, out.Bytes())
	}
	return out.Bytes(), nil
}

// watch opens a watch that stays open. If it reads, it reads its events.
func (s *server) watch(path, accept string, reads bool) error {
	req, err := http.NewRequest("GET", s.URL+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", accept)
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	s.open = append(s.open, resp.Body)
	if reads {
		go func() { _, _ = io.Copy(io.Discard, resp.Body) }()
	}
	s.stuck = s.stuck || !reads
	return nil
}

// A request is what is measured. It is made with the serial number of the server.
type request struct {
	name string
	do   func(s *server) error
}

const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"
	mergeType    = "application/merge-patch+json"
	applyType    = "application/apply-patch+yaml"
)

// requests are in the order in which they are measured: what is created is deleted.
var requests = []request{
	{"get", func(s *server) error { return s.read(path + "/cm-1") }},
	{"list of 10", func(s *server) error { return s.read(path) }},
	{"page of 500", func(s *server) error { return s.read("/api/v1/configmaps?limit=500") }},
	{"create", func(s *server) error {
		name := fmt.Sprintf("new-%d", s.serial)
		s.made = append(s.made, name)
		_, err := s.do("POST", path, jsonType, fmt.Sprintf(`{"metadata":{"name":%q},"data":{"key":"value"}}`, name))
		return err
	}},
	{"delete", func(s *server) error {
		last := len(s.made) - 1
		_, err := s.do("DELETE", path+"/"+s.made[last], jsonType, "")
		s.made = s.made[:last]
		return err
	}},
	{"update", func(s *server) error {
		_, err := s.do("PUT", path+"/cm-2", jsonType, fmt.Sprintf(`{"metadata":{"name":"cm-2"},"data":{"key":"%d"}}`, s.serial))
		return err
	}},
	{"merge patch", func(s *server) error {
		_, err := s.do("PATCH", path+"/cm-3", mergeType, fmt.Sprintf(`{"data":{"key":"%d"}}`, s.serial))
		return err
	}},
	{"apply", func(s *server) error {
		_, err := s.do("PATCH", path+"/cm-4?fieldManager=growth&force=true", applyType,
			fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm-4"},"data":{"key":"%d"}}`, s.serial))
		return err
	}},
	{"definition, created and deleted", func(s *server) error {
		const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		group := fmt.Sprintf("measured-%d", s.serial)
		if _, err := s.do("POST", definitions, jsonType, fmt.Sprintf(definition, group)); err != nil {
			return err
		}
		_, err := s.do("DELETE", definitions+"/widgets."+group+".example.com", jsonType, "")
		return err
	}},
	{"watch, opened and closed", func(s *server) error {
		resp, err := s.client.Get(s.URL + path + "?watch=1")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return json.NewDecoder(resp.Body).Decode(new(json.RawMessage))
	}},
}

func (s *server) read(path string) error {
	_, err := s.do("GET", path, jsonType, "")
	return err
}

const (
	batches = 25
	batch   = 200
)

// batch returns the mean time of the requests of a batch. When it returns, the watches that
// read have read what the batch did.
func (s *server) batch(ctx context.Context, r request) (time.Duration, error) {
	begun := time.Now()
	for range batch {
		s.serial++
		if err := r.do(s); err != nil {
			return 0, err
		}
	}
	took := time.Since(begun) / batch
	if s.stuck {
		return took, ctx.Err()
	}
	return took, s.Settle(ctx, fakeapi.SettleOptions{Quiet: time.Millisecond})
}
