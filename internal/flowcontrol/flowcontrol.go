// Package flowcontrol classifies requests by the FlowSchemas of API Priority and
// Fairness. It does not queue or reject requests.
//
// See https://kubernetes.io/docs/concepts/cluster-administration/flow-control/.
package flowcontrol

import (
	"cmp"
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/storage"
)

// Group is the API group of FlowSchemas and PriorityLevelConfigurations.
const Group = "flowcontrol.apiserver.k8s.io"

// catchAll is the FlowSchema of the requests that no other one matches.
const catchAll = "catch-all"

// A Class is the classification of a request: the UID of its FlowSchema and the
// UID of the PriorityLevelConfiguration that this one names.
type Class [2]string

// SetHeaders names the class in the headers of an answer. The values are shared:
// nobody may change them.
func (c *Class) SetHeaders(h http.Header) {
	h["X-Kubernetes-Pf-Flowschema-Uid"] = c[0:1:1]
	h["X-Kubernetes-Pf-Prioritylevel-Uid"] = c[1:2:2]
}

// A Classifier classifies requests by the FlowSchemas of one state of a server. It
// is immutable.
type Classifier struct {
	schemas []classified // in the order in which they match
	rest    *Class       // of the FlowSchema catch-all; nil without it
}

type classified struct {
	rules []rule
	class *Class
}

// New returns the Classifier of the FlowSchemas and PriorityLevelConfigurations. A
// FlowSchema whose priority level does not exist matches nothing.
func New(schemas, levels iter.Seq[*storage.Object]) *Classifier {
	uids := map[string]string{}
	for o := range levels {
		uids[o.Name] = o.UID
	}
	type entry struct {
		*spec
		object *storage.Object
	}
	var all []entry
	for o := range schemas {
		s, err := storage.Parse(o, parseFlowSchema)
		if err == nil && uids[s.PriorityLevelConfiguration.Name] != "" {
			all = append(all, entry{s, o})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.MatchingPrecedence, b.MatchingPrecedence), cmp.Compare(a.object.Name, b.object.Name))
	})
	c := &Classifier{}
	for _, e := range all {
		class := &Class{e.object.UID, uids[e.PriorityLevelConfiguration.Name]}
		c.schemas = append(c.schemas, classified{e.Rules, class})
		if e.object.Name == catchAll {
			c.rest = class
		}
	}
	return c
}

// Classify returns the Class of a request that the user makes and that does at: of
// the first FlowSchema with a rule for it, else of the FlowSchema catch-all. It
// returns nil if that one does not exist.
func (c *Classifier) Classify(u *authn.User, at *authz.Attributes) *Class {
	for i := range c.schemas {
		for j := range c.schemas[i].rules {
			if c.schemas[i].rules[j].matches(u, at) {
				return c.schemas[i].class
			}
		}
	}
	return c.rest
}

// A spec is the part of a FlowSchema's spec that classifies requests.
type spec struct {
	MatchingPrecedence         int32
	PriorityLevelConfiguration struct{ Name string }
	Rules                      []rule
}

func parseFlowSchema(body []byte) (*spec, error) {
	var o struct{ Spec spec }
	return &o.Spec, json.Unmarshal(body, &o)
}

// A rule matches the requests of one of the subjects to one of the resources or
// paths.
type rule struct {
	Subjects         []subject
	ResourceRules    []resourceRule
	NonResourceRules []nonResourceRule
}

func (r *rule) matches(u *authn.User, at *authz.Attributes) bool {
	if !slices.ContainsFunc(r.Subjects, func(s subject) bool { return s.matches(u) }) {
		return false
	}
	if at.IsResource {
		return slices.ContainsFunc(r.ResourceRules, func(r resourceRule) bool { return r.matches(at) })
	}
	return slices.ContainsFunc(r.NonResourceRules, func(r nonResourceRule) bool { return r.matches(at) })
}

// A subject is a user, a group or a service account. The name * means all of them.
type subject struct {
	Kind           string
	User, Group    struct{ Name string }
	ServiceAccount struct{ Namespace, Name string }
}

func (s *subject) matches(u *authn.User) bool {
	switch s.Kind {
	case "User":
		return s.User.Name == "*" || s.User.Name == u.Name
	case "Group":
		return s.Group.Name == "*" || u.InGroup(s.Group.Name)
	case "ServiceAccount":
		name, ok := authn.CutServiceAccount(u.Name, s.ServiceAccount.Namespace)
		return ok && (s.ServiceAccount.Name == "*" || s.ServiceAccount.Name == name)
	}
	return false
}

type resourceRule struct {
	Verbs, APIGroups, Resources, Namespaces []string
	ClusterScope                            bool
}

func (r *resourceRule) matches(at *authz.Attributes) bool {
	resource := at.Resource
	if at.Subresource != "" {
		resource += "/" + at.Subresource
	}
	if !contains(r.Verbs, at.Verb) || !contains(r.Resources, resource) || !contains(r.APIGroups, at.Group) {
		return false
	}
	if at.Namespace == "" {
		return r.ClusterScope
	}
	return contains(r.Namespaces, at.Namespace)
}

type nonResourceRule struct{ Verbs, NonResourceURLs []string }

func (r *nonResourceRule) matches(at *authz.Attributes) bool {
	return contains(r.Verbs, at.Verb) && slices.ContainsFunc(r.NonResourceURLs, func(url string) bool {
		below := strings.TrimSuffix(strings.TrimSuffix(url, "*"), "/") + "/"
		return url == "*" || url == at.Path || strings.HasPrefix(at.Path, below)
	})
}

// contains reports whether a list has a value, or is that of all values.
func contains(list []string, value string) bool {
	return len(list) == 1 && list[0] == "*" || slices.Contains(list, value)
}
