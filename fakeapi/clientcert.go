package fakeapi

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/authn"
)

// IssueClient returns a certificate of a user and its key in PEM. It is signed by a CA
// that every TLS server of the process trusts. Use it as CertData and KeyData of a
// rest.Config. It fails with ErrInvalidOption without WithTLS, for a user without a
// name, and for a user with a UID or Extra, which the certificate does not have.
func (s *Server) IssueClient(user User) (certPEM, keyPEM []byte, err error) {
	s.api.ExpectClient()
	switch {
	case !s.config.http.TLS:
		err = errors.New("client certificates need WithTLS")
	case user.Name == "":
		err = errors.New("the user has no name")
	case user.UID != "" || len(user.Extra) > 0:
		err = errors.New("a client certificate has no UID and no Extra")
	default:
		if certPEM, keyPEM, err = httptest.IssueClient(user.Name, user.Groups); err == nil {
			return certPEM, keyPEM, nil
		}
	}
	return nil, nil, fmt.Errorf("fakeapi: %w", optionError(err))
}

// setClientCAs makes a TLS server verify client certificates.
func (c *config) setClientCAs() error {
	if !c.http.TLS {
		return nil
	}
	list := c.clientCAs
	if c.watched == nil || c.watched.ClientCA == "" {
		list = append(list, httptest.ClientCA())
	}
	for _, text := range list {
		cas := parseCertificates(text)
		if cas == nil {
			return optionError(errors.New("the client CA is not a certificate in PEM"))
		}
		c.clientRoots = append(c.clientRoots, cas...)
	}
	c.server.Auth.ClientCAs = authn.NewCAs(poolOf(c.clientRoots))
	c.http.ClientCAs = poolOf(slices.Concat(c.clientRoots, c.proxyCAs))
	return nil
}
