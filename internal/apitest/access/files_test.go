//go:build go1.24

package access_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	kubehttptest "github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/apitest"
)

// newCA returns the certificate of a CA in PEM.
func newCA(t *testing.T, name string) []byte {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// handshake returns the last DNS name of the certificate that a client gets, and the names
// of the CAs that the server accepts.
func handshake(t *testing.T, srv *fakeapi.Server, serverName string) (dnsName string, cas []string) {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(srv.URL, "https://"), &tls.Config{
		ServerName: serverName, InsecureSkipVerify: true,
		GetClientCertificate: func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			for _, raw := range info.AcceptableCAs {
				var name pkix.RDNSequence
				_, err := asn1.Unmarshal(raw, &name)
				require.NoError(t, err)
				var subject pkix.Name
				subject.FillFromRDNSequence(&name)
				cas = append(cas, subject.CommonName)
			}
			return &tls.Certificate{}, nil
		},
	})
	require.NoError(t, err)
	defer conn.Close()
	names := conn.ConnectionState().PeerCertificates[0].DNSNames
	return names[len(names)-1], cas
}

func TestFilesOfCertificates(t *testing.T) {
	f := apitest.NewWatchedFiles(t)
	firstCert, firstKey, err := kubehttptest.IssueServer("first.example")
	require.NoError(t, err)
	secondCert, secondKey, err := kubehttptest.IssueServer("second.example")
	require.NoError(t, err)
	files := apiserver.Files{
		Certificate: f.Write("tls.crt", firstCert), Key: f.Write("tls.key", firstKey),
		NamedCertificates: []apiserver.NamedCertificateFiles{
			{Certificate: f.Write("foo.crt", firstCert), Key: f.Write("foo.key", firstKey), Names: []string{"foo", "127.0.0.2"}},
			{Certificate: f.Write("own.crt", secondCert), Key: f.Write("own.key", secondKey)},
		},
		ClientCA:        f.Write("ca.crt", newCA(t, "clients")),
		RequestHeaderCA: f.Write("proxy.crt", newCA(t, "proxies")),
		OnReload:        f.OnReload,
	}
	srv := fakeapi.Start(t, fakeapi.WithAPIServer(apiserver.Config{Files: &files}), fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{
		RequestHeader: &apiserver.RequestHeader{UsernameHeaders: []string{"X-User"}, AllowedNames: []string{"proxy"}},
	}}))
	fork := srv.Fork(t)
	assert.Nil(t, srv.Credentials(fakeapi.User{Name: "bob"}).CertData, "the server trusts other CAs")
	bobCert, bobKey, err := kubehttptest.IssueClient("bob", nil)
	require.NoError(t, err)

	name, cas := handshake(t, srv, "")
	assert.Equal(t, "first.example", name)
	assert.Equal(t, []string{"clients", "proxies"}, cas)
	name, _ = handshake(t, srv, "second.example")
	assert.Equal(t, "second.example", name)
	code, _ := whoAmI(t, srv, bobCert, bobKey)
	assert.Equal(t, http.StatusUnauthorized, code)

	assert.ErrorContains(t, f.Rewrite("foo.crt", secondCert[:100]), "reading a named certificate")
	name, _ = handshake(t, srv, "foo")
	assert.Equal(t, "first.example", name)
	require.NoError(t, f.Rewrite("foo.crt", secondCert)) // the key is that of all certificates of the process
	name, _ = handshake(t, srv, "foo")
	assert.Equal(t, "second.example", name)
	require.NoError(t, f.Rewrite("tls.crt", secondCert))
	name, _ = handshake(t, srv, "")
	assert.Equal(t, "second.example", name)

	for _, text := range []string{"", "text"} {
		assert.ErrorContains(t, f.Rewrite("ca.crt", []byte(text)), "CA bundle")
	}
	require.NoError(t, os.Remove(files.ClientCA))
	assert.ErrorIs(t, <-f.Reloads, os.ErrNotExist)
	require.NoError(t, f.Rewrite("ca.crt", kubehttptest.ClientCA()))
	require.NoError(t, f.Rewrite("proxy.crt", newCA(t, "new proxies")))
	_, cas = handshake(t, fork, "")
	assert.Equal(t, []string{"throwaway CA", "new proxies"}, cas)
	for _, s := range []*fakeapi.Server{srv, fork} {
		code, user := whoAmI(t, s, bobCert, bobKey)
		assert.Equal(t, http.StatusCreated, code)
		assert.Equal(t, "bob", user.Name)
		object, err := s.Get("configmaps", "kube-system", "extension-apiserver-authentication")
		require.NoError(t, err)
		data := object["data"].(map[string]any)
		for _, key := range []string{"client-ca-file", "requestheader-client-ca-file"} {
			assert.Equal(t, 2, strings.Count(data[key].(string), "BEGIN CERTIFICATE"), key)
		}
		assert.Equal(t, `["proxy"]`, data["requestheader-allowed-names"])
		assert.Equal(t, `["X-User"]`, data["requestheader-username-headers"])
		assert.Equal(t, `[]`, data["requestheader-group-headers"])
	}

	srv.Close()
	require.NoError(t, f.Rewrite("tls.crt", firstCert))
	replica := apitest.Replica(t, fork)
	for _, s := range []*fakeapi.Server{fork, replica} {
		name, _ = handshake(t, s, "")
		assert.Equal(t, "first.example", name)
	}
}

// A reload of the CA of proxies leaves that of Server.IssueClient.
func TestIssueClientAfterReload(t *testing.T) {
	f := apitest.NewWatchedFiles(t)
	srv := fakeapi.Start(t, fakeapi.WithTLS(),
		fakeapi.WithAPIServer(apiserver.Config{Authentication: &apiserver.Authentication{RequestHeader: &apiserver.RequestHeader{UsernameHeaders: []string{"X-User"}}}}),
		fakeapi.WithAPIServer(apiserver.Config{Files: &apiserver.Files{RequestHeaderCA: f.Write("proxy.crt", newCA(t, "proxies")), OnReload: f.OnReload}}))
	_, before := handshake(t, srv, "")
	assert.Equal(t, []string{"throwaway CA", "proxies"}, before)
	require.NoError(t, f.Rewrite("proxy.crt", newCA(t, "new proxies")))
	_, after := handshake(t, srv, "")
	assert.Equal(t, []string{"throwaway CA", "new proxies"}, after)
}

// The ConfigMap of a server without a listener has the CAs of a reload.
func TestFilesInMemory(t *testing.T) {
	f := apitest.NewWatchedFiles(t)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{Files: &apiserver.Files{ClientCA: f.Write("ca.crt", newCA(t, "first")), OnReload: f.OnReload}}))
	require.NoError(t, f.Rewrite("ca.crt", newCA(t, "second")))
	object, err := srv.Get("configmaps", "kube-system", "extension-apiserver-authentication")
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(object["data"].(map[string]any)["client-ca-file"].(string), "BEGIN CERTIFICATE"))
}

func TestFilesOfCertDir(t *testing.T) {
	f := apitest.NewWatchedFiles(t)
	srv := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithAPIServer(apiserver.Config{CertDir: f.Dir}), fakeapi.WithAPIServer(apiserver.Config{Files: &apiserver.Files{OnReload: f.OnReload}}))
	cert, key, err := kubehttptest.IssueServer("new.example")
	require.NoError(t, err)
	_ = key // that of all certificates of the process
	require.NoError(t, f.Rewrite("apiserver.crt", cert))
	name, _ := handshake(t, srv, "")
	assert.Equal(t, "new.example", name)
}

func TestFilesOfConfigurations(t *testing.T) {
	f := apitest.NewWatchedFiles(t)
	idp := newIssuer(t)
	issuers := func(url string, anonymous bool) []byte {
		return fmt.Appendf(nil, `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AuthenticationConfiguration","anonymous":{"enabled":%t},"jwt":[
			{"issuer":{"url":%q,"audiences":["me"],"certificateAuthority":%q},"claimMappings":{"username":{"claim":"sub","prefix":""}}}]}`, anonymous, url, idp.ca())
	}
	modes := func(types ...string) []byte {
		text := "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: ["
		for _, name := range types {
			text += fmt.Sprintf("{type: %s, name: %s},", name, strings.ToLower(name))
		}
		return []byte(text + "]")
	}
	srv := fakeapi.Start(t, fakeapi.WithTLS(), fakeapi.WithManualClock(issued), fakeapi.WithAPIServer(apiserver.Config{Files: &apiserver.Files{
		AuthenticationConfig: f.Write("authn.yaml", issuers("https://other.example", true)),
		AuthorizationConfig:  f.Write("authz.yaml", modes("AlwaysDeny")),
		OnReload:             f.OnReload,
	}}))
	token := idp.token("RS256", nil)
	const pods = "/api/v1/pods"
	get := func() int {
		code, _ := apitest.DoWithHeaders(t, srv, "GET", pods, "", "Authorization", "Bearer "+token)
		return code
	}
	assert.Equal(t, http.StatusUnauthorized, get())
	assert.ErrorContains(t, f.Rewrite("authn.yaml", []byte("{}")), "Object 'Kind' is missing")
	assert.ErrorContains(t, f.Rewrite("authn.yaml", issuers(idp.URL, false)), "anonymous: Forbidden: changed from initial configuration file")
	assert.Equal(t, http.StatusUnauthorized, get())
	require.NoError(t, f.Rewrite("authn.yaml", issuers(idp.URL, true)))
	assert.Equal(t, http.StatusForbidden, get())

	assert.EqualError(t, f.Rewrite("authz.yaml", modes("AlwaysAllow")), "missing required types: [AlwaysDeny]")
	assert.EqualError(t, f.Rewrite("authz.yaml", modes("AlwaysDeny", "RBAC")), "authorizer type RBAC is not allowed if it was not enabled at initial server startup")
	assert.Equal(t, http.StatusForbidden, get())
	require.NoError(t, f.Rewrite("authz.yaml", modes("AlwaysDeny", "AlwaysAllow")))
	assert.Equal(t, http.StatusOK, get())

	resp, err := srv.Client().Do(must(http.NewRequest("GET", srv.URL+"/metrics", nil)))
	require.NoError(t, err)
	defer resp.Body.Close()
	body := string(must(io.ReadAll(resp.Body)))
	for _, name := range []string{"authentication", "authorization"} {
		prefix := "apiserver_" + name + "_config_controller_"
		assert.Regexp(t, prefix+`automatic_reloads_total\{apiserver_id_hash="sha256:[0-9a-f]{64}",status="failure"\} 2`, body)
		assert.Regexp(t, prefix+`automatic_reloads_total\{apiserver_id_hash="sha256:[0-9a-f]{64}",status="success"\} 1`, body)
		assert.Regexp(t, prefix+`automatic_reload_last_timestamp_seconds\{.*status="success"\} `+regexp.QuoteMeta(strconv.FormatFloat(float64(issued.Unix()), 'g', -1, 64)), body)
		assert.Regexp(t, prefix+`last_config_info\{.*hash="sha256:[0-9a-f]{64}"\} 1`, body)
	}
}

func TestFilesThatAreMissing(t *testing.T) {
	for _, files := range []apiserver.Files{
		{Certificate: "none", Key: "none"}, {ClientCA: "none"}, {AuthenticationConfig: "none"}, {AuthorizationConfig: "none"},
		{NamedCertificates: []apiserver.NamedCertificateFiles{{Certificate: "none"}}},
	} {
		_, err := fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{Files: &files}))
		assert.ErrorIs(t, err, os.ErrNotExist, "%+v", files)
	}
	_, err := fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{Files: &apiserver.Files{RequestHeaderCA: "none"}}))
	assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
}
