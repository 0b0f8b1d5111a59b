// Package backdoor lets packages of this module that are built on package fakeapi, such as
// scenarios/explore, do what a test need not do, and what the API of package fakeapi does
// therefore not have.
package backdoor

import (
	"context"
	"net/http"

	"github.com/kubefake/kubefake/internal/validation"
)

// Of returns what a *fakeapi.Server does beyond its API. Package fakeapi sets it: this package
// cannot import that one, which imports most others.
var Of func(server any) Server

// WithCluster returns the fakeapi.Option of package clusters for a cluster with a name. options are
// a []fakeapi.Option. Package fakeapi sets it.
var WithCluster func(name string, options any) any

// A Server is a *fakeapi.Server.
type Server interface {
	// Cluster returns the server of the cluster with a name, a *fakeapi.Server, or nil if there is
	// none. ClusterNames returns the names of the clusters.
	Cluster(name string) any
	ClusterNames() []string

	// NewFrontEnd starts another front end of the server, a *fakeapi.Server: with a URL, a
	// transport and connections of its own, and with the state, the clock, the faults, the watch
	// caches and the story of the server. Its clients pass through wrap. Of several clusters, it starts a
	// front end of each, and returns that of the cluster whose server New or Fork has returned. Of a
	// replica, it takes the replica for its cluster.
	//
	// Closing the front end refuses its clients and ends their connections; the server and its
	// other front ends continue. It simulates the end of a client in the middle of what it does:
	// whatever the client still tries does not reach the server. The caller must close the
	// front end before the server.
	NewFrontEnd(wrap func(cluster string, next http.Handler) http.Handler) (any, error)

	// WriteOrders returns, by their revisions, the places of the newest writes from a revision on in the
	// order that all clusters share.
	WriteOrders(from int64) map[int64]int64

	// RunControllers does what the controllers of the server have to do at the server's time,
	// and returns when nothing of it is left, or when ctx ends. Without it they do the same a
	// little later.
	RunControllers(ctx context.Context) error

	// RemoveObject removes the object with the kind, namespace and name of object, as
	// fakeapi.Server.Remove does. object has a form that fakeapi.Server.Store takes.
	RemoveObject(object any) error

	// Shutdown refuses further requests, ends watches, and waits until the other requests in
	// flight have been answered, or until ctx is done. The caller must Close the server.
	Shutdown(ctx context.Context)

	// HasManualClock reports whether only Clock.Advance moves the time.
	HasManualClock() bool

	// StartUsage counts the requests of clients from now on, from zero.
	StartUsage()

	// Usage returns what was counted, a *usage.Usage of package fakeapi/usage, and whether
	// requests are counted.
	Usage() (u any, counting bool)

	// Validator returns what sets the defaults of a new custom resource and returns what is wrong with
	// it, nil if the server does not serve the resource. It needs the server no more.
	Validator(group, version, resource string) func(obj map[string]any) validation.List

	// HistoryBytes returns the bytes of memory that only the history occupies: old versions of
	// objects, and what the log of writes itself needs.
	HistoryBytes() int64

	// ShowSearches makes the control endpoint show searches of package scenarios/explore, a
	// control.Searches.
	ShowSearches(from any)
}
