package fakeapi

import (
	"fmt"

	"github.com/kubefake/kubefake/httptest"
)

// BasicControllers are the controllers of kube-controller-manager that finish what
// requests begin: namespaces and owned objects go away, and a namespace has its default
// ServiceAccount and the CA certificate. The list may be extended, and must not be changed:
//
//	fakeapi.WithControllers(fakeapi.BasicControllers...)
var BasicControllers = []string{
	"namespace-controller",
	"garbage-collector-controller",
	"serviceaccount-controller",
	"root-ca-certificate-publisher-controller",
	"persistentvolumeclaim-protection-controller",
	"persistentvolume-protection-controller",
}

// WithControllers runs controllers on the server, with the names and the syntax of
// kube-controller-manager's flag --controllers: "*" is every controller that is on by
// default, "foo" turns foo on, "-foo" turns it off. A string may have several names,
// separated by commas. Beside those of kube-controller-manager there are "scheduler"
// and "kubelet". By default none runs, as beside a bare kube-apiserver. An unknown name
// is an ErrInvalidOption.
//
// Controllers act as the users that the real ones are, through authorization,
// admission, faults and lag, and on the server's clock. On a manual clock they act in
// Clock.Advance and Settle only. A fork of the server runs the same ones, as after a
// restart.
func WithControllers(names ...string) Option {
	return newOption("WithControllers", func(c *config) { c.controllers = append(c.controllers, names...) }, names)
}

// SetControllers starts and stops controllers while the server runs: those of the names
// run when it returns, and no others. The names are those of WithControllers; none stops
// all. An unknown name is an ErrInvalidOption.
func (s *Server) SetControllers(names ...string) error {
	if err := s.startControllers(names); err != nil {
		return fmt.Errorf("fakeapi: %w", optionError(err))
	}
	return nil
}

func (s *Server) startControllers(names []string) error {
	s.api.Controllers().SetRootCA(s.CAData)
	s.api.Controllers().SetSigner(httptest.IssueCertificate)
	return s.api.Controllers().Select(names)
}
