package fault

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
)

// Transport is a transport of calls to webhooks that meet the faults. Those that
// none hits go through next as they are.
func (s *Set) Transport(next http.RoundTripper) http.RoundTripper { return &transport{s, next} }

type transport struct {
	set  *Set
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	hits := t.set.calls(r)
	if len(hits) == 0 {
		return t.next.RoundTrip(r)
	}
	for _, h := range hits {
		h.fire(Hit{Webhook: callee(r)})
		if f := &h.fault; f.Delay > 0 && !f.After {
			if err := t.set.wait(r.Context(), h, f.Delay); err != nil {
				return nil, err
			}
		}
	}
	last := &hits[len(hits)-1].fault
	if last.answers() && !last.After && last.CutAfter == 0 {
		closeBody(r)
		return instead(r, last)
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		if f := &h.fault; f.Delay > 0 && f.After {
			if err := t.set.wait(r.Context(), h, f.Delay); err != nil {
				resp.Body.Close()
				return nil, err
			}
		}
	}
	switch {
	case last.CutAfter > 0:
		if err := cutShort(resp, last.CutAfter); err != nil {
			return nil, err
		}
	case last.answers():
		resp.Body.Close()
		return instead(r, last)
	}
	return resp, nil
}

// calls are the faults that hit the call of a webhook, in order.
func (s *Set) calls(r *http.Request) []*Rule {
	var out []*Rule
	answered := false
	for _, rule := range s.activeRules() {
		if !rule.matcher.call(r) {
			continue
		}
		if rule.over() {
			s.retire(rule)
			continue
		}
		hit, last := rule.claim(identity(r.URL.Path), answered)
		if last {
			s.retire(rule)
		}
		if hit {
			out = append(out, rule)
			answered = rule.fault.answers()
		}
	}
	return out
}

// callee is the webhook that is called: its URL without the query, which is not
// its own.
func callee(r *http.Request) string {
	url := *r.URL
	url.RawQuery = ""
	return url.Redacted()
}

// closeBody does what a transport must that does not send the body.
func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}

// instead is what comes instead of a webhook's answer.
func instead(r *http.Request, f *Fault) (*http.Response, error) {
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

// cutShort has the body of an answer break off after n bytes, and before its
// end.
func cutShort(resp *http.Response, n int) error {
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return err
	}
	n = max(0, min(n, len(body)-1))
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:n]), broken{}))
	return nil
}

// broken is what is read of a body that has broken off.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
