package fidelity

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/kubefake/kubefake/internal/openapi"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOpenAPIV2 compares the v2 documents of package openapi with those of kube-apiserver.
func TestOpenAPIV2(t *testing.T) {
	for _, name := range release.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := release.Open(name)
			require.NoError(t, err)
			var documents []*openapi.Document
			for _, path := range p.OpenAPIPaths() {
				documents = append(documents, openapi.NewDocument(path, p.OpenAPIHash(path), func() ([]byte, error) { return p.OpenAPI(path) }))
			}
			overrides := openapi.V2Overrides{GroupVersions: p.SchemeGroupVersions(), Consumes: []string{"*/*"}}
			set := openapi.NewSet(documents, func() openapi.V2Overrides { return overrides })
			w := httptest.NewRecorder()
			found, err := openapi.New([]*openapi.Set{set}, nil, time.Now).Serve(w, httptest.NewRequest("GET", "/openapi/v2", nil), "/openapi/v2")
			require.NoError(t, err)
			require.True(t, found)
			assert.Equal(t, http.StatusOK, w.Code)
			assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
			assert.Equal(t, []string{"Accept-Encoding", "Accept"}, w.Header().Values("Vary"))
			text, err := os.ReadFile("../recordings/" + name + "/openapi-v2.json")
			require.NoError(t, err)
			var recorded struct{ ETag string }
			require.NoError(t, json.Unmarshal(text, &recorded))
			assert.Equal(t, recorded.ETag, fmt.Sprintf("%X", sha512.Sum512(w.Body.Bytes())))
			assert.Equal(t, `"`+recorded.ETag+`"`, w.Header().Get("Etag"))
		})
	}
}
