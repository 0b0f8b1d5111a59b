package fakeapi

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/release"
)

// Upgrade restarts the server with another Kubernetes release, named as for WithRelease: a
// newer one, or an older one for a downgrade. The objects, their resource versions and the
// history remain, and so do the URL, users, clock, faults and lags.
//
// The server serves the API of the release, and reads the objects in the store by its rules:
// with its defaults, and without fields that it does not have, which stay in the store until
// the object is written. It updates its own objects, such as roles and FlowSchemas.
//
// As with a restart, open watches end, and a watch from an older version than the present one
// fails with 410. Requests in flight are answered by the rules of the release before, and
// no request fails. Controllers restart.
//
// A replica has a release of its own. Upgrade one server of a cluster after the other for a
// rolling upgrade. The methods of Server that write and read objects, and controllers, use the
// release of the first server.
//
// Errors: ErrInvalidOption for an unknown release, and for one that refuses the feature gates,
// the versions of RuntimeConfig or the admission plugins of the server.
func (s *Server) Upgrade(releaseName string) error {
	r, err := release.Open(releaseName)
	if err == nil {
		r, err = r.Select(s.config.runtimeConfig)
	}
	if err == nil {
		err = s.api.Upgrade(r)
	}
	if err != nil {
		return fmt.Errorf("fakeapi: upgrade: %w", optionError(err))
	}
	s.config.reloader.upgraded(s)
	return nil
}

// Release returns the name of the Kubernetes release that the server has, such as "v1.36.3".
func (s *Server) Release() string { return s.api.Release().Name() }
