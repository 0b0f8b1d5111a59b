// Package clusters runs several clusters in one test, for controllers that read from one and write
// to another. They share the clock, the seed and the story, and they settle together.
//
//	east := fakeapi.Start(t, clusters.With("east"), clusters.With("west", fakeapi.WithRBAC()))
//	west := clusters.Get(east, "west")
//
// Options beside [With] are for all clusters. [fakeapi.Start] returns the server of the first one.
// Each server has a URL, credentials, objects, revisions, lags, faults and replicas of its own, and
// its methods concern its own cluster, except
//
//	Clock            the clock is one. On a manual clock, Advance lets the controllers of all
//	                 clusters act, each at its time
//	Settle           waits until all clusters have settled at the same time
//	Story            has the lines of all clusters in the order in which things happened, each
//	                 with the name of its cluster. A failed test logs it
//	Inject           injects a fault with Fault.In into the cluster of that name
//	Kubeconfig       has a context for each cluster, with the name of the cluster. The current one is
//	                 that of the server
//	Fork, NewFork    fork all clusters, and return the fork of the server
//	Close            of the server that Start, New or Fork returned closes all
//
// With fakeapi.WithSeed each cluster has a seed of its own, which depends on its name only: two
// clusters have no UID in common, and another cluster changes no UID of those that were there.
//
// A partition cuts clients off from a cluster, and not from the others:
//
//	cut, err := west.Inject(faults.Partition("manager/*")...)
//	...
//	cut.Remove()
package clusters

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/backdoor"
)

// With adds a cluster with a name, which is not empty and has neither spaces nor commas. The options
// are for this cluster, beside those for all. WithManualClock and WithSeed can only be for all, and
// options with an io.Reader only for one. If the address of WithAddress for all clusters has a port,
// the clusters have this and the next ports.
func With(name string, options ...fakeapi.Option) fakeapi.Option {
	return backdoor.WithCluster(name, options).(fakeapi.Option)
}

// Get returns the server of the cluster with a name. srv is the server of any cluster. It panics if
// there is no such cluster.
func Get(srv *fakeapi.Server, name string) *fakeapi.Server {
	found, ok := backdoor.Of(srv).Cluster(name).(*fakeapi.Server)
	if !ok {
		panic(fmt.Sprintf("clusters: there is no cluster %q among %q", name, strings.Join(Names(srv), ", ")))
	}
	return found
}

// Names returns the names of the clusters, in the order of their options; none without [With].
func Names(srv *fakeapi.Server) []string { return backdoor.Of(srv).ClusterNames() }
