package apiserver

import (
	"encoding/json"
	"net/http"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/status"
)

// The documents by which others check the tokens of service accounts.
//
// See https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery.

const (
	keysPath = "/openid/v1/jwks"
	keysType = "application/jwk-set+json"

	// issuerMaxAge is how long the documents may be kept.
	issuerMaxAge = "public, max-age=3600"
)

func (r *request) serveIssuer() error {
	if r.http.Method != http.MethodGet {
		return status.MethodNotAllowed()
	}
	doc, err := json.Marshal(struct {
		Issuer     string   `json:"issuer"`
		Keys       string   `json:"jwks_uri"`
		Responses  []string `json:"response_types_supported"`
		Subjects   []string `json:"subject_types_supported"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}{issuer, "https://" + r.http.Host + keysPath, []string{"id_token"}, []string{"public"}, []string{algorithm}})
	if err != nil {
		return err
	}
	r.w.Header().Set("Cache-Control", issuerMaxAge)
	r.writeJSON(http.StatusOK, doc)
	return nil
}

func (r *request) serveKeys() error {
	if r.http.Method != http.MethodGet {
		return status.MethodNotAllowed()
	}
	if !codec.Accepts(r.http.Header.Get("Accept"), keysType) {
		return status.UnroutedAccept([]string{keysType})
	}
	doc, err := signingKey().jwks()
	if err != nil {
		return err
	}
	r.w.Header().Set("Cache-Control", issuerMaxAge)
	r.write(http.StatusOK, keysType, doc)
	return nil
}
