// Package audit writes the audit log of a server: which events a policy selects, and
// the form of an event.
//
// See https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/.
package audit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/configfile"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// The levels of events, each of which logs what the one before it does, and more.
const (
	None            = "None"
	Metadata        = "Metadata"
	Request         = "Request"
	RequestResponse = "RequestResponse"
)

var levels = []string{None, Metadata, Request, RequestResponse}

// The stages of requests, each of which may have an event.
const (
	RequestReceived  = "RequestReceived"
	ResponseStarted  = "ResponseStarted" // only of long-running requests
	ResponseComplete = "ResponseComplete"
	Panic            = "Panic"
)

var stages = []string{RequestReceived, ResponseStarted, ResponseComplete, Panic}

// A Policy is a Policy of audit.k8s.io/v1. It is immutable.
type Policy struct {
	Kind              string   `json:"kind"`
	APIVersion        string   `json:"apiVersion"`
	Rules             []Rule   `json:"rules"`
	OmitStages        []string `json:"omitStages"`
	OmitManagedFields bool     `json:"omitManagedFields"`
}

// A Rule selects requests. The first rule that matches a request applies.
type Rule struct {
	Level             string           `json:"level"`
	Users             []string         `json:"users"`
	UserGroups        []string         `json:"userGroups"`
	Verbs             []string         `json:"verbs"`
	Resources         []GroupResources `json:"resources"`
	Namespaces        []string         `json:"namespaces"`
	NonResourceURLs   []string         `json:"nonResourceURLs"`
	OmitStages        []string         `json:"omitStages"`
	OmitManagedFields *bool            `json:"omitManagedFields"`
}

// GroupResources are resources of a group, as "pods", "pods/log", "pods/*", "*/status"
// or "*". None means all. The group "*" means all groups.
type GroupResources struct {
	Group         string   `json:"group"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames"`
}

// ParsePolicy parses a policy in YAML or JSON for a minor release. It ignores unknown fields, as
// kube-apiserver does. The errors are those of kube-apiserver.
func ParsePolicy(text []byte, minor int) (*Policy, error) {
	body, kind, err := configfile.IdentifyFlow(text)
	if err != nil {
		return nil, fmt.Errorf("failed decoding: %w", err)
	}
	// kube-apiserver decodes to its internal type, whose kind is the default.
	const group = "audit.k8s.io/"
	kind = configfile.Kind{APIVersion: cmp.Or(kind.APIVersion, group), Kind: cmp.Or(kind.Kind, "Policy")}
	if kind.APIVersion == group {
		kind.APIVersion = group + "__internal"
	}
	switch kind {
	case configfile.Kind{APIVersion: group + "v1", Kind: "Policy"}:
	case configfile.Kind{APIVersion: group + "__internal", Kind: "Policy"}:
		return nil, fmt.Errorf("unknown group version field %s, Kind=%s in policy", kind.APIVersion, kind.Kind)
	default:
		if pkg := packageOf(kind); pkg != "" {
			return nil, fmt.Errorf("failed decoding: converting (%s.%s) to (audit.Policy): unknown conversion", pkg, kind.Kind)
		}
		return nil, fmt.Errorf("failed decoding: %w", configfile.NotRegistered(kind, minor))
	}
	p := &Policy{}
	if err := configfile.UnmarshalLenient(body, p); err != nil {
		return nil, fmt.Errorf("failed decoding: %w", err)
	}
	errs := validateStages(p.OmitStages, validation.NewPath("omitStages"))
	rules := validation.NewPath("rules")
	for i := range p.Rules {
		errs = append(errs, p.Rules[i].validate(rules.Index(i), minor)...)
	}
	switch {
	case len(errs) > 0:
		return nil, errors.New(errs.Message())
	case len(p.Rules) == 0:
		return nil, errors.New("loaded illegal policy with 0 rules")
	}
	return p, nil
}

// packageOf returns the Go package of a kind that is no Policy and that kube-apiserver can decode
// where it expects one, "" if there is none.
func packageOf(k configfile.Kind) string {
	switch k.Kind {
	case "APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status": // in any version
		return "v1"
	case "Event", "EventList", "PolicyList":
		if k.APIVersion == "audit.k8s.io/__internal" {
			return "audit"
		}
	case "CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "WatchEvent":
	default:
		return ""
	}
	if k.APIVersion == "audit.k8s.io/v1" {
		return "v1"
	}
	return ""
}

func (r *Rule) validate(path *validation.Path, minor int) (errs validation.List) {
	switch {
	case r.Level == "":
		errs = append(errs, validation.Required(path.Child("level"), ""))
	case !slices.Contains(levels, r.Level):
		errs = append(errs, validation.NotSupported(path.Child("level"), r.Level, levels))
	}
	for i, url := range r.NonResourceURLs {
		at := path.Item("nonResourceURLs", i)
		if url != "*" && !strings.HasPrefix(url, "/") {
			errs = append(errs, validation.Invalid(at, url, "non-resource URL rules must begin with a '/' character"))
		}
		if url != "" && strings.Contains(url[:len(url)-1], "*") {
			errs = append(errs, validation.Invalid(at, url, "non-resource URL wildcards '*' must be the final character of the rule"))
		}
	}
	for _, g := range r.Resources {
		at := path.Child("resources")
		if g.Group != "" && (g.Group != "*" || !behavior.AuditsAllGroups.In(minor)) {
			if texts := validation.DNS1123Subdomain(g.Group); len(texts) > 0 {
				errs = append(errs, validation.Invalid(at.Child("group"), g.Group, strings.Join(texts, ",")))
			}
		}
		if len(g.ResourceNames) > 0 && len(g.Resources) == 0 {
			errs = append(errs, validation.Invalid(at.Child("resourceNames"), g.ResourceNames, "using resourceNames requires at least one resource"))
		}
	}
	errs = append(errs, validateStages(r.OmitStages, path.Child("omitStages"))...)
	if len(r.NonResourceURLs) > 0 && len(r.Resources)+len(r.Namespaces) > 0 {
		errs = append(errs, validation.Invalid(path.Child("nonResourceURLs"), r.NonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"))
	}
	return errs
}

func validateStages(omitted []string, path *validation.Path) (errs validation.List) {
	for i, stage := range omitted {
		if !slices.Contains(stages, stage) {
			errs = append(errs, validation.Invalid(path.Index(i), stage, "allowed stages are "+strings.Join(stages, ",")))
		}
	}
	return errs
}

// A Selection is what a policy says about a request.
type Selection struct {
	Level             string
	OmitStages        []string
	OmitManagedFields bool
}

// Select returns what the policy says about a request of a user, who is nil if
// authentication has failed. Requests that no rule matches are not logged.
func (p *Policy) Select(u *authn.User, at *authz.Attributes) Selection {
	for i := range p.Rules {
		r := &p.Rules[i]
		if !r.matches(u, at) {
			continue
		}
		s := Selection{Level: r.Level, OmitStages: slices.Concat(p.OmitStages, r.OmitStages), OmitManagedFields: p.OmitManagedFields}
		if r.OmitManagedFields != nil {
			s.OmitManagedFields = *r.OmitManagedFields
		}
		return s
	}
	return Selection{Level: None}
}

func (r *Rule) matches(u *authn.User, at *authz.Attributes) bool {
	switch {
	case len(r.Users) > 0 && (u == nil || !slices.Contains(r.Users, u.Name)):
		return false
	case len(r.UserGroups) > 0 && (u == nil || !slices.ContainsFunc(r.UserGroups, u.InGroup)):
		return false
	case len(r.Verbs) > 0 && !slices.Contains(r.Verbs, at.Verb):
		return false
	case len(r.Namespaces)+len(r.Resources) > 0:
		return at.IsResource && r.matchesResource(at)
	case len(r.NonResourceURLs) > 0:
		return !at.IsResource && slices.ContainsFunc(r.NonResourceURLs, func(url string) bool {
			prefix, wild := strings.CutSuffix(url, "*")
			return url == at.Path || wild && strings.HasPrefix(at.Path, prefix)
		})
	}
	return true
}

func (r *Rule) matchesResource(at *authz.Attributes) bool {
	if len(r.Namespaces) > 0 && !slices.Contains(r.Namespaces, at.Namespace) {
		return false
	}
	return len(r.Resources) == 0 || slices.ContainsFunc(r.Resources, func(g GroupResources) bool { return g.matches(at) })
}

func (g *GroupResources) matches(at *authz.Attributes) bool {
	if g.Group != at.Group && g.Group != "*" {
		return false
	}
	if len(g.Resources) == 0 {
		return true
	}
	if len(g.ResourceNames) > 0 && !slices.Contains(g.ResourceNames, at.Name) {
		return false
	}
	whole := at.Resource
	if at.Subresource != "" {
		whole += "/" + at.Subresource
	}
	return slices.ContainsFunc(g.Resources, func(name string) bool {
		return name == "*" || name == whole || name == at.Resource+"/*" || at.Subresource != "" && name == "*/"+at.Subresource
	})
}

// An ObjectReference names the object of a request.
type ObjectReference struct {
	Resource        string `json:"resource,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	UID             string `json:"uid,omitempty"`
	APIGroup        string `json:"apiGroup,omitempty"`
	APIVersion      string `json:"apiVersion,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Subresource     string `json:"subresource,omitempty"`
}

// A User is a user in an event.
type User struct {
	Username string              `json:"username,omitempty"`
	UID      string              `json:"uid,omitempty"`
	Groups   []string            `json:"groups,omitempty"`
	Extra    map[string][]string `json:"extra,omitempty"`
}

// UserOf returns a user in the form of events; a nil one has no name.
func UserOf(u *authn.User) User {
	if u == nil {
		return User{}
	}
	return User{Username: u.Name, UID: u.UID, Groups: u.Groups, Extra: u.Extra}
}

// A ResponseStatus is the part of a Status that events have.
type ResponseStatus struct {
	Metadata struct{}        `json:"metadata"`
	Status   string          `json:"status,omitempty"`
	Message  string          `json:"message,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Details  *status.Details `json:"details,omitempty"`
	Code     int             `json:"code,omitempty"`
}
