package fakeapi

import (
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/authn"
)

// A User is the user of a client.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// Credentials authenticate a client as a user. The fields have the names of those of
// rest.Config and its TLSClientConfig; a client needs either the token or the certificate.
type Credentials struct {
	// BearerToken is a token, which the server and its forks accept beside those of WithToken
	// until they are closed.
	BearerToken string

	// CertData and KeyData are a client certificate and its key in PEM. They are nil if the
	// server accepts no certificate of the user: without TLS, with Files.ClientCA of
	// apiserver.Config, and for a user with UID or Extra, which certificates do not have.
	CertData, KeyData []byte

	server *Server
	user   string
}

// Credentials returns new credentials of a user, who must have a name. The user need not be
// known to the server. It has the permissions that roles give with WithRBAC, and all without.
func (s *Server) Credentials(user User) Credentials {
	s.api.ExpectClient()
	c := Credentials{BearerToken: s.config.server.Auth.UserTokens.Issue(authn.User(user)), server: s, user: user.Name}
	if s.config.trustsIssued() && user.Name != "" && user.UID == "" && len(user.Extra) == 0 {
		c.CertData, c.KeyData, _ = httptest.IssueClient(user.Name, user.Groups) // a name that is not UTF-8 has none
	}
	return c
}

// Kubeconfig returns a kubeconfig file with the token. It fails with ErrInvalidOption without
// WithTLS, because kubectl sends tokens over HTTPS only, and for a user without a name.
func (c Credentials) Kubeconfig() ([]byte, error) {
	var err error
	switch {
	case c.server.CAData == nil:
		err = errors.New("a kubeconfig of a user needs WithTLS or --tls, because kubectl sends credentials over HTTPS only")
	case c.user == "":
		err = errors.New("the user has no name")
	default:
		return c.kubeconfig(), nil
	}
	return nil, fmt.Errorf("fakeapi: %w", optionError(err))
}

func (c Credentials) kubeconfig() []byte { return c.context().YAML() }

// context returns the kubeconfig of the server alone.
func (c Credentials) context() httptest.Kubeconfig {
	s := c.server
	return httptest.Kubeconfig{Name: s.config.server.Name, Server: s.URL, CertificateAuthority: s.CAData, Token: c.BearerToken}
}

// Kubeconfig returns a kubeconfig file for the server, with the token of an administrator: the
// user admin, a member of system:masters. kubectl sends tokens over HTTPS only. Without WithTLS
// and WithToken, clients need none.
func (s *Server) Kubeconfig() []byte {
	out := s.adminContext()
	for _, other := range s.cluster().set.all() {
		if other != s.cluster() {
			out.Others = append(out.Others, other.adminContext())
		}
	}
	return out.YAML()
}

// adminContext returns the kubeconfig of the server alone, with the token of an administrator.
func (s *Server) adminContext() httptest.Kubeconfig {
	return s.Credentials(User(*authn.Administrator())).context()
}
