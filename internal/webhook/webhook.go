// Package webhook calls webhooks: those that the clientConfig of a definition or
// of an admission configuration names by a URL or by a service.
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
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
)

// maxAnswer is the longest answer that is read.
const maxAnswer = 32 << 20

// A Client calls webhooks. The zero value reaches those that have a URL.
type Client struct {
	// Services maps services, as "namespace/name", to the addresses that their
	// webhooks are reached at: "127.0.0.1:9443". There is no cluster to find
	// them in.
	Services map[string]string
	// Clock is the time by which timeouts go; nil is that of the wall.
	Clock *clock.Clock
	// Through is given the transport of each call and returns the one that is
	// used; nil leaves it as it is.
	Through func(http.RoundTripper) http.RoundTripper
}

// A StatusError says that a webhook answered with another status than success.
type StatusError struct {
	Code int
	Body string
	// Message is that of the Status it answered, if it did.
	Message string
}

// Error has the words of Kubernetes' client.
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

// Post sends a review, in JSON, to the webhook of a clientConfig and returns what
// it answers. The webhook is told of the timeout, and has no longer.
//
// Errors: *StatusError; a *url.Error for a webhook that cannot be reached or
// trusted, or does not answer in time.
func (c *Client) Post(ctx context.Context, config map[string]any, timeout time.Duration, review []byte) ([]byte, error) {
	target, transport, err := c.target(config)
	if err != nil {
		return nil, err
	}
	if c.Through != nil {
		transport = c.Through(transport)
	}
	ctx, cancel := c.withTimeout(ctx, timeout)
	defer cancel()
	target += "?timeout=" + timeoutText(timeout)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(review))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, */*")
	r.Header.Set("User-Agent", "kube-apiserver-admission")
	resp, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 206 {
		return nil, &StatusError{resp.StatusCode, textOf(resp, body), messageOf(body)}
	}
	return body, nil
}

// textOf is what the body of an answer says, if that is text.
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

// messageOf is the message of a body that is a Status of a failure.
func messageOf(body []byte) string {
	var st struct{ Kind, Status, Message string }
	if json.Unmarshal(body, &st) != nil || st.Kind != "Status" || st.Status != "Failure" {
		return ""
	}
	return st.Message
}

// timeoutText is a timeout as clients of Kubernetes write it: "30s".
func timeoutText(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.Itoa(int(d/time.Second)) + "s"
	}
	return d.String()
}

// target is the URL of a clientConfig's webhook, and how it is reached. A
// connection serves one call: webhooks are called seldom, and nothing is left
// open when a server closes.
func (c *Client) target(config map[string]any) (string, http.RoundTripper, error) {
	trust := &tls.Config{}
	if bundle := object.String(config, "caBundle"); bundle != "" {
		pem, err := base64.StdEncoding.DecodeString(bundle)
		trust.RootCAs = x509.NewCertPool()
		if err != nil || !trust.RootCAs.AppendCertsFromPEM(pem) {
			return "", nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	transport := &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}
	service := object.Map(config, "service")
	if service == nil {
		return object.String(config, "url"), transport, nil
	}
	name, namespace := object.String(service, "name"), object.String(service, "namespace")
	port, _ := object.Int(service, "port")
	trust.ServerName = name + "." + namespace + ".svc"
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		addr, ok := c.Services[namespace+"/"+name]
		if !ok {
			return nil, fmt.Errorf("service %q not found", name)
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	return "https://" + net.JoinHostPort(trust.ServerName, strconv.FormatInt(port, 10)) + object.String(service, "path"), transport, nil
}
