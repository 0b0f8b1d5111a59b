// Package restconfig connects client-go, and what is built on it, with a server of
// package fakeapi:
//
//	srv := fakeapi.Start(t)
//	clientset := kubernetes.NewForConfigOrDie(restconfig.For(srv))                // client-go
//	cl, err := client.New(restconfig.For(srv), client.Options{Scheme: scheme})    // controller-runtime
//	mgr, err := ctrl.NewManager(restconfig.For(srv), ctrl.Options{Scheme: scheme}) // controller-runtime
//
// It works with servers that listen, with TLS or without, and with servers in memory
// (fakeapi.WithInMemory), whose clients can run in a testing/synctest bubble.
//
// The package is a module of its own, because package fakeapi does not require
// client-go. It requires the oldest client-go that is supported, and works with newer
// ones: it does not raise the version that a module has.
package restconfig

import (
	"k8s.io/client-go/rest"

	"github.com/kubefake/kubefake/fakeapi"
)

// For returns a configuration for an administrator, who is a member of system:masters.
// The caller owns it. It has no limit of requests, and the default UserAgent, by which
// the server's story distinguishes clients.
func For(srv *fakeapi.Server) *rest.Config {
	return ForUser(srv, fakeapi.User{Name: "admin", Groups: []string{"system:masters"}})
}

// ForUser returns a configuration for a user, as For does. The user need not be known
// to the server. With fakeapi.WithRBAC the server authorizes the user's requests by
// roles.
func ForUser(srv *fakeapi.Server, user fakeapi.User) *rest.Config {
	config := &rest.Config{
		Host:            srv.URL,
		BearerToken:     srv.Credentials(user).BearerToken,
		TLSClientConfig: rest.TLSClientConfig{CAData: srv.CAData},
		QPS:             -1,
	}
	if srv.InMemory() {
		config.Transport = srv.Transport()
	}
	return config
}
