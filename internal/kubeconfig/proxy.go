package kubeconfig

import (
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/kubefake/kubefake/internal/status"
)

// Proxy returns a handler that forwards requests to the server with the user of the
// kubeconfig, whatever user the client is.
func (c *Cluster) Proxy() (http.Handler, error) {
	target, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization")
			if r.Out.Header.Get("Origin") != "" {
				// That of this proxy, whose handler has checked it.
				r.Out.Header.Set("Origin", target.Scheme+"://"+target.Host)
			}
		},
		Transport:     c.Transport,
		FlushInterval: -1, // forward watch events at once
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadGateway)
			w.Write(status.Failure(http.StatusBadGateway, "", "the server behind this proxy: "+err.Error(), nil).JSON())
		},
	}, nil
}
