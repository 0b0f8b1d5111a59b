package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/kubeconfig"
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

// A Review is what a Reviewer sends. Its answer has the same kind and version, or none.
type Review struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Metadata   struct{} `json:"metadata"`
	Spec       any      `json:"spec"`
	Status     any      `json:"status"`
}

// Review sends a review and decodes the answer, in JSON or YAML, into the struct that out points
// to. It tries again, up to five times, if the webhook is overloaded, fails with an internal
// error, or closes the connection. The waits between are on the clock, and there are none with a
// manual clock.
func (r *Reviewer) Review(ctx context.Context, review Review, out any) error {
	body, err := json.Marshal(review)
	if err != nil {
		return err
	}
	body = append(body, '\n') // as kube-apiserver encodes objects
	delay := cmp.Or(r.FirstDelay, defaultFirstDelay)
	for attempt := 1; ; attempt++ {
		err := r.call(ctx, &review, body, out)
		if err == nil || attempt == attempts || !isTransient(err) || !r.Client.wait(ctx, delay) {
			return err
		}
		delay = time.Duration(float64(delay) * growth)
	}
}

func (r *Reviewer) call(ctx context.Context, review *Review, body []byte, out any) error {
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
	if !bytes.HasPrefix(bytes.TrimSpace(answer), []byte("{")) {
		if answer, err = yaml.YAMLToJSON(answer); err != nil {
			return err
		}
	}
	// The errors of kube-apiserver name this type.
	var meta struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(answer, &meta); err != nil {
		return fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	got, want := goType(cmp.Or(meta.APIVersion, review.APIVersion), cmp.Or(meta.Kind, review.Kind)), goType(review.APIVersion, review.Kind)
	if got != want {
		return fmt.Errorf("converting (%s) to (%s): unknown conversion", got, want)
	}
	return json.Unmarshal(answer, out)
}

// goType returns the name of the Go type of a kind of Kubernetes.
func goType(apiVersion, kind string) string {
	return apiVersion[strings.LastIndexByte(apiVersion, '/')+1:] + "." + kind
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
