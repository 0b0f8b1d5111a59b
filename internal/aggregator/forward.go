package aggregator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/websocket"
)

// A Forwarding is a request to forward.
type Forwarding struct {
	// Request is the request of the client. Its context ends with it.
	Request *http.Request
	// User has made the request.
	User *authn.User
	// AuditID is that of the request.
	AuditID string
	// IsResource is set for requests of resources.
	IsResource bool
	// Switching is called before the answer if the connection changes its protocol.
	Switching func()
}

// Forward forwards a request and answers it. It returns an error, and answers nothing, only
// if the context of the request has ended.
func (r *Remote) Forward(w http.ResponseWriter, f Forwarding) error {
	a, s := r.aggregator, r.service
	if !s.available {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return nil
	}
	ctx, cancel := context.WithCancel(f.Request.Context())
	defer cancel()
	if !f.IsResource && strings.Count(strings.Trim(f.Request.URL.Path, "/"), "/") == 2 { // a discovery document
		var stop context.CancelFunc
		ctx, stop = a.config.Clock.WithTimeout(ctx, checkTimeout)
		defer stop()
	}
	to, err := a.resolve(&s.spec)
	if err != nil {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return nil
	}
	p := &proxy{Forwarding: f, to: to, upgrade: isUpgrade(f.Request.Header)}
	transport := a.transport
	if p.upgrade {
		transport = a.upgradingTransport
	}
	t, err := transport(ctx, &s.spec, to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return nil
	}
	reverse := &httputil.ReverseProxy{
		Director: func(*http.Request) {}, Transport: forwardingTransport{t}, FlushInterval: -1,
		ModifyResponse: p.checkResponse, ErrorHandler: p.answerError, ErrorLog: log.New(io.Discard, "", 0),
	}
	reverse.ServeHTTP(w, p.outgoing(ctx))
	if f.Request.Context().Err() != nil {
		return p.failure
	}
	return nil
}

// isUpgrade reports whether a request asks to change the protocol.
func isUpgrade(h http.Header) bool {
	return slices.ContainsFunc(h.Values("Connection"), func(value string) bool { return strings.Contains(strings.ToLower(value), "upgrade") })
}

// A proxy forwards one request.
type proxy struct {
	Forwarding
	to      endpoint
	upgrade bool
	failure error // if the context of the request has ended without an answer
}

// outgoing returns the request to the aggregated API server.
func (p *proxy) outgoing(ctx context.Context) *http.Request {
	out := p.Request.Clone(ctx)
	out.URL = &url.URL{Scheme: "https", Host: p.to.host, Path: p.Request.URL.Path, RawQuery: p.Request.URL.Query().Encode()}
	out.Host = p.to.host
	removeCredentials(out.Header)
	out.Header.Set("Audit-Id", p.AuditID)
	setUser(out.Header, p.User)
	return out
}

// removeCredentials removes the headers that were for this server.
func removeCredentials(h http.Header) {
	h.Del("Authorization")
	for name := range h {
		if strings.HasPrefix(http.CanonicalHeaderKey(name), "Impersonate-") {
			delete(h, name)
		}
	}
	if token, others, err := websocket.Token(h); err == nil && token != "" {
		websocket.SetProtocols(h, others)
	}
}

// checkResponse replaces a redirect by an error, and refuses an answer that does not change
// the protocol although the client asks for it.
func (p *proxy) checkResponse(resp *http.Response) error {
	code := resp.StatusCode
	switch {
	case p.upgrade && code == http.StatusSwitchingProtocols:
		if p.Switching != nil {
			p.Switching()
		}
	case p.upgrade && code < http.StatusBadRequest:
		return fmt.Errorf("invalid upgrade response: status code %d", code)
	case code >= 300 && code <= 399 && resp.Header.Get("Location") != "":
		resp.Body.Close()
		const message = "the backend attempted to redirect this request, which is not permitted"
		*resp = http.Response{StatusCode: http.StatusBadGateway, Body: io.NopCloser(strings.NewReader(message)), ContentLength: int64(len(message)), Request: resp.Request}
	}
	return nil
}

// answerError answers a request whose forwarding has failed.
func (p *proxy) answerError(w http.ResponseWriter, _ *http.Request, err error) {
	if cause := p.Request.Context().Err(); cause != nil {
		p.failure = cause
		return
	}
	http.Error(w, err.Error(), http.StatusServiceUnavailable)
}

// A forwardingTransport sets the headers of forwarded requests that name the original one.
type forwardingTransport struct{ *http.Transport }

// RoundTrip implements [http.RoundTripper].
func (t forwardingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Upgrade") == "" {
		uri := path.Join("/", r.URL.EscapedPath())
		if strings.HasSuffix(r.URL.Path, "/") {
			uri += "/"
		}
		r.Header.Set("X-Forwarded-Uri", uri)
	}
	resp, err := t.Transport.RoundTrip(r)
	if err == nil {
		return resp, nil
	}
	if r.Context().Err() != nil {
		err = context.Cause(r.Context())
	}
	return nil, errors.New("error trying to reach service: " + err.Error())
}
