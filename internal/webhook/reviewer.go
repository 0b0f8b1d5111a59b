package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/resource"
)

// A Reviewer sends the reviews of authentication, authorization or images to a webhook.
type Reviewer struct {
	Client *Client
	// Cluster is the webhook, at its URL, with the credentials for it.
	Cluster *kubeconfig.Cluster
	// Timeout bounds each call.
	Timeout time.Duration
	// FirstDelay is the wait before the second attempt; 0 is half a second.
	FirstDelay time.Duration
}

// Retries of reviews.
const (
	attempts          = 5
	defaultFirstDelay = 500 * time.Millisecond
	growth            = 1.5
)

// A Review is what a Reviewer sends. Its answer has the same kind, or none.
type Review struct {
	Kind         resource.Kind
	Spec, Status any
}

// encode returns the review as kube-apiserver sends it.
func (r *Review) encode() ([]byte, error) {
	body, err := json.Marshal(struct {
		Kind       string   `json:"kind"`
		APIVersion string   `json:"apiVersion"`
		Metadata   struct{} `json:"metadata"`
		Spec       any      `json:"spec"`
		Status     any      `json:"status"`
	}{Kind: r.Kind.Kind, APIVersion: r.Kind.GroupVersion.String(), Spec: r.Spec, Status: r.Status})
	return append(body, '\n'), err
}

// Review sends a review and decodes the answer, in JSON or YAML, into the struct that out points
// to. It tries again, up to five times, if the webhook is overloaded, fails with an internal
// error, or closes the connection. The waits between are on the clock, and there are none with a
// manual clock.
func (r *Reviewer) Review(ctx context.Context, review Review, out any) error {
	body, err := review.encode()
	if err != nil {
		return err
	}
	delay := cmp.Or(r.FirstDelay, defaultFirstDelay)
	for attempt := 1; ; attempt++ {
		err := r.call(ctx, review.Kind, body, out)
		if err == nil || attempt == attempts || !isTransient(err) || !r.Client.wait(ctx, delay) {
			return err
		}
		delay = time.Duration(float64(delay) * growth)
	}
}

func (r *Reviewer) call(ctx context.Context, kind resource.Kind, body []byte, out any) error {
	ctx, cancel := r.Client.withTimeout(ctx, r.Timeout)
	defer cancel()
	t, err := r.Client.target(ctx, targetKey{cluster: r.Cluster}, r.target)
	if err != nil {
		return err
	}
	answer, err := r.Client.send(ctx, t, timeoutQuery(r.Timeout), "", body)
	if err != nil {
		return err
	}
	answer, got, err := resource.IdentifyReview(kind, answer)
	switch {
	case err != nil:
		return err
	case got != kind:
		return resource.UnlikeReview(got, kind)
	}
	return json.Unmarshal(answer, out)
}

func (r *Reviewer) target() (*target, error) {
	base, err := url.Parse(r.Cluster.URL)
	if err != nil {
		return nil, err
	}
	sockets, transport := r.Cluster.Clone()
	sockets.DisableCompression = false
	return &target{RESTURL(base), transport, sockets}, nil
}

// isTransient reports whether a call may succeed when it is made again.
func isTransient(err error) bool {
	var failed *StatusError
	if errors.As(err, &failed) {
		return failed.Code == http.StatusInternalServerError || failed.Code == http.StatusTooManyRequests || failed.Code == http.StatusGatewayTimeout || failed.wait > 0
	}
	return errors.Is(err, syscall.ECONNRESET) || strings.Contains(err.Error(), "http2: client connection lost")
}
