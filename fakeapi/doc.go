// Package fakeapi is a Kubernetes API server for tests. It runs in the process
// of the test and starts in about a millisecond. It needs no etcd, no disk and no
// network beyond loopback. It responds as kube-apiserver v1.37 does, or as that of
// another release from v1.32 to v1.37 (WithRelease).
//
//	func TestController(t *testing.T) {
//		srv := fakeapi.Start(t)
//		client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL})
//		...
//	}
//
// Beyond what kube-apiserver does, a test has
//
//	servers      Start, New, Server.Fork, Server.NewReplica, Server.Upgrade
//	clients      Server.URL, Server.Client, Server.Kubeconfig, Server.Credentials
//	objects      Server.Get, Server.List, Server.Store, Server.Remove, Server.SetStatus
//	states       Server.Snapshot, Server.Restore, Server.Reset, Server.WriteState
//	time         Server.Clock, Server.Settle
//	stale views  Server.SetLag, Server.Compact, AtRevision
//	faults       Server.Inject, Server.Disconnect, Server.Failover; package faults
//	a cluster    WithControllers, Server.Kubelet, Server.InstallWebhooks; package kubelet
//	clusters     package clusters: several, with one clock
//	records      Server.Requests, Server.Writes, Server.Story; package journal
//
// Store and Remove write below admission and finalizers, as store and remove of scenarios and
// of the control endpoint do. A failed test logs the options and the end of the story.
//
// # Resource names
//
// Wherever this module takes the name of a resource (methods, faults, flags, the
// control endpoint, scenarios), the syntax is
//
//	pods               the resource pods, in any API group
//	deployments.apps   the resource deployments of the group apps
//	events.            the resource events of the core group
//	pods/status        the subresource status of pods; pods/* is every subresource
//	*                  every resource, with every subresource
//
// The name is the plural, as in URLs. Singulars, short names and kinds are not accepted: the
// error names the plural.
// Methods that need one type take the first of that name in the order of
// discovery. Subresources can be named in faults only.
//
// # Errors
//
// Methods that can fail return an error. Those that take a TB fail the test
// instead. errors.Is finds the errors of this package (ErrNotFound and others).
//
// # Limits
//
// By itself this is an API server, not a cluster: nothing schedules or runs Pods
// unless WithControllers says so. A request that kube-apiserver serves and this
// server does not fails with 501 and a message that names the missing feature.
package fakeapi
