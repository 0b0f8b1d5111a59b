package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/object"
)

// A target is where a webhook is called. It is immutable.
type target struct {
	url       *url.URL // without a query
	transport http.RoundTripper
	sockets   *http.Transport // below transport; nil for a webhook in memory
}

// A targetKey identifies a target.
type targetKey struct {
	config  string // a clientConfig in JSON
	users   *kubeconfig.Users
	backend *Backend
	cluster *kubeconfig.Cluster // of a Reviewer
}

// target returns the target of a key, which create creates.
func (c *Client) target(ctx context.Context, key targetKey, create func() (*target, error)) (*target, error) {
	return c.targets.Get(ctx, key, func() (*target, *http.Transport, error) {
		t, err := create()
		if err != nil {
			return nil, nil, err
		}
		return t, t.sockets, nil
	})
}

// configured returns the target of a clientConfig.
func (c *Client) configured(ctx context.Context, config map[string]any, credentials *kubeconfig.Users) (*target, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	backend := c.backend.Load()
	return c.target(ctx, targetKey{config: string(text), users: credentials, backend: backend}, func() (*target, error) {
		t, err := c.newTarget(config, backend)
		if err == nil && t.sockets != nil && credentials != nil {
			t.transport, err = credentials.For(hostOf(t.url), t.sockets)
		}
		return t, err
	})
}

// newTarget returns the target of a clientConfig, without credentials.
//
// Differs from kube-apiserver: proxies for webhooks of Services: kube-apiserver calls them by
// HTTPS_PROXY unless NO_PROXY has their names. Here they are called directly, because the
// names of Services mean nothing to a proxy. Request: any that a webhook of a Service handles.
func (c *Client) newTarget(config map[string]any, backend *Backend) (*target, error) {
	trust, err := trustOf(object.String(config, "caBundle"))
	if err != nil {
		return nil, err
	}
	sockets := KeepingTransport(trust)
	service := object.Map(config, "service")
	if service == nil {
		base, err := url.Parse(object.String(config, "url"))
		if err != nil {
			return nil, err
		}
		sockets.Proxy, sockets.ForceAttemptHTTP2 = http.ProxyFromEnvironment, isLocal(base.Hostname())
		return &target{RESTURL(&url.URL{Scheme: base.Scheme, Host: base.Host, Path: base.Path}), sockets, sockets}, nil
	}
	name, namespace := object.String(service, "name"), object.String(service, "namespace")
	port, _ := object.Int(service, "port")
	if port == 0 {
		port = 443
	}
	trust.ServerName = name + "." + namespace + ".svc"
	u := RESTURL(&url.URL{Scheme: "https", Host: net.JoinHostPort(trust.ServerName, strconv.FormatInt(port, 10)), Path: object.String(service, "path")})
	addr, ok := c.Services[namespace+"/"+name]
	if !ok && backend != nil && backend.Transport != nil {
		return &target{url: u, transport: backend.Transport}, nil
	}
	sockets.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		switch {
		case ok:
			return dial(ctx, network, addr)
		case backend != nil:
			return backend.dial(ctx, network)
		}
		return nil, &NoServiceError{name}
	}
	return &target{u, sockets, sockets}, nil
}

// trustOf returns a configuration that trusts a caBundle, or the system's roots if it is "".
func trustOf(caBundle string) (*tls.Config, error) {
	trust := &tls.Config{}
	if caBundle == "" {
		return trust, nil
	}
	pem, err := base64.StdEncoding.DecodeString(caBundle)
	trust.RootCAs = x509.NewCertPool()
	if err != nil || !trust.RootCAs.AppendCertsFromPEM(pem) {
		return nil, ErrCABundle
	}
	return trust, nil
}

// RESTURL returns the URL that client-go's REST client requests for a base URL: the path is
// clean, and there is neither a query nor a fragment.
func RESTURL(base *url.URL) *url.URL {
	return &url.URL{Scheme: base.Scheme, User: base.User, Host: base.Host, Path: path.Join("/", base.Path)}
}

// hostOf returns the host of a URL and its port.
func hostOf(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), "443")
}

// isLocal reports whether a host is this machine. kube-apiserver calls only such webhooks by
// HTTP/2: others may have several backends, between which HTTP/2 would not change.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
