//go:build !go1.24

package httptest

import "net/http"

// setHTTP2 leaves h as it is: net/http of Go 1.23 serves HTTP/2 only with TLS, and
// has no setting for its limits.
func setHTTP2(*http.Server) {}
