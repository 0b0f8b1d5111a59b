package fakeapi

import (
	"errors"
	"slices"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/authn"
)

// trustsIssued reports whether the server accepts the client certificates of Credentials.
func (c *config) trustsIssued() bool {
	return c.http.TLS && (c.watched == nil || c.watched.ClientCA == "")
}

// setClientCAs makes a TLS server verify client certificates.
func (c *config) setClientCAs() error {
	if !c.http.TLS {
		return nil
	}
	list := c.clientCAs
	if c.trustsIssued() {
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
