// Package imagepolicywebhook is the ImagePolicyWebhook admission plugin. A webhook decides which
// images Pods may have.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#imagepolicywebhook.
package imagepolicywebhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/explain"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/ttlcache"
	"github.com/kubefake/kubefake/internal/webhook"
)

const (
	// timeout bounds each call.
	timeout = 30 * time.Second
	// maxAnswers is the number of answers that are cached.
	maxAnswers = 1024
	// annotations is the beginning of the keys of annotations for the audit log.
	annotations = "imagepolicywebhook.image-policy.k8s.io/"
)

var reviewKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "imagepolicy.k8s.io", Version: "v1alpha1"}, Kind: "ImageReview"}

// A Plugin implements [admission.Validator]. It caches the answers for one server.
type Plugin struct {
	cluster  *kubeconfig.Cluster
	settings settings
	answers  *ttlcache.Cache[answer]
}

// settings are the configuration, with defaults.
type settings struct {
	kubeConfigFile                  string
	allowTTL, denyTTL, retryBackoff time.Duration
	defaultAllow                    bool
}

// An answer is the status of an ImageReview.
type answer struct {
	Allowed          bool              `json:"allowed"`
	Reason           string            `json:"reason"`
	AuditAnnotations map[string]string `json:"auditAnnotations"`
}

// Configure returns the plugin of a configuration, nil for none, which is an error. The errors
// are those of kube-apiserver in a minor release.
func Configure(text []byte, minor int) (*Plugin, error) {
	if text == nil {
		return nil, errors.New("no config specified")
	}
	s, err := parse(text)
	if err != nil {
		return nil, err
	}
	cluster, err := kubeconfig.LoadClient(context.Background(), s.kubeConfigFile, minor)
	if err != nil {
		return nil, err
	}
	return newPlugin(cluster, s), nil
}

func newPlugin(cluster *kubeconfig.Cluster, s settings) *Plugin {
	return &Plugin{cluster, s, ttlcache.New[answer](maxAnswers)}
}

func parse(text []byte) (settings, error) {
	var config struct {
		ImagePolicy struct {
			KubeConfigFile string `json:"kubeConfigFile"`
			AllowTTL       int64  `json:"allowTTL"`     // in seconds
			DenyTTL        int64  `json:"denyTTL"`      // in seconds
			RetryBackoff   int64  `json:"retryBackoff"` // in milliseconds
			DefaultAllow   bool   `json:"defaultAllow"`
		} `json:"imagePolicy"`
	}
	if err := decode(text, &config); err != nil {
		return settings{}, err
	}
	c := &config.ImagePolicy
	s := settings{kubeConfigFile: c.KubeConfigFile, defaultAllow: c.DefaultAllow}
	for _, d := range []struct {
		to                        *time.Duration
		value                     int64
		unit, least, most, normal time.Duration
	}{
		{&s.retryBackoff, c.RetryBackoff, time.Millisecond, 1, 5 * time.Minute, 500 * time.Millisecond},
		{&s.allowTTL, c.AllowTTL, time.Second, time.Second, 30 * time.Minute, 5 * time.Minute},
		{&s.denyTTL, c.DenyTTL, time.Second, time.Second, 30 * time.Minute, 30 * time.Second},
	} {
		switch value := time.Duration(d.value) * d.unit; {
		case d.value == 0:
			*d.to = d.normal
		case d.value == -1:
			*d.to = 0
		case value < d.least || value > d.most:
			return settings{}, fmt.Errorf("valid value is between %v and %v, got %v", d.least, d.most, value)
		default:
			*d.to = value
		}
	}
	return s, nil
}

// decode reads a document in YAML or JSON with the errors of kube-apiserver's YAMLOrJSONDecoder.
func decode(text []byte, out any) error {
	if len(text) == 0 {
		return io.EOF
	}
	inJSON := bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
	if inJSON {
		if err := json.Unmarshal(text, out); err == nil {
			return nil
		}
	}
	body, err := yaml.YAMLToJSON(text)
	if err != nil {
		return fmt.Errorf("error converting YAML to JSON: %w", err)
	}
	err = explain.Error(body, out, json.Unmarshal(body, out))
	if err != nil && !inJSON {
		return fmt.Errorf("error unmarshaling JSON: while decoding JSON: %w", err)
	}
	return err
}

// Fork returns the plugin of a fork of the server. It has no answers yet.
func (p *Plugin) Fork() *Plugin { return newPlugin(p.cluster, p.settings) }

var _ admission.Validator = (*Plugin)(nil)

// Name returns "ImagePolicyWebhook".
func (*Plugin) Name() string { return "ImagePolicyWebhook" }

// Resources returns pods.
func (*Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

// Validate refuses a Pod if the webhook does not allow its images.
func (p *Plugin) Validate(a *admission.Attributes) error {
	var lists []string
	switch a.Subresource {
	case "":
		lists = []string{"containers", "initContainers"}
	case "ephemeralcontainers":
		lists = []string{"ephemeralContainers"}
	default:
		return nil
	}
	got, err := p.review(a, specOf(a, lists))
	if err != nil {
		if p.settings.defaultAllow {
			a.Annotate(annotations+"failed-open", "true")
			return nil
		}
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(got.AuditAnnotations)) {
		a.Annotate(annotations+key, got.AuditAnnotations[key])
	}
	switch {
	case got.Allowed:
		return nil
	case got.Reason != "":
		return errors.New("image policy webhook backend denied one or more images: " + got.Reason)
	}
	return errors.New("one or more images rejected by webhook backend")
}

// A spec is the spec of an ImageReview.
type spec struct {
	Containers  []container    `json:"containers,omitempty"`
	Annotations map[string]any `json:"annotations,omitempty"`
	Namespace   string         `json:"namespace,omitempty"`
}

type container struct {
	Image string `json:"image,omitempty"`
}

// specOf returns the spec for the containers in lists of a Pod.
func specOf(a *admission.Attributes, lists []string) *spec {
	pod := object.ViewOf(a.Object)
	out := &spec{Annotations: map[string]any{}, Namespace: a.Namespace}
	for _, list := range lists {
		for c := range pod.At("spec", list).Objects() {
			out.Containers = append(out.Containers, container{c.String("image")})
		}
	}
	for key, value := range pod.At("metadata", "annotations").Fields() {
		if strings.Contains(key, ".image-policy.k8s.io/") {
			out.Annotations[key] = value.Shared()
		}
	}
	return out
}

// review returns the answer of the webhook, or an earlier one.
func (p *Plugin) review(a *admission.Attributes, asked *spec) (answer, error) {
	text, err := json.Marshal(asked)
	if err != nil {
		return answer{}, err
	}
	if known, ok := p.answers.Get(string(text), a.Access.Now()); ok {
		return known, nil
	}
	var review struct{ Status answer }
	reviewer := &webhook.Reviewer{Client: a.Access.Webhooks(), Cluster: p.cluster, Timeout: timeout, FirstDelay: p.settings.retryBackoff}
	err = reviewer.Review(a.Access.Context(), webhook.Review{
		Kind: reviewKind, Spec: asked, Status: map[string]any{"allowed": false},
	}, &review)
	if err != nil {
		return answer{}, err
	}
	ttl := p.settings.denyTTL
	if review.Status.Allowed {
		ttl = p.settings.allowTTL
	}
	p.answers.Add(string(text), review.Status, a.Access.Now(), ttl)
	return review.Status, nil
}
