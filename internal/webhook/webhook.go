// Package webhook calls webhooks. A webhook is given by the clientConfig of a
// CustomResourceDefinition or of a webhook configuration, with a URL or a Service.
package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/object"
)

// maxResponse is the maximum length of a response body; the rest is ignored.
const maxResponse = 32 << 20

// A Client calls webhooks. The zero value calls those that have a URL.
type Client struct {
	// Services maps Services ("namespace/name") to the addresses of their webhooks
	// ("127.0.0.1:9443"). The Backend has the webhooks of other Services; without one,
	// calls to them fail.
	Services map[string]string
	// Clock measures timeouts; nil is the wall clock.
	Clock *clock.Clock
	// Wrap, if not nil, returns the transport to use in place of the given one. It is
	// called for each call to a webhook.
	Wrap func(http.RoundTripper) http.RoundTripper

	backend atomic.Pointer[Backend] // nil without one
}

// A StatusError is returned for a response whose status is not a success.
type StatusError struct {
	Code int
	Body string
	// Message is the message of the Status in the body; "" if the body is not one.
	Message string
}

// Error returns the text of client-go's error for the status code.
func (e *StatusError) Error() string {
	if e.Message != "" {
		return e.Message
	}
	switch e.Code {
	case http.StatusBadRequest:
		return "the server rejected our request for an unknown reason"
	case http.StatusUnauthorized:
		return "the server has asked for the client to provide credentials"
	case http.StatusForbidden, http.StatusUnsupportedMediaType:
		return e.Body
	case http.StatusNotFound:
		return "the server could not find the requested resource"
	case http.StatusMethodNotAllowed:
		return "the server does not allow this method on the requested resource"
	case http.StatusConflict:
		return "the server reported a conflict"
	case http.StatusUnprocessableEntity:
		return "the server rejected our request due to an error in our request"
	case http.StatusTooManyRequests:
		return "the server has received too many requests and has asked us to try again later"
	case http.StatusServiceUnavailable:
		return "the server is currently unable to handle the request"
	case http.StatusGatewayTimeout:
		return "the server was unable to return a response in the time allotted, but may still be processing the request"
	}
	if e.Code >= 500 {
		return fmt.Sprintf("an error on the server (%q) has prevented the request from succeeding", e.Body)
	}
	return fmt.Sprintf("the server responded with the status code %d but did not return more information", e.Code)
}

// Post sends a review in JSON to the webhook of a clientConfig and returns the
// response body. The URL of the request has, as the parameter timeout, the time until ctx
// ends or the timeout is over, in whole seconds.
//
// credentials has those for the webhook; nil has none.
//
// Errors: *StatusError; a *url.Error if the webhook cannot be reached, is not
// trusted, or does not respond within the timeout; an error for an invalid caBundle.
func (c *Client) Post(ctx context.Context, config map[string]any, credentials *kubeconfig.Users, timeout time.Duration, review []byte) ([]byte, error) {
	ctx, cancel := c.withTimeout(ctx, timeout)
	defer cancel()
	target, transport, err := c.target(ctx, config)
	if plain, ok := transport.(*http.Transport); ok && credentials != nil {
		transport, err = credentials.For(hostOf(target), plain)
	}
	if err != nil {
		return nil, err
	}
	return c.send(ctx, transport, target+c.timeoutParameter(ctx), "kube-apiserver-admission", review)
}

// send sends a review to a webhook until ctx ends.
func (c *Client) send(ctx context.Context, transport http.RoundTripper, target, agent string, review []byte) ([]byte, error) {
	if c.Wrap != nil {
		transport = c.Wrap(transport)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(review))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, */*")
	r.Header.Set("User-Agent", agent)
	resp, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 206 {
		return nil, &StatusError{resp.StatusCode, textOf(resp, body), messageOf(body)}
	}
	return body, nil
}

// causeOf returns the error of a call. If ctx has ended, that is the cause, and not the
// connection that was closed therefore.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	var call *url.Error
	if errors.As(err, &call) {
		call.Err = context.Cause(ctx)
		return call
	}
	return context.Cause(ctx)
}

// textOf returns the body of a response if it is text, otherwise "unknown".
func textOf(resp *http.Response, body []byte) string {
	if kind := resp.Header.Get("Content-Type"); kind != "" && !strings.HasPrefix(kind, "text/") {
		return "unknown"
	}
	return strings.TrimSpace(string(body))
}

func (c *Client) withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if c.Clock == nil {
		return context.WithTimeout(ctx, d)
	}
	return c.Clock.WithTimeout(ctx, d)
}

// messageOf returns the message of a body that is a failure Status.
func messageOf(body []byte) string {
	var st struct{ Kind, Status, Message string }
	if json.Unmarshal(body, &st) != nil || st.Kind != "Status" || st.Status != "Failure" {
		return ""
	}
	return st.Message
}

// timeoutParameter returns the query that tells a webhook how long its caller waits, rounded
// up to seconds; "" if the time is over.
func (c *Client) timeoutParameter(ctx context.Context) string {
	var left time.Duration
	if c.Clock == nil {
		at, _ := ctx.Deadline()
		left = time.Until(at)
	} else {
		at, _ := clock.Deadline(ctx)
		left = at.Sub(c.Clock.Now())
	}
	if left <= 0 {
		return ""
	}
	return "?timeout=" + strconv.FormatInt(int64((left+time.Second-1)/time.Second), 10) + "s"
}

// ErrCABundle is returned by Client.Post if the caBundle of a clientConfig is no
// certificate. Such a webhook is not called.
var ErrCABundle = errors.New("unable to load root certificates: unable to parse bytes as PEM block")

// A NoServiceError is the cause of the error of a call to a Service that is not known.
type NoServiceError struct{ Name string }

func (e *NoServiceError) Error() string { return fmt.Sprintf("service %q not found", e.Name) }

// hostOf returns the host of a URL and its port.
func hostOf(target string) string {
	u, err := url.Parse(target)
	switch {
	case err != nil:
		return ""
	case u.Port() != "":
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), "443")
}

// target returns the URL of a clientConfig's webhook and a transport to it. The
// connections of the transport are closed when ctx ends.
func (c *Client) target(ctx context.Context, config map[string]any) (string, http.RoundTripper, error) {
	trust := &tls.Config{}
	if bundle := object.String(config, "caBundle"); bundle != "" {
		pem, err := base64.StdEncoding.DecodeString(bundle)
		trust.RootCAs = x509.NewCertPool()
		if err != nil || !trust.RootCAs.AppendCertsFromPEM(pem) {
			return "", nil, ErrCABundle
		}
	}
	transport := NewTransport(ctx, trust)
	service := object.Map(config, "service")
	if service == nil {
		return object.String(config, "url"), transport, nil
	}
	name, namespace := object.String(service, "name"), object.String(service, "namespace")
	port, _ := object.Int(service, "port")
	trust.ServerName = name + "." + namespace + ".svc"
	url := "https://" + net.JoinHostPort(trust.ServerName, strconv.FormatInt(port, 10)) + object.String(service, "path")
	backend := c.backend.Load()
	if backend != nil && backend.Transport != nil && c.Services[namespace+"/"+name] == "" {
		return url, backend.Transport, nil
	}
	transport.DialContext = func(_ context.Context, network, _ string) (net.Conn, error) {
		addr, ok := c.Services[namespace+"/"+name]
		if !ok && backend != nil {
			return backend.dial(ctx, network)
		}
		if !ok {
			return nil, &NoServiceError{name}
		}
		return dial(ctx, network, addr)
	}
	return url, transport, nil
}

// NewTransport returns a transport without keep-alives, whose connections are closed
// when ctx ends.
func NewTransport(ctx context.Context, trust *tls.Config) *http.Transport {
	return &http.Transport{
		TLSClientConfig: trust, DisableKeepAlives: true,
		DialContext: func(_ context.Context, network, addr string) (net.Conn, error) { return dial(ctx, network, addr) },
	}
}

// dial returns a connection that is closed when ctx ends. An http.Transport goes on
// connecting, and waits for the TLS handshake, after its request has ended: another
// request could use the connection.
func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err == nil {
		context.AfterFunc(ctx, func() { conn.Close() })
	}
	return conn, err
}
