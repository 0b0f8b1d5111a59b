package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/kubefake/kubefake/internal/kubeconfig"
)

// A Reviewer sends the reviews of authentication or authorization to a webhook.
type Reviewer struct {
	Client *Client
	// Cluster is the webhook, at its URL, with the credentials for it.
	Cluster *kubeconfig.Cluster
	// Timeout bounds each call.
	Timeout time.Duration
}

// Retries of reviews.
const (
	attempts   = 5
	firstDelay = 500 * time.Millisecond
	growth     = 1.5
)

// Review sends a review and decodes the answer into out. The answer has the same kind
// and version as the review. Review tries again, up to five times, if the webhook is
// overloaded, fails with an internal error, or closes the connection. The waits
// between are on the clock, and there are none with a manual clock.
func (r *Reviewer) Review(ctx context.Context, kind, version string, review map[string]any, out any) error {
	review["kind"], review["apiVersion"] = kind, version
	review["metadata"] = map[string]any{}
	body, err := json.Marshal(review)
	if err != nil {
		return err
	}
	delay := firstDelay
	for attempt := 1; ; attempt++ {
		err := r.call(ctx, kind, version, body, out)
		if err == nil || attempt == attempts || !isTransient(err) || !r.Client.wait(ctx, delay) {
			return err
		}
		delay = time.Duration(float64(delay) * growth)
	}
}

func (r *Reviewer) call(ctx context.Context, kind, version string, review []byte, out any) error {
	ctx, cancel := r.Client.withTimeout(ctx, r.Timeout)
	defer cancel()
	t, err := r.Client.target(ctx, targetKey{cluster: r.Cluster}, r.target)
	if err != nil {
		return err
	}
	body, err := r.Client.send(ctx, t, timeoutQuery(r.Timeout), "", review)
	if err != nil {
		return err
	}
	var meta struct{ Kind, APIVersion string }
	if err := json.Unmarshal(body, &meta); err != nil {
		return fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	switch {
	case meta.Kind == "":
		return fmt.Errorf("Object 'Kind' is missing in '%s'", body)
	case meta.Kind != kind || meta.APIVersion != version:
		return fmt.Errorf("the webhook answered %s of %s, not %s of %s", meta.Kind, meta.APIVersion, kind, version)
	}
	return json.NewDecoder(bytes.NewReader(body)).Decode(out)
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
