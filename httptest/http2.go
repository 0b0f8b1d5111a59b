//go:build go1.24

package httptest

import "net/http"

// setHTTP2 makes h serve HTTP/2 with and without TLS, besides HTTP/1.1, with the
// limits of kube-apiserver.
func setHTTP2(h *http.Server) {
	h.Protocols = new(http.Protocols)
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetHTTP2(true)
	h.Protocols.SetUnencryptedHTTP2(true)
	h.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams:          maxStreams,
		MaxReadFrameSize:              maxStreamBuffer,
		MaxReceiveBufferPerStream:     maxStreamBuffer,
		MaxReceiveBufferPerConnection: maxStreamBuffer * maxStreams,
	}
}
