package fakeapi

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
)

// publish writes the ConfigMap from which aggregated API servers learn how to authenticate:
// the CAs of the files together with those of the ConfigMap that have not expired. It writes
// nothing without files of CAs, and nothing that is there already.
//
// See https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/#original-request-username-and-group.
func (r *reloader) publish(s *Server) error {
	if r == nil || r.files.ClientCA == "" && r.files.RequestHeaderCA == "" || s.frontEnd || s.first != nil {
		return nil
	}
	r.publishing.Lock()
	defer r.publishing.Unlock()
	const resource, namespace, name = "configmaps", "kube-system", "extension-apiserver-authentication"
	object, err := s.Get(resource, namespace, name)
	if errors.Is(err, ErrNotFound) {
		object, err = Object{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"namespace": namespace, "name": name}}, nil
	}
	if err != nil {
		return err
	}
	data, _ := object["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
	}
	changed := false
	set := func(key, value string) {
		if old, ok := data[key]; !ok || old != value {
			data[key], changed = value, true
		}
	}
	text := func(key string) []byte {
		value, _ := data[key].(string)
		return []byte(value)
	}
	now := s.Clock().Now()
	r.mu.Lock()
	clientCAs, proxyCAs := r.clientCAs, r.proxyCAs
	r.mu.Unlock()
	if r.files.ClientCA != "" {
		set("client-ca-file", mergeCertificates(text("client-ca-file"), clientCAs, now))
	}
	if h := r.config.server.Auth.RequestHeader; h != nil && r.files.RequestHeaderCA != "" {
		const prefix = "requestheader-"
		for _, list := range r.headerLists(h) {
			set(prefix+list.key, mergeList(text(prefix+list.key), list.values))
		}
		set(prefix+"client-ca-file", mergeCertificates(text(prefix+"client-ca-file"), proxyCAs, now))
	}
	if !changed {
		return nil
	}
	object["data"] = data
	_, err = s.Store(object)
	return err
}

// A headerList is a list of the ConfigMap.
type headerList struct {
	key    string
	values []string
}

// headerLists returns the lists that the ConfigMap has for a proxy.
func (r *reloader) headerLists(h *authn.RequestHeader) []headerList {
	lists := []headerList{
		{"username-headers", h.UsernameHeaders}, {"group-headers", h.GroupHeaders},
		{"extra-headers-prefix", h.ExtraHeaderPrefixes}, {"allowed-names", h.AllowedNames},
	}
	if len(h.UIDHeaders) > 0 && r.config.enabled("RemoteRequestHeaderUID") {
		lists = append(lists, headerList{"uid-headers", h.UIDHeaders})
	}
	return lists
}

// mergeList returns a list in JSON with further values. A list that does not parse is empty.
func mergeList(text []byte, values []string) string {
	out := []string{}
	_ = json.Unmarshal(text, &out) // out is empty then
	for _, value := range values {
		if !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	list, err := json.Marshal(out)
	if err != nil {
		panic(err) // unreachable: they are strings
	}
	return string(list)
}

// mergeCertificates returns certificates in PEM with further ones, without those that
// have expired and without duplicates.
func mergeCertificates(text []byte, more []*x509.Certificate, now time.Time) string {
	var out bytes.Buffer
	var seen []*x509.Certificate
	for _, c := range slices.Concat(parseCertificates(text), more) {
		if now.After(c.NotAfter) || slices.ContainsFunc(seen, c.Equal) {
			continue
		}
		seen = append(seen, c)
		_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}) // a Buffer does not fail
	}
	return out.String()
}
