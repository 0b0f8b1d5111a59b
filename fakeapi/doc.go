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
// # Caches that lag
//
// A kube-apiserver answers much from watch caches, which trail its state by some
// time. Server.Lag and its like say how far they do here. From a cache are
//
//   - gets and lists at resourceVersion=0, and those that are to be not older
//     than a version, which wait for the cache to come to it, for three seconds,
//     and then fail with 504 "Too large resource version";
//   - watches, with their bookmarks and initial events. One that is to begin
//     with the present waits for it likewise; one from a version that the cache
//     has not come to shows nothing until it is past that.
//
// Reads without a resourceVersion and writes are of the present, so that a
// client which writes what it made of the past gets its conflicts. A read at an
// exact version is of that version. Events, which kube-apiserver reads from etcd,
// are always of the present, and so is what the server reads for itself, such as
// roles and namespaces.
//
// A cache never goes back. Where it is to lag more it stands still until the
// state is far enough ahead. It goes on showing what is compacted meanwhile, and
// its watches get their 410 when it moves on from there: to what is not
// compacted, so that it does not move where history is compacted in less time
// than it lags.
//
// # Limits
//
// It is an API server, not a cluster: nothing schedules or runs pods. What
// kube-apiserver answers and this server does not is answered with 501 and a
// message that names it.
package fakeapi
