package fault

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"

	"github.com/kubefake/kubefake/fakeapi/faults"
)

// Transport returns a transport for calls to webhooks that applies the faults. It
// passes calls on to next unless a fault responds to them.
func (s *Set) Transport(next http.RoundTripper) http.RoundTripper { return &transport{s, next} }

type transport struct {
	set  *Set
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	hits := t.set.webhookHits(r)
	if len(hits) == 0 {
		return t.next.RoundTrip(r)
	}
	for _, h := range hits {
		h.countHit(Hit{Webhook: webhookURL(r)})
		if f := &h.fault; f.Delay > 0 && !f.ActsAfterServing() {
			if err := t.set.wait(r.Context(), h, f.Delay); err != nil {
				closeBody(r)
				return nil, err
			}
		}
	}
	last := &hits[len(hits)-1].fault
	if last.Responds() && !last.ActsAfterServing() && last.CutAfterBytes == 0 {
		closeBody(r)
		return faultResponse(r, last)
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		if f := &h.fault; f.Delay > 0 && f.ActsAfterServing() {
			if err := t.set.wait(r.Context(), h, f.Delay); err != nil {
				resp.Body.Close()
				return nil, err
			}
		}
	}
	switch {
	case last.CutAfterBytes > 0:
		if err := cutBody(resp, last.CutAfterBytes); err != nil {
			return nil, err
		}
	case last.Responds():
		resp.Body.Close()
		return faultResponse(r, last)
	}
	return resp, nil
}

// webhookHits returns the rules that hit a call to a webhook, in order.
func (s *Set) webhookHits(r *http.Request) []*Rule {
	var out []*Rule
	responded := false
	for _, rule := range s.activeRules() {
		if !rule.matcher.call(r) {
			continue
		}
		if rule.expired() {
			s.retire(rule)
			continue
		}
		n, last := rule.claim(identity(r.URL.Path), responded)
		if last {
			s.retire(rule)
		}
		if n > 0 {
			out = append(out, rule)
			responded = rule.fault.Responds()
		}
	}
	return out
}

// webhookURL returns the URL of the webhook, without the query that the server
// has added.
func webhookURL(r *http.Request) string {
	url := *r.URL
	url.RawQuery = ""
	return url.Redacted()
}

// closeBody closes the request body, as a RoundTripper must.
func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}

// faultResponse returns the fault's response in place of the webhook's.
func faultResponse(r *http.Request, f *faults.Fault) (*http.Response, error) {
	if f.Reset {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	body := f.Message
	if body == "" {
		body = http.StatusText(f.Code)
	}
	resp := &http.Response{
		Status: strconv.Itoa(f.Code) + " " + http.StatusText(f.Code), StatusCode: f.Code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
		Body:          io.NopCloser(bytes.NewReader([]byte(body))),
		ContentLength: int64(len(body)), Request: r,
	}
	if f.RetryAfter > 0 {
		resp.Header.Set("Retry-After", strconv.Itoa(seconds(f.RetryAfter)))
	}
	return resp, nil
}

// cutBody makes the body of a response fail after n bytes, and in any case before
// its last byte.
func cutBody(resp *http.Response, n int) error {
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return err
	}
	n = max(0, min(n, len(body)-1))
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:n]), brokenBody{}))
	return nil
}

// A brokenBody fails every Read.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
