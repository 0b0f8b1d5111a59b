package aggregator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/webhook"
)

// A Certificate is a client certificate that can be replaced. It is safe for concurrent use.
type Certificate struct {
	pair atomic.Pointer[tls.Certificate]
}

// Set replaces the certificate and its key, both in PEM. It must be called before the first
// use. It changes nothing if they are not valid.
func (c *Certificate) Set(certificate, key []byte) error {
	pair, err := tls.X509KeyPair(certificate, key)
	if err == nil {
		c.pair.Store(&pair)
	}
	return err
}

// A transportKey is what a transport depends on.
type transportKey struct {
	spec        spec
	address     string
	certificate *tls.Certificate // nil for none
}

func (a *Aggregator) transportKey(s *spec, to endpoint) transportKey {
	key := transportKey{spec: *s, address: to.address}
	if c := a.config.Certificate; c != nil {
		key.certificate = c.pair.Load()
	}
	return key
}

// transport returns the transport to an endpoint of a Service, which keeps its connections for
// later requests. It fails with webhook.ErrCABundle.
func (a *Aggregator) transport(ctx context.Context, s *spec, to endpoint) (*http.Transport, error) {
	key := a.transportKey(s, to)
	return a.transports.Get(ctx, key, func() (*http.Transport, *http.Transport, error) {
		trust, err := key.trust()
		if err != nil {
			return nil, nil, err
		}
		t := webhook.KeepingTransport(trust)
		t.ForceAttemptHTTP2 = true
		connectTo(t, to.address)
		return t, t, nil
	})
}

// upgradingTransport returns a transport for a request that changes the protocol of its
// connection, which is closed when ctx ends.
func (a *Aggregator) upgradingTransport(ctx context.Context, s *spec, to endpoint) (*http.Transport, error) {
	key := a.transportKey(s, to)
	trust, err := key.trust()
	if err != nil {
		return nil, err
	}
	t := webhook.NewTransport(ctx, trust)
	t.DisableCompression = true
	connectTo(t, to.address)
	return t, nil
}

// trust returns the TLS configuration of a transport.
func (k *transportKey) trust() (*tls.Config, error) {
	s := &k.spec
	trust := &tls.Config{ServerName: s.name + "." + s.namespace + ".svc", InsecureSkipVerify: s.insecure}
	if s.caBundle != "" {
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM([]byte(s.caBundle)) {
			return nil, webhook.ErrCABundle
		}
	}
	if k.certificate != nil {
		trust.Certificates = []tls.Certificate{*k.certificate}
	}
	return trust, nil
}

// connectTo makes a transport connect to an address, whatever the host of a request is.
func connectTo(t *http.Transport, address string) {
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) { return dial(ctx, network, address) }
}

// get requests a path of the server as a user. It does not follow redirects. The caller closes
// the body, and ends ctx after that.
func (a *Aggregator) get(ctx context.Context, s *spec, path string, user *authn.User, header http.Header) (*http.Response, error) {
	to, err := a.resolve(s)
	if err != nil {
		return nil, err
	}
	t, err := a.transport(ctx, s, to)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+to.host+path, nil)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	setUser(r.Header, user)
	client := &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	return resp, nil
}

// causeOf returns the error of a call. If ctx has ended, that is the cause, and not the
// connection that was closed therefore.
func causeOf(ctx context.Context, err error) error {
	if call, ok := err.(*url.Error); ok && ctx.Err() != nil {
		call.Err = context.Cause(ctx)
	}
	return err
}

// The headers that name the user of a forwarded request.
const (
	userHeader  = "X-Remote-User"
	uidHeader   = "X-Remote-Uid"
	groupHeader = "X-Remote-Group"
	extraPrefix = "X-Remote-Extra-"
)

// setUser sets the headers that name a user, in place of those that a client has sent.
func setUser(h http.Header, user *authn.User) {
	for name := range h {
		if canonical := http.CanonicalHeaderKey(name); canonical == userHeader || canonical == uidHeader || canonical == groupHeader || strings.HasPrefix(canonical, extraPrefix) {
			delete(h, name)
		}
	}
	h.Set(userHeader, user.Name)
	if user.UID != "" {
		h.Set(uidHeader, user.UID)
	}
	for _, group := range user.Groups {
		h.Add(groupHeader, group)
	}
	for key, values := range user.Extra {
		for _, value := range values {
			h.Add(extraPrefix+escapeKey(key), value)
		}
	}
}

// escapeKey returns a key of extra information as a part of the name of a header: bytes that
// must not be in one, and %, are escaped as in URLs.
func escapeKey(key string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(key) {
		if c := key[i]; c == '%' || !isTokenByte(c) {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// isTokenByte reports whether the name of a header may have a byte.
func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
