package aggregator

import (
	"context"
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/openapi"
)

// openAPIUser is the user of requests for OpenAPI documents.
var openAPIUser = &authn.User{Name: "system:aggregator"}

// loadOpenAPI requests the OpenAPI documents of the server. If it fails, those that were loaded
// before stay.
func (w *worker) loadOpenAPI(ctx context.Context) error {
	s, a := w.current(), w.aggregator
	if !s.available {
		return fmt.Errorf("APIService %s is not available", s.name)
	}
	loaded, err := a.openAPI(ctx, s)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !loaded.Equal(w.openAPI) {
		w.openAPI = loaded
		a.publishLocked()
	}
	return nil
}

// openAPI returns the OpenAPI documents of the server of an APIService.
//
// Differs from kube-apiserver: OpenAPI v3 of aggregated API servers that serve only v2: it
// converts their documents. Here they are in /openapi/v2 only. Request: GET /openapi/v3 with an
// APIService of such a server.
func (a *Aggregator) openAPI(ctx context.Context, s *apiService) (*openapi.Remote, error) {
	index, err := a.document(ctx, s, "/openapi/v3", nil)
	if err != nil {
		return nil, err
	}
	v2, err := a.document(ctx, s, "/openapi/v2", accept("application/json"))
	if err != nil {
		return nil, err
	}
	return openapi.ParseRemote(index, v2, s.path()+"/")
}

// document returns a document of the server of an APIService, nil if the server does not have it.
func (a *Aggregator) document(ctx context.Context, s *apiService, path string, header http.Header) ([]byte, error) {
	resp, body, err := a.fetch(ctx, s, path, openAPIUser, header)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusNotFound:
		return nil, nil
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the server answers %s to %s", resp.Status, path)
	}
	return body, nil
}
