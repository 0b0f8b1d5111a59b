// Package fakeapi is a Kubernetes API server for tests: one value in the
// process of the test, started in about a millisecond, without etcd, disk or
// network beyond loopback, that answers what kube-apiserver answers.
//
//	func TestController(t *testing.T) {
//		srv := fakeapi.Start(t)
//		client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL})
//		...
//	}
//
// Any client of any language reaches it at Server.URL. It serves every built-in
// resource of a Kubernetes release (by default v1.36) with object metadata,
// resource versions, watches, paging and errors as the real server has them.
//
// # What a real server does not do
//
//   - Server.Fork gives a test its own copy of a whole server in microseconds:
//     load fixtures once, fork per subtest.
//   - Server.List with At reads any version that is still kept.
//   - Server.Compact forgets history: clients get their 410s.
//   - Server.Lag and Server.Freeze have what is read from watch caches trail.
//   - Server.Inject makes things go wrong: conflicts, lost answers, dropped and
//     expired watches, slow webhooks, or Chaos.
//   - Server.Clock moves time ahead; WithClock stops it.
//   - Server.Put writes an object as it is, status included.
//   - Server.Story tells who wrote what and who had seen it by when, as text and
//     as a page; a test that fails logs it.
//   - Server.Requests and Server.Log tell what was asked and what was written.
//
// # Limits
//
// It is an API server, not a cluster: nothing schedules or runs pods. What
// kube-apiserver answers and this server does not is answered with 501 and a
// message that names it.
package fakeapi
