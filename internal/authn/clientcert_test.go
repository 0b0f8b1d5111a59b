package authn

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/status"
)

// An issuer is a CA.
type issuer struct {
	t           *testing.T
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// noon is a time at which the certificates of these tests are valid.
var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func newIssuer(t *testing.T, name string) *issuer {
	i := &issuer{t: t}
	i.certificate = i.issue(x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return i
}

// issue returns a certificate that is valid for an hour before and after noon. The
// first one of an issuer is its own.
func (i *issuer) issue(template x509.Certificate) *x509.Certificate {
	template.NotBefore, template.NotAfter = noon.Add(-time.Hour), noon.Add(time.Hour)
	if template.ExtKeyUsage == nil {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(i.t, err)
	parent := i.certificate
	if parent == nil {
		parent, i.key = &template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, parent, key.Public(), i.key)
	require.NoError(i.t, err)
	c, err := x509.ParseCertificate(der)
	require.NoError(i.t, err)
	return c
}

// client returns a certificate of a user.
func (i *issuer) client(name string, groups ...string) *x509.Certificate {
	return i.issue(x509.Certificate{Subject: pkix.Name{CommonName: name, Organization: groups}})
}

func (i *issuer) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(i.certificate)
	return pool
}

func atNoon() time.Time { return noon }

func uidAttributes(uids ...string) (out []pkix.AttributeTypeAndValue) {
	for _, uid := range uids {
		out = append(out, pkix.AttributeTypeAndValue{Type: uidAttribute, Value: uid})
	}
	return out
}

func TestAuthenticateCertificate(t *testing.T) {
	ca, other := newIssuer(t, "ca"), newIssuer(t, "other")
	withUIDs := func(uids ...string) *x509.Certificate {
		return ca.issue(x509.Certificate{Subject: pkix.Name{CommonName: "alice", ExtraNames: uidAttributes(uids...)}})
	}
	for _, tt := range []struct {
		name        string
		at          time.Time
		certificate *x509.Certificate
		token       string
		user        string // "" for 401
		uid         string
		groups      []string
	}{
		{"name and groups", noon, ca.client("alice", "dev", "ops"), "", "alice", "", []string{"dev", "ops", AuthenticatedGroup}},
		{"no certificate", noon, nil, "", AnonymousUser, "", []string{UnauthenticatedGroup}},
		{"unknown CA", noon, other.client("alice"), "", "", "", nil},
		{"expired", noon.Add(2 * time.Hour), ca.client("alice"), "", "", "", nil},
		{"certificate of a server", noon, ca.issue(x509.Certificate{Subject: pkix.Name{CommonName: "alice"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}), "", "", "", nil},
		{"no common name", noon, ca.client("", "devs"), "", AnonymousUser, "", []string{UnauthenticatedGroup}},
		{"UID", noon, withUIDs("7"), "", "alice", "7", []string{AuthenticatedGroup}},
		{"empty UID", noon, withUIDs(""), "", "", "", nil},
		{"two UIDs", noon, withUIDs("7", "8"), "", "", "", nil},
		{"unknown CA, valid token", noon, other.client("alice"), "secret", "bob", "", []string{AuthenticatedGroup}},
		{"certificate before token", noon, ca.client("alice"), "secret", "alice", "", []string{AuthenticatedGroup}},
		{"certificate, unknown token", noon, ca.client("alice"), "other", "alice", "", []string{AuthenticatedGroup}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &Authenticator{
				Config:          Config{Unauthenticated: AsAnonymous, ClientCAs: NewCAs(ca.pool()), Tokens: map[string]User{"secret": {Name: "bob"}}},
				Now:             func() time.Time { return tt.at },
				ServiceAccounts: accountTokens{}, Audiences: []string{"api"},
			}
			var chain []*x509.Certificate
			if tt.certificate != nil {
				chain = append(chain, tt.certificate)
			}
			header := http.Header{}
			if tt.token != "" {
				header.Set("Authorization", "Bearer "+tt.token)
			}
			user, err := a.Authenticate(context.Background(), &http.Request{Header: header, TLS: &tls.ConnectionState{PeerCertificates: chain}, URL: &url.URL{Path: "/version"}}, nil)
			if tt.user == "" {
				assert.Equal(t, status.Unauthorized(), err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.user, user.Name)
			assert.Equal(t, tt.uid, user.UID)
			assert.Equal(t, tt.groups, user.Groups)
			if tt.user == "alice" {
				assert.Regexp(t, "^X509SHA256=[0-9a-f]{64}$", user.Extra[ExtraCredentialID][0])
			}
		})
	}
}

// TestVerifyAgain verifies chains that were verified before, under conditions that have changed.
func TestVerifyAgain(t *testing.T) {
	ca, other, intermediate := newIssuer(t, "ca"), newIssuer(t, "other"), newIssuer(t, "intermediate")
	der, err := x509.CreateCertificate(rand.Reader, intermediate.certificate, ca.certificate, intermediate.key.Public(), ca.key)
	require.NoError(t, err)
	signed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	cas := NewCAs(ca.pool())
	chain := []*x509.Certificate{intermediate.client("alice"), signed}
	for range 2 {
		assert.NoError(t, cas.verify(chain, noon))
		assert.NoError(t, cas.verify(chain, noon.Add(time.Hour)))
		assert.Error(t, cas.verify(chain, noon.Add(time.Hour+1)), "expired")
		assert.Error(t, cas.verify(chain, noon.Add(-time.Hour-1)), "not valid yet")
		assert.Error(t, cas.verify(chain[:1], noon), "without the intermediate certificate")
		assert.NoError(t, cas.verify([]*x509.Certificate{ca.client("bob")}, noon))
	}
	cas.Replace(other.pool())
	assert.Error(t, cas.verify(chain, noon), "another CA")
	cas.Replace(ca.pool())
	for range maxVerified + 1 {
		assert.NoError(t, cas.verify([]*x509.Certificate{ca.client("bob")}, noon))
		assert.LessOrEqual(t, len(cas.verified), maxVerified)
	}
	assert.NoError(t, cas.verify(chain, noon))
}

func TestAuthenticateIntermediate(t *testing.T) {
	ca := newIssuer(t, "ca")
	intermediate := newIssuer(t, "intermediate")
	der, err := x509.CreateCertificate(rand.Reader, intermediate.certificate, ca.certificate, intermediate.key.Public(), ca.key)
	require.NoError(t, err)
	signed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	a := &Authenticator{Config: Config{ClientCAs: NewCAs(ca.pool())}, Now: atNoon}
	user, err := a.certificateUser([]*x509.Certificate{intermediate.client("alice"), signed})
	require.NoError(t, err)
	assert.Equal(t, "alice", user.Name)
}

func TestAuthenticateRequestHeader(t *testing.T) {
	ca, front := newIssuer(t, "ca"), newIssuer(t, "front-proxy")
	header := http.Header{
		"X-Remote-User":                     {"alice"},
		"X-Remote-Group":                    {"devs", "", "ops"},
		"X-Remote-Uid":                      {"7"},
		"X-Remote-Extra-Acme.com%2fproject": {"one", "two"},
	}
	alice := &User{
		Name: "alice", UID: "7", Groups: []string{"devs", "ops", AuthenticatedGroup},
		Extra: map[string][]string{"acme.com/project": {"one", "two"}},
	}
	bob := ca.client("bob")
	bobUser, err := (&Authenticator{Config: Config{ClientCAs: NewCAs(ca.pool())}, Now: atNoon}).certificateUser([]*x509.Certificate{bob})
	require.NoError(t, err)
	for _, tt := range []struct {
		name        string
		header      http.Header
		certificate *x509.Certificate
		want        *User // nil for 401
	}{
		{"proxy", header, front.client("aggregator"), alice},
		{"name that is not allowed", header, front.client("intruder"), nil},
		{"no certificate", header, nil, anonymous},
		{"certificate of a client", header, bob, authenticated(bobUser)},
		{"proxy without headers", http.Header{}, front.client("aggregator"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &Authenticator{Config: Config{
				Unauthenticated: AsAnonymous,
				ClientCAs:       NewCAs(ca.pool()),
				RequestHeader: &RequestHeader{
					CAs: NewCAs(front.pool()), AllowedNames: []string{"aggregator"},
					UsernameHeaders: []string{"X-Remote-User"}, UIDHeaders: []string{"X-Remote-Uid"},
					GroupHeaders: []string{"X-Remote-Group"}, ExtraHeaderPrefixes: []string{"X-Remote-Extra-"},
				},
			}, Now: atNoon, ServiceAccounts: accountTokens{}}
			var chain []*x509.Certificate
			if tt.certificate != nil {
				chain = append(chain, tt.certificate)
			}
			user, err := a.Authenticate(context.Background(), &http.Request{Header: tt.header, TLS: &tls.ConnectionState{PeerCertificates: chain}, URL: &url.URL{Path: "/version"}}, nil)
			if tt.want == nil {
				assert.Equal(t, status.Unauthorized(), err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, user)
		})
	}
}
