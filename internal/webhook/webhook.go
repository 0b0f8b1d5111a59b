// Package webhook calls webhooks. A webhook is given by the clientConfig of a
// CustomResourceDefinition or of a webhook configuration, with a URL or a Service.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/status"
)

// maxResponse is the maximum length of a response body.
//
// Differs from kube-apiserver: the length of answers of webhooks: kube-apiserver reads
// answers of any length. Here a call fails whose answer is longer than 256 MiB.
// Request: any that a webhook handles.
const maxResponse = 256 << 20

// A Client calls webhooks. The zero value calls those that have a URL. Close releases it.
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
	targets Pool[targetKey, *target]
}

// Close closes the connections to webhooks. Later calls have a connection each.
func (c *Client) Close() { c.targets.Close() }

// A StatusError is returned for a response whose status is not a success.
type StatusError struct {
	Code int
	Body string
	// Message is the message of the Status in the body; "" if the body is not one.
	Message string

	again bool          // the webhook is overloaded or fails, and asks for another call
	wait  time.Duration // before that
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
	case http.StatusNotAcceptable:
		if e.Body == "" || e.Body == "unknown" {
			return "the server was unable to respond with a content type that the client supports"
		}
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
	t, err := c.configured(ctx, config, credentials)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, t, c.timeoutParameter(ctx), "kube-apiserver-admission", review)
}

// maxRetries is how often a call is repeated because the webhook asks for it.
const maxRetries = 10

// send sends a review to a webhook until ctx ends. It repeats the call if the webhook is
// overloaded or fails, and says when to try again. The waits are on the clock, and there are
// none with a manual clock.
func (c *Client) send(ctx context.Context, t *target, query, agent string, review []byte) ([]byte, error) {
	for retries := 0; ; retries++ {
		body, err := c.try(ctx, t, query, agent, review)
		var failed *StatusError
		if !errors.As(err, &failed) || !failed.again || retries == maxRetries {
			return body, err
		}
		c.wait(ctx, failed.wait)
	}
}

// try sends a review once.
func (c *Client) try(ctx context.Context, t *target, query, agent string, review []byte) ([]byte, error) {
	transport := t.transport
	if c.Wrap != nil {
		transport = c.Wrap(transport)
	}
	u := *t.url
	u.RawQuery = query
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(review))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, */*")
	if agent != "" {
		r.Header.Set("User-Agent", agent)
	}
	resp, err := do(&http.Client{Transport: transport}, r)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return nil, readError(causeOf(ctx, err))
	}
	if len(body) > maxResponse {
		return nil, fmt.Errorf("the response is longer than %d bytes", maxResponse)
	}
	contentType := cmp.Or(resp.Header.Get("Content-Type"), "application/json")
	if _, _, err := mime.ParseMediaType(contentType); err != nil {
		return nil, status.Internal(err.Error())
	}
	if resp.StatusCode < 200 || resp.StatusCode > 206 {
		return nil, newStatusError(resp, body)
	}
	if len(body) == 0 {
		return nil, fmt.Errorf("0-length response with status code: %d and content type: %s", resp.StatusCode, contentType)
	}
	return body, nil
}

// wait waits between two calls. It is false if ctx ends.
func (c *Client) wait(ctx context.Context, d time.Duration) bool {
	if c.Clock == nil || c.Clock.Manual() {
		return ctx.Err() == nil
	}
	timer := c.Clock.After(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// readError returns the error of a response whose body cannot be read.
func readError(err error) error {
	if errors.As(err, new(streamError)) {
		return fmt.Errorf("stream error when reading response body, may be caused by closed connection. Please retry. Original error: %w", err)
	}
	return fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
}

// A streamError is the error of net/http for a stream of HTTP/2, which has these fields and
// can be had by [errors.As] only.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return fmt.Sprintf("stream error: stream ID %d", e.StreamID) }

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

// newStatusError returns the error of a response.
func newStatusError(resp *http.Response, body []byte) *StatusError {
	e := &StatusError{Code: resp.StatusCode, Body: textOf(resp, body), Message: messageOf(body)}
	if e.Code == http.StatusTooManyRequests || e.Code >= http.StatusInternalServerError {
		seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		e.again, e.wait = err == nil, time.Duration(seconds)*time.Second
	}
	return e
}

// maxText is the length of the text of a response in an error.
const maxText = 2048

// textOf returns the begin of the body of a response if it is text, otherwise "unknown".
func textOf(resp *http.Response, body []byte) string {
	if kind := resp.Header.Get("Content-Type"); kind != "" && !strings.HasPrefix(kind, "text/") {
		return "unknown"
	}
	return strings.TrimSpace(string(body[:min(len(body), maxText)]))
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

// timeoutQuery returns the query with the time that the caller of a webhook waits.
func timeoutQuery(d time.Duration) string { return "timeout=" + d.String() }

// timeoutParameter returns the timeoutQuery of the time until ctx ends, rounded up to seconds;
// "" if the time is over.
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
	return timeoutQuery((left + time.Second - 1).Truncate(time.Second))
}

// ErrCABundle is returned by Client.Post if the caBundle of a clientConfig is no
// certificate. Such a webhook is not called.
var ErrCABundle = errors.New("unable to load root certificates: unable to parse bytes as PEM block")

// A NoServiceError is the cause of the error of a call to a Service that is not known.
type NoServiceError struct{ Name string }

func (e *NoServiceError) Error() string { return fmt.Sprintf("service %q not found", e.Name) }
