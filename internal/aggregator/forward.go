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
	"strconv"
	"strings"
	"time"

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
	p := &proxy{Forwarding: f, to: to, upgrade: isUpgrade(f.Request.Header), header: w.Header()}
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
		Director: func(*http.Request) {}, Transport: forwardingTransport{t}, FlushInterval: flushInterval,
		ModifyResponse: p.checkResponse, ErrorHandler: p.answerError, ErrorLog: log.New(io.Discard, "", 0),
	}
	reverse.ServeHTTP(w, p.outgoing(ctx))
	if f.Request.Context().Err() != nil {
		return p.failure
	}
	return nil
}

// flushInterval is how long a part of an answer of a known length may wait for more. Others are
// sent at once.
const flushInterval = 200 * time.Millisecond

// isUpgrade reports whether a request asks to change the protocol.
func isUpgrade(h http.Header) bool {
	return slices.ContainsFunc(h.Values("Connection"), func(value string) bool { return strings.Contains(strings.ToLower(value), "upgrade") })
}

// A proxy forwards one request.
type proxy struct {
	Forwarding
	to      endpoint
	upgrade bool
	header  http.Header // of the answer to the client
	failure error       // if the context of the request has ended without an answer
}

// outgoing returns the request to the aggregated API server.
func (p *proxy) outgoing(ctx context.Context) *http.Request {
	out := p.Request.Clone(ctx)
	out.URL = &url.URL{Scheme: "https", Host: p.to.host, Path: p.Request.URL.Path, RawQuery: p.Request.URL.Query().Encode()}
	out.Host = p.to.host
	removeCredentials(out.Header)
	if p.upgrade && out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", "Go-http-client/1.1")
	}
	out.Header.Set("Audit-Id", p.AuditID)
	setUser(out.Header, p.User)
	return out
}

// removeCredentials removes the headers that were for this server.
func removeCredentials(h http.Header) {
	_, authorized := h["Authorization"] // so that a token in a WebSocket handshake was not read
	h.Del("Authorization")
	for name := range h {
		if strings.HasPrefix(http.CanonicalHeaderKey(name), "Impersonate-") {
			delete(h, name)
		}
	}
	if token, others, err := websocket.Token(h); err == nil && token != "" && !authorized {
		websocket.SetProtocols(h, others)
	}
}

// checkResponse replaces a redirect by an error, and refuses an answer that does not change
// the protocol although the client asks for it.
func (p *proxy) checkResponse(resp *http.Response) error {
	code := resp.StatusCode
	switches := code == http.StatusSwitchingProtocols
	if p.upgrade && (switches || code >= http.StatusBadRequest) {
		clear(p.header) // kube-apiserver copies the answer as it is
	}
	switch {
	case p.upgrade && switches:
		if p.Switching != nil {
			p.Switching()
		}
	case p.upgrade && code < http.StatusBadRequest:
		return fmt.Errorf("invalid upgrade response: status code %d", code)
	case code >= 300 && code <= 399 && resp.Header.Get("Location") != "":
		resp.Body.Close()
		const message = "the backend attempted to redirect this request, which is not permitted"
		*resp = http.Response{
			StatusCode: http.StatusBadGateway, Header: http.Header{"Content-Length": {strconv.Itoa(len(message))}},
			Body: io.NopCloser(strings.NewReader(message)), ContentLength: int64(len(message)), Request: resp.Request,
		}
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

// A forwardingTransport sets the X-Forwarded headers of requests, and makes the Location of an answer
// absolute, unless the protocol changes.
//
// Differs from kube-apiserver: HTML of aggregated API servers: kube-apiserver makes the absolute
// paths in links of an answer of the type text/html URLs of the aggregated API server. Here HTML
// does not change. Request: GET of a page of an aggregated API server.
type forwardingTransport struct{ *http.Transport }

// RoundTrip implements [http.RoundTripper].
func (t forwardingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	upgrade := r.Header.Get("Upgrade") != ""
	if !upgrade {
		uri := path.Join("/", r.URL.EscapedPath())
		if strings.HasSuffix(r.URL.Path, "/") {
			uri += "/"
		}
		r.Header.Set("X-Forwarded-Uri", uri)
		// kube-apiserver names the aggregated API server here, and not what the client has called.
		r.Header.Set("X-Forwarded-Host", r.URL.Host)
		r.Header.Set("X-Forwarded-Proto", r.URL.Scheme)
	}
	resp, err := t.Transport.RoundTrip(r)
	if err == nil {
		if location := resp.Header.Get("Location"); location != "" && !upgrade {
			target, err := url.Parse(location)
			if err != nil {
				resp.Body.Close()
				return nil, fmt.Errorf("Internal error occurred: error trying to parse Location header: %w", err)
			}
			resp.Header.Set("Location", absolute(target, r.URL))
		}
		return resp, nil
	}
	if r.Context().Err() != nil {
		err = context.Cause(r.Context())
	}
	if upgrade {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return nil, errors.New("error trying to reach service: " + err.Error())
}

// absolute returns the URL of the Location of an answer of a server. It changes absolute paths on the
// same host only.
func absolute(location, server *url.URL) string {
	if (location.Host == "" || location.Host == server.Host) && strings.HasPrefix(location.Path, "/") {
		location.Scheme, location.Host = server.Scheme, server.Host
	}
	return location.String()
}
