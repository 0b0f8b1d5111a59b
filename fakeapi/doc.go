// Package fakeapi is a Kubernetes API server for tests. It runs in the process
// of the test and starts in about a millisecond. It needs no etcd, no disk and no
// network beyond loopback. It responds as kube-apiserver v1.36 does, or as that of
// another release from v1.32 to v1.37 (WithRelease).
//
//	func TestController(t *testing.T) {
//		srv := fakeapi.Start(t)
//		client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL})
//		...
//	}
//
// Beyond kube-apiserver, a test can copy the server with its state (Server.Fork),
// read old revisions (AtRevision), compact history (Server.Compact), make watch
// caches lag (Server.SetLag), inject faults (Server.Inject), move the
// time (WithManualClock, Server.Clock), write objects without admission
// (Server.Put), and read what happened (Server.Requests, Server.Writes,
// Server.Story). A failed test logs the end of its story.
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
