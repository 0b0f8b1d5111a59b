// Package eventratelimit is the EventRateLimit admission plugin. It refuses writes of Events
// that come faster than the limits of its configuration.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#eventratelimit.
package eventratelimit

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/configfile"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Plugin implements [admission.Validator]. It counts the Events of one server.
type Plugin struct {
	limits []limit

	mu      sync.Mutex // guards buckets and their contents
	buckets []*buckets // of limits
}

// A limit limits the Events with the same key: QPS of them in a second, and up to Burst at
// once.
type limit struct {
	Type      string `json:"type"` // what the key of an Event is
	QPS       int32  `json:"qps"`
	Burst     int32  `json:"burst"`
	CacheSize int32  `json:"cacheSize"`
}

// The types of limits.
const (
	perServer          = "Server"
	perNamespace       = "Namespace"
	perUser            = "User"
	perSourceAndObject = "SourceAndObject"
)

var limitTypes = []string{perServer, perNamespace, perUser, perSourceAndObject}

// defaultCacheSize is the number of keys of a limit without a cacheSize.
const defaultCacheSize = 4096

// kinds are the kinds of the configuration.
var kinds = []configfile.Kind{{APIVersion: "eventratelimit.admission.k8s.io/v1alpha1", Kind: "Configuration"}}

// Configure returns the plugin of a configuration, nil for none, which is an error. The errors
// are those of kube-apiserver in a minor release.
func Configure(text []byte, minor int) (*Plugin, error) {
	var config struct {
		Limits []limit `json:"limits"`
	}
	if text != nil {
		if err := configfile.DecodeLenient(text, kinds, minor, &config); err != nil {
			return nil, err
		}
	}
	if errs := check(config.Limits); len(errs) > 0 {
		return nil, errors.New(errs.Message())
	}
	return newPlugin(config.Limits), nil
}

func newPlugin(limits []limit) *Plugin {
	p := &Plugin{limits: limits}
	for _, l := range limits {
		p.buckets = append(p.buckets, newBuckets(l))
	}
	return p
}

// check validates the limits of a configuration.
func check(limits []limit) (errs validation.List) {
	path := validation.NewPath("limits")
	if len(limits) == 0 {
		errs = append(errs, validation.Invalid(path, limits, "must not be empty"))
	}
	for i, l := range limits {
		at := path.Index(i)
		if !slices.Contains(limitTypes, l.Type) {
			errs = append(errs, validation.NotSupported(at.Child("type"), l.Type, limitTypes))
		}
		if l.Burst <= 0 {
			errs = append(errs, validation.Invalid(at.Child("burst"), l.Burst, "must be positive"))
		}
		if l.QPS <= 0 {
			errs = append(errs, validation.Invalid(at.Child("qps"), l.QPS, "must be positive"))
		}
		if l.Type != perServer && l.CacheSize < 0 {
			errs = append(errs, validation.Invalid(at.Child("cacheSize"), l.CacheSize, "must not be negative"))
		}
	}
	return errs
}

// Fork returns the plugin of a fork of the server. It has counted what p has.
func (p *Plugin) Fork() *Plugin {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := newPlugin(p.limits)
	for i, b := range p.buckets {
		out.buckets[i].addAll(b)
	}
	return out
}

var _ admission.Validator = (*Plugin)(nil)

// Name returns "EventRateLimit".
func (*Plugin) Name() string { return "EventRateLimit" }

// Resources returns events of the core group. As in kube-apiserver, those of events.k8s.io have
// no limit.
func (*Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "events"}}
}

// Validate refuses a write with 429 if a limit is reached. It counts for all other limits.
func (p *Plugin) Validate(a *admission.Attributes) error {
	if a.DryRun {
		return nil
	}
	now := a.Access.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for i, l := range p.limits {
		if key := l.key(a); !p.buckets[i].take(key, now) {
			errs = append(errs, fmt.Errorf("limit reached on type %s for key %s", l.Type, key))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return status.Failure(http.StatusTooManyRequests, status.ReasonTooManyRequests, "Too many requests: "+status.Aggregate(errs), nil)
}

// key returns what Events have in common that a limit counts together.
func (l limit) key(a *admission.Attributes) string {
	switch l.Type {
	case perNamespace:
		return a.Namespace
	case perUser:
		if a.User == nil {
			return ""
		}
		return a.User.Name
	case perSourceAndObject:
		source, involved := object.Map(a.Object, "source"), object.Map(a.Object, "involvedObject")
		var key strings.Builder
		for _, name := range []string{"component", "host"} {
			key.WriteString(object.String(source, name))
		}
		for _, name := range []string{"kind", "namespace", "name", "uid", "apiVersion"} {
			key.WriteString(object.String(involved, name))
		}
		return key.String()
	}
	return ""
}

// maxKeys returns the number of keys whose Events are counted.
func (l limit) maxKeys() int { return int(cmp.Or(l.CacheSize, defaultCacheSize)) }
