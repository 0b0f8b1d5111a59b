// Package httptest serves an [http.Handler] to tests. It adds to the standard
// net/http/httptest what a Kubernetes API server needs, and repeats none of it:
//
//   - a listener on loopback for HTTP/1.1 and HTTP/2, with TLS or in the clear,
//     whose [Server.Close] ends open streams cleanly: it cancels the contexts of
//     the requests, and clients see the ends of their responses;
//   - the limits of kube-apiserver's listener: 32 s for the TLS handshake and for
//     the header of a request, 90 s for a connection without a request, and 1000
//     concurrent requests of an HTTP/2 connection. Built with Go 1.23, a server
//     has HTTP/2 only with TLS, and with the limits of net/http;
//   - throwaway certificates for servers and clients of one CA ([IssueServer],
//     [IssueClient]);
//   - kubeconfig files ([Kubeconfig]);
//   - a transport without a network that streams ([Server.InMemory]).
//
// # In memory
//
// The in-memory transport calls the handler in a goroutine for each request, or, for
// a request that [Options].Immediate reports, in the goroutine of its client. It
// has no sockets, so it works in a testing/synctest bubble: a client that waits for
// a body, or a handler that waits for its client, is durably blocked. Start the
// server inside the bubble.
//
// Handlers see the same as behind net/http. Up to 2 KiB of a response are held back
// until the handler flushes, so that a short response has a Content-Length. A
// handler that writes faster than its client reads blocks when 64 KiB are unread,
// except in the goroutine of its client. A client that closes the body, or whose
// context ends, cancels the handler's context. Differences from net/http:
//
//   - Responses have no Date, Content-Type is not guessed, and nothing is
//     compressed or decompressed.
//   - There are no trailers, no 1xx responses, no hijacking and no handling of
//     Expect. Request.TLS is nil.
//   - The handler's side reads and closes the request body, as an
//     [http.RoundTripper] may. Close of the body must end a Read that is running,
//     as it does for pipes, files and sockets.
package httptest
