package server

import (
	"net/http"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/status"
)

const (
	keySetType = "application/jwk-set+json"

	// openIDCacheControl lets clients keep the documents for an hour.
	openIDCacheControl = "public, max-age=3600"
)

// serveOpenIDConfiguration serves /.well-known/openid-configuration.
func (r *request) serveOpenIDConfiguration() error {
	if r.http.Method != http.MethodGet {
		return status.MethodNotAllowed()
	}
	if !codec.Accepts(header.Get(r.http.Header, "Accept"), codec.JSON.MediaType()) {
		return status.UnroutedAccept([]string{codec.JSON.MediaType()})
	}
	doc, err := r.server.cluster.ServiceAccountKeys().OpenIDConfiguration(r.http.Host)
	if err != nil {
		return err
	}
	r.w.Header().Set("Cache-Control", openIDCacheControl)
	r.writeJSON(http.StatusOK, doc)
	return nil
}

// serveKeySet serves the public keys of service account tokens.
func (r *request) serveKeySet() error {
	if r.http.Method != http.MethodGet {
		return status.MethodNotAllowed()
	}
	if !codec.Accepts(header.Get(r.http.Header, "Accept"), keySetType) {
		return status.UnroutedAccept([]string{keySetType})
	}
	doc, err := r.server.cluster.ServiceAccountKeys().KeySet()
	if err != nil {
		return err
	}
	r.w.Header().Set("Cache-Control", openIDCacheControl)
	r.write(http.StatusOK, keySetType, doc)
	return nil
}
