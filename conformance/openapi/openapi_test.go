// Package openapi compares the OpenAPI documents of fakeapi with those of
// kube-apiserver, byte for byte, with CustomResourceDefinitions among them.
//
// The recorded hashes are in testdata. To compare with a running kube-apiserver
// of one of the releases, and to record the hashes of its documents:
//
//	go test ./openapi -run Real -real https://127.0.0.1:6443 -token TOKEN [-update]
//
// The user of the token must be an administrator. The test creates the
// CustomResourceDefinitions of testdata/crds.yaml and deletes them again.
package openapi

import (
	"bytes"
	"crypto/sha512"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

var (
	realURL = flag.String("real", "", "compare with the kube-apiserver at this `URL`")
	token   = flag.String("token", "", "bearer `TOKEN` of an administrator")
	variant = flag.String("variant", "", "`VARIANT` of the server's flags: all or empty")
	update  = flag.Bool("update", false, "write the hashes of that server's documents to "+hashesFile)
)

const hashesFile = "testdata/hashes.json"

// The CustomResourceDefinitions that both servers have.
const crdsFile = "testdata/crds.yaml"

var crdNames = []string{"widgets.shop.example.com", "planets.sky.example.com"}

// A client reads the documents of a server.
type client struct {
	*http.Client
	url, token string
}

func (c *client) do(t *testing.T, method, path, contentType, body string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", contentType)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, b
}

// documents returns /openapi/v2, /openapi/v3 and the documents that it lists.
func (c *client) documents(t *testing.T) map[string][]byte {
	t.Helper()
	get := func(path string) []byte {
		code, b := c.do(t, "GET", path, "", "")
		require.Equal(t, http.StatusOK, code, path)
		return b
	}
	all := map[string][]byte{"/openapi/v2": get("/openapi/v2"), "/openapi/v3": get("/openapi/v3")}
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	require.NoError(t, json.Unmarshal(all["/openapi/v3"], &index))
	for path, entry := range index.Paths {
		all["/openapi/v3/"+path] = get(entry.ServerRelativeURL)
	}
	return all
}

// start starts fakeapi with the definitions.
func start(t *testing.T, release string) *client {
	t.Helper()
	srv := fakeapi.Start(t, fakeapi.WithRelease(release), fakeapi.WithCRDs(os.DirFS("."), crdsFile))
	return &client{http.DefaultClient, srv.URL, ""}
}

func hashOf(b []byte) string { return fmt.Sprintf("%X", sha512.Sum512(b)) }

// readHashes returns the hashes of documents by release and path.
func readHashes(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile(hashesFile)
	require.NoError(t, err)
	var hashes map[string]map[string]string
	require.NoError(t, json.Unmarshal(text, &hashes))
	return hashes
}

// TestRecorded compares the documents with the hashes of those of
// kube-apiserver. The hashes of the documents without custom types are in
// /openapi/v3.
func TestRecorded(t *testing.T) {
	for release, hashes := range readHashes(t) {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			documents := start(t, release).documents(t)
			for path, want := range hashes {
				assert.Equal(t, want, hashOf(documents[path]), "%s is not the document of kube-apiserver", path)
			}
		})
	}
}

// TestReal compares with the documents of a running kube-apiserver.
func TestReal(t *testing.T) {
	if *realURL == "" {
		t.Skip("no -real URL")
	}
	reference := &client{&http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}, *realURL, *token}
	_, body := reference.do(t, "GET", "/version", "", "")
	var version struct{ GitVersion string }
	require.NoError(t, json.Unmarshal(body, &version))
	release := version.GitVersion
	if *variant != "" {
		release += "-" + *variant
	}

	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	text, err := os.ReadFile(crdsFile)
	require.NoError(t, err)
	for _, definition := range bytes.Split(text, []byte("\n---\n")) {
		code, b := reference.do(t, "POST", path, "application/yaml", string(definition))
		require.Equal(t, http.StatusCreated, code, string(b))
	}
	t.Cleanup(func() {
		for _, name := range crdNames {
			reference.do(t, "DELETE", path+"/"+name, "application/json", "")
		}
	})
	ours := start(t, release).documents(t)
	// kube-apiserver publishes new documents some time after a definition.
	var documents map[string][]byte
	same := func() bool {
		documents = reference.documents(t)
		return maps.EqualFunc(documents, ours, bytes.Equal)
	}
	for deadline := time.Now().Add(20 * time.Second); !same() && time.Now().Before(deadline); {
		time.Sleep(500 * time.Millisecond)
	}

	assert.Equal(t, slices.Sorted(maps.Keys(documents)), slices.Sorted(maps.Keys(ours)))
	for path, want := range documents {
		assert.True(t, bytes.Equal(want, ours[path]), "%s differs", path)
	}
	if *update {
		hashes := readHashes(t)
		hashes[release] = map[string]string{}
		for path, b := range documents {
			if path == "/openapi/v2" || path == "/openapi/v3" || strings.Contains(path, ".example.com/") {
				hashes[release][path] = hashOf(b)
			}
		}
		text, err := json.MarshalIndent(hashes, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(hashesFile, append(text, '\n'), 0o644))
	}
}
