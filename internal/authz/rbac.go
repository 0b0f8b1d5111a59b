package authz

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/status"
)

// A Policy is the roles and bindings that there are.
type Policy interface {
	// Bindings are the bindings in a namespace, or with "" the cluster's, in
	// the order of their names.
	Bindings(namespace string) iter.Seq[*Binding]

	// Rules are the rules of the role that a binding in the namespace refers
	// to. Errors: *MissingRoleError, and one for a reference to no role.
	Rules(ref RoleRef, namespace string) ([]Rule, error)
}

// A RoleRef names the role of a binding.
type RoleRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"` // Role or ClusterRole
	Name     string `json:"name"`
}

// A Subject is whom a binding grants its role.
type Subject struct {
	Kind      string `json:"kind"` // User, Group or ServiceAccount
	Name      string `json:"name"`
	Namespace string `json:"namespace"` // of a service account; "" for the binding's
}

// A Binding grants the rules of a role to its subjects. It is immutable.
type Binding struct {
	Metadata struct{ Name, Namespace string } `json:"metadata"` // without a namespace it is the cluster's
	Subjects []Subject                        `json:"subjects"`
	RoleRef  RoleRef                          `json:"roleRef"`
}

// ParseBinding reads a RoleBinding or ClusterRoleBinding.
func ParseBinding(body []byte) (*Binding, error) {
	b := &Binding{}
	return b, json.Unmarshal(body, b)
}

// ParseRules reads the rules of a Role or ClusterRole.
func ParseRules(body []byte) ([]Rule, error) {
	var role struct {
		Rules []Rule `json:"rules"`
	}
	err := json.Unmarshal(body, &role)
	return role.Rules, err
}

// A MissingRoleError says that the role of a binding does not exist.
type MissingRoleError struct{ Kind, Name string }

func (e *MissingRoleError) Error() string {
	return fmt.Sprintf("%s.rbac.authorization.k8s.io %q not found", strings.ToLower(e.Kind), e.Name)
}

// subjectOf returns the first of the subjects that is the user or a group of
// its, nil if none is.
func (b *Binding) subjectOf(u *authn.User) *Subject {
	for i := range b.Subjects {
		s := &b.Subjects[i]
		switch s.Kind {
		case "User":
			if s.Name == u.Name {
				return s
			}
		case "Group":
			if u.InGroup(s.Name) {
				return s
			}
		case "ServiceAccount":
			if ns := b.namespaceOf(s); ns != "" && u.Name == authn.ServiceAccountName(ns, s.Name) {
				return s
			}
		}
	}
	return nil
}

func (b *Binding) namespaceOf(s *Subject) string {
	if s.Namespace != "" {
		return s.Namespace
	}
	return b.Metadata.Namespace
}

// grant says what allowed a request: the binding, its role and the subject.
func (b *Binding) grant(s *Subject) string {
	kind, name := "ClusterRoleBinding", b.Metadata.Name
	if b.Metadata.Namespace != "" {
		kind, name = "RoleBinding", name+"/"+b.Metadata.Namespace
	}
	subject := s.Name
	if s.Kind == "ServiceAccount" {
		subject += "/" + b.namespaceOf(s)
	}
	return fmt.Sprintf("%s %q of %s %q to %s %q", kind, name, b.RoleRef.Kind, b.RoleRef.Name, s.Kind, subject)
}

// A Decision is whether something is allowed, and why; often there is nothing
// to say of why not.
type Decision struct {
	Allowed bool
	Reason  string
}

// An RBAC authorizes by the roles and bindings of a policy. With a nil Policy
// everybody may do everything.
type RBAC struct{ Policy Policy }

// Authorize decides whether the user may do what is asked for. The members of
// system:masters may do everything.
func (a RBAC) Authorize(u *authn.User, at *Attributes) Decision {
	if a.Policy == nil || u.InGroup(authn.MastersGroup) {
		return Decision{Allowed: true}
	}
	var errs []error
	for binding, subject := range a.bindings(u, at.Namespace) {
		rules, err := a.Policy.Rules(binding.RoleRef, binding.Metadata.Namespace)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if slices.ContainsFunc(rules, func(r Rule) bool { return r.Permits(at) }) {
			return Decision{Allowed: true, Reason: "RBAC: allowed by " + binding.grant(subject)}
		}
	}
	if len(errs) > 0 {
		return Decision{Reason: "RBAC: " + status.Aggregate(errs)}
	}
	return Decision{}
}

// Check fails with 403 if the user may not do at.
func (a RBAC) Check(u *authn.User, at Attributes) error {
	if d := a.Authorize(u, &at); !d.Allowed {
		return Forbidden(u, at, d.Reason)
	}
	return nil
}

// escapeHTML escapes what a client sent, as kube-apiserver does in this message.
var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Forbidden returns the 403 error of a user that may not do at. reason may be
// "".
func Forbidden(u *authn.User, at Attributes, reason string) error {
	message := escapeHTML.Replace("User " + strconv.Quote(u.Name) + " cannot " + at.String())
	if reason != "" {
		message += ": " + reason
	}
	return status.Forbidden(status.GroupResource{Group: at.Group, Resource: at.Resource}, at.Name, message)
}

// everything is what a server without RBAC permits.
var everything = []Rule{
	{Verbs: []string{all}, APIGroups: []string{all}, Resources: []string{all}},
	{Verbs: []string{all}, NonResourceURLs: []string{all}},
}

// Rules are all rules that the user is granted in a namespace, or with "" at
// cluster scope, and the errors of the bindings whose roles are not known.
func (a RBAC) Rules(u *authn.User, namespace string) (rules []Rule, errs []error) {
	if a.Policy == nil {
		return everything, nil
	}
	for binding := range a.bindings(u, namespace) {
		granted, err := a.Policy.Rules(binding.RoleRef, binding.Metadata.Namespace)
		if err != nil {
			errs = append(errs, err)
		}
		rules = append(rules, granted...)
	}
	return rules, errs
}

// bindings are those that grant the user something in the namespace, the
// cluster's first, each with the subject that is the user.
func (a RBAC) bindings(u *authn.User, namespace string) iter.Seq2[*Binding, *Subject] {
	scopes := []string{"", namespace}
	if namespace == "" {
		scopes = scopes[:1]
	}
	return func(yield func(*Binding, *Subject) bool) {
		for _, scope := range scopes {
			for b := range a.Policy.Bindings(scope) {
				if s := b.subjectOf(u); s != nil && !yield(b, s) {
					return
				}
			}
		}
	}
}

// CheckGrant refuses rules that the user does not hold in the namespace. word
// words an error of a binding whose role is not known.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping.
func (a RBAC) CheckGrant(u *authn.User, namespace string, rules []Rule, word func(error) error) error {
	held, errs := a.Rules(u, namespace)
	missing := joined(Uncovered(held, rules))
	if len(missing) == 0 {
		return nil
	}
	texts := make([]string, len(missing))
	for i, rule := range missing {
		texts[i] = rule.String()
	}
	slices.Sort(texts)
	message := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		u.Name, u.Groups, strings.Join(slices.Compact(texts), "\n"))
	if len(errs) > 0 {
		for i := range errs {
			errs[i] = word(errs[i])
		}
		message += fmt.Sprintf("; resolution errors: [%s]", status.Aggregate(errs))
	}
	return errors.New(message)
}
