// Package kubelet sets what Pods and Nodes of a server do, and what is measured of them.
// Server.Kubelet of package fakeapi returns a Kubelet:
//
//	srv := fakeapi.Start(t, fakeapi.WithControllers("*"))
//	srv.Kubelet().Pods("app=web").CrashLoop()
//	srv.Kubelet().StopNode("node-1")
//
// Without it, and while the controller "kubelet" is on, containers run and are ready, and
// those of Jobs complete.
package kubelet

import "errors"

// ErrInvalid is returned for a label selector or a quantity that does not parse.
var ErrInvalid = errors.New("invalid selector or quantity")

// invalid returns an error with the text of err that is an ErrInvalid.
func invalid(err error) error { return &invalidError{err} }

type invalidError struct{ err error }

func (e *invalidError) Error() string { return "fakeapi: " + e.err.Error() }

func (e *invalidError) Unwrap() []error { return []error{ErrInvalid, e.err} }
