// Package httptest connects a handler to clients: a listener on loopback with
// or without throwaway TLS, a transport that needs no network at all, and the
// kubeconfig that leads to either. It adds to the standard net/http/httptest
// what a server of long-lived streams needs, and repeats none of it.
//
// [Start] serves any [http.Handler] over HTTP/1.1 and HTTP/2, the latter also
// in the clear for clients that begin with it. [Server.Close] ends streams
// cleanly: requests see their context cancelled, clients see the response end.
//
// # In memory
//
// [Server.InMemory] calls the handler directly, in a goroutine a request. It
// uses no sockets, so that it works in a testing/synctest bubble: a long poll
// that waits for a body, or a handler that waits for its client, is durably
// blocked. Start the server in the bubble too.
//
// Handlers find what they find behind net/http: up to 2 KiB are held back
// until the handler flushes, so that a short response has a Content-Length;
// a handler that writes faster than its client reads waits once 64 KiB are
// unread; a client that closes the body, or whose context ends, cancels the
// handler's. Departures from net/http:
//
//   - Responses have no Date, Content-Type is not guessed, and nothing is
//     compressed or decompressed in passing.
//   - There are no trailers, no 1xx responses, no connections to hijack, and
//     no Expect handling. Request.TLS is nil. A read deadline has no effect.
//   - The client's request body is read and closed by the handler's side, as
//     a [http.RoundTripper] may; its Close must end a Read that is under way,
//     as it does for pipes, files and sockets.
package httptest
