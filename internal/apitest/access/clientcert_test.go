package access_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	kubehttptest "github.com/kubefake/kubefake/httptest"
)

// whoAmI returns the status code and the user of a request with a client certificate,
// which may be empty.
func whoAmI(t *testing.T, srv *fakeapi.Server, certPEM, keyPEM []byte) (int, fakeapi.User) {
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	require.True(t, config.RootCAs.AppendCertsFromPEM(srv.CAData))
	if certPEM != nil {
		pair, err := tls.X509KeyPair(certPEM, keyPEM)
		require.NoError(t, err)
		// A client that sends its certificate whatever CAs the server names.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Post(srv.URL+"/apis/authentication.k8s.io/v1/selfsubjectreviews", "application/json",
		strings.NewReader(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	if resp.StatusCode != http.StatusCreated {
		return resp.StatusCode, fakeapi.User{}
	}
	var review struct {
		Status struct {
			UserInfo struct {
				Username string
				Groups   []string
				Extra    map[string][]string
			}
		}
	}
	require.NoError(t, json.Unmarshal(body, &review))
	user := review.Status.UserInfo
	return resp.StatusCode, fakeapi.User{Name: user.Username, Groups: user.Groups, Extra: user.Extra}
}

func TestIssueClient(t *testing.T) {
	for _, tt := range []struct {
		name            string
		option          fakeapi.Option
		unauthenticated string
	}{
		{"WithTLS", fakeapi.WithTLS(), "admin"},
		{"ClientCA", fakeapi.WithAPIServer(apiserver.Config{ClientCA: kubehttptest.ClientCA()}), "system:anonymous"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parent := fakeapi.Start(t, tt.option)
			for _, srv := range []*fakeapi.Server{parent, parent.Fork(t)} {
				jane := srv.Credentials(fakeapi.User{Name: "jane", Groups: []string{"dev"}})
				code, user := whoAmI(t, srv, jane.CertData, jane.KeyData)
				assert.Equal(t, http.StatusCreated, code)
				assert.Equal(t, "jane", user.Name)
				assert.Equal(t, []string{"dev", "system:authenticated"}, user.Groups)
				assert.Contains(t, user.Extra, "authentication.kubernetes.io/credential-id")

				_, user = whoAmI(t, srv, nil, nil)
				assert.Equal(t, tt.unauthenticated, user.Name)
			}
		})
	}
}

func TestInvalidClientCertificate(t *testing.T) {
	// The server's certificate is one of the CA, but not one of a client.
	dir := t.TempDir()
	srv := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithAPIServer(apiserver.Config{CertDir: dir}))
	serverCert, err := os.ReadFile(filepath.Join(dir, "apiserver.crt"))
	require.NoError(t, err)
	serverKey, err := os.ReadFile(filepath.Join(dir, "apiserver.key"))
	require.NoError(t, err)
	code, _ := whoAmI(t, srv, serverCert, serverKey)
	assert.Equal(t, http.StatusUnauthorized, code)

	jane := srv.Credentials(fakeapi.User{Name: "jane"})
	certPEM, keyPEM := jane.CertData, jane.KeyData
	future := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithManualClock(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)))
	code, _ = whoAmI(t, future, certPEM, keyPEM)
	assert.Equal(t, http.StatusUnauthorized, code, "the certificate has expired by the server's clock")
}

func TestClientCertificateErrors(t *testing.T) {
	_, err := fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{ClientCA: []byte("text")}))
	assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
	assert.EqualError(t, err, "fakeapi: the client CA is not a certificate in PEM")

	secure := fakeapi.Start(t, fakeapi.WithTLS())
	for name, none := range map[string]fakeapi.Credentials{
		"without TLS":         fakeapi.Start(t).Credentials(fakeapi.User{Name: "jane"}),
		"a user without name": secure.Credentials(fakeapi.User{}),
		"a user with UID":     secure.Credentials(fakeapi.User{Name: "jane", UID: "1"}),
		"a user with Extra":   secure.Credentials(fakeapi.User{Name: "jane", Extra: map[string][]string{"a": {"b"}}}),
	} {
		assert.Nil(t, none.CertData, name)
		assert.Nil(t, none.KeyData, name)
	}
}
