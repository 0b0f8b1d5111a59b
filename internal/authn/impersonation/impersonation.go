// Package impersonation lets a user make a request as another user.
//
// The request names the other user in Impersonate-* headers. RBAC decides
// whether its own user may impersonate that one: in one of the constrained modes
// of KEP-5284, or by the legacy verb "impersonate".
//
// See https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/
// and https://kep.k8s.io/5284.
package impersonation

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/validation"
)

// The headers of an impersonation.
const (
	headerPrefix = "Impersonate-"
	userHeader   = headerPrefix + "User"
	groupHeader  = headerPrefix + "Group"
	uidHeader    = headerPrefix + "Uid"
	extraPrefix  = headerPrefix + "Extra-"
)

// isRequested reports whether h has a header of an impersonation.
func isRequested(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, headerPrefix) {
			return true
		}
	}
	return false
}

// An UnnamedError reports the headers of an impersonation without a user name.
type UnnamedError struct{ user *authn.User }

func (e *UnnamedError) Error() string {
	u := e.user
	return fmt.Sprintf("requested &user.DefaultInfo{Name:%q, UID:%q, Groups:%#v, Extra:%#v} without impersonating a user name", u.Name, u.UID, u.Groups, u.Extra)
}

// Unconstrained returns the text of the error on servers without constrained
// impersonation.
func (e *UnnamedError) Unconstrained() string {
	const version = "authentication.k8s.io/v1"
	var references []string
	refer := func(kind, name, apiVersion, fieldPath string) {
		references = append(references, fmt.Sprintf("{%s  %s  %s  %s}", kind, name, apiVersion, fieldPath))
	}
	for _, group := range e.user.Groups {
		refer("Group", group, "", "")
	}
	for _, key := range slices.Sorted(maps.Keys(e.user.Extra)) {
		for _, value := range e.user.Extra[key] {
			refer("UserExtra", value, version, key)
		}
	}
	if e.user.UID != "" {
		refer("UID", e.user.UID, version, "")
	}
	return fmt.Sprintf("requested %v without impersonating a user", references)
}

// Requested returns the user that the headers of a request name, nil if they
// name none. It fails with an UnnamedError for headers without a user name.
func Requested(h http.Header) (*authn.User, error) {
	if !isRequested(h) {
		return nil, nil
	}
	u := &authn.User{Name: h.Get(userHeader), UID: h.Get(uidHeader), Groups: h[groupHeader]}
	hasExtra := false
	for header, values := range h {
		name, ok := strings.CutPrefix(header, extraPrefix)
		if !ok {
			continue
		}
		hasExtra = true
		if len(values) == 0 {
			continue
		}
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		key := strings.ToLower(name)
		if unescaped, err := url.PathUnescape(key); err == nil {
			key = unescaped
		}
		u.Extra[key] = append(u.Extra[key], values...)
	}
	switch {
	case u.Name != "":
		return u, nil
	case u.UID != "" || len(u.Groups) > 0 || hasExtra:
		return nil, &UnnamedError{u}
	}
	return nil, nil
}

// maxRemembered is the number of users whose modes are remembered. When there are
// more, all are forgotten.
const maxRemembered = 10_000

// Modes remembers the mode that last allowed each user an impersonation. It is tried
// first. The zero value is empty. It is safe for concurrent use.
type Modes struct {
	// LegacyOnly is whether there are no constrained modes. It must not change.
	LegacyOnly bool

	mu   sync.Mutex // guards last
	last map[string]int
}

// Authorize returns requested as the user of a request that the user by makes
// and that does at. The groups of the result depend on the user name and on the mode.
// constraint is the verb of a constrained mode, "" for the legacy one. It fails with 403 if
// no mode allows the impersonation; the error is that of the first mode that was tried.
func (m *Modes) Authorize(ctx context.Context, a authz.Authorizer, requested, by *authn.User, at authz.Attributes) (user *authn.User, constraint string, err error) {
	var first error
	for i := range m.order(by.Name) {
		if !modes[i].applies(requested, by) || m.LegacyOnly && !modes[i].legacy() {
			continue
		}
		user, err := check{ctx, a, modes[i], m.LegacyOnly, requested, by}.user(at)
		if err == nil {
			m.remember(by.Name, i)
			return user, modes[i].constraint(), nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, "", first
}

// Needs returns what a user needs so that it may impersonate requested, in the legacy mode: with it,
// every release allows the impersonation.
func Needs(requested *authn.User) []authz.Attributes {
	var needs authz.Needs
	a := authz.Authorizer{Modes: []authz.Mode{&needs}}
	_, _ = check{context.Background(), a, modes[len(modes)-1], false, requested, &authn.User{}}.user(authz.Attributes{}) // everything is allowed
	return needs
}

// order returns the indexes of modes in the order in which they are tried for a user.
func (m *Modes) order(user string) iter.Seq[int] {
	m.mu.Lock()
	last, ok := m.last[user]
	m.mu.Unlock()
	return func(yield func(int) bool) {
		if ok && !yield(last) {
			return
		}
		for i := range modes {
			if !(ok && i == last) && !yield(i) {
				return
			}
		}
	}
}

func (m *Modes) remember(user string, mode int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.last[user]; !ok && len(m.last) >= maxRemembered || m.last == nil {
		m.last = map[string]int{}
	}
	m.last[user] = mode
}

// An impersonationMode is one of the constrained-impersonation modes (KEP-5284).
// A constrained mode needs two permissions: the verb "impersonate:<mode>" on the
// impersonated user, and "impersonate-on:<mode>:<verb>" on the request.
type impersonationMode struct {
	name    string // "" for the legacy mode, which needs the verb "impersonate" only
	applies func(requested, by *authn.User) bool
}

// legacy reports whether the mode is the unconstrained one.
func (m impersonationMode) legacy() bool { return m.name == "" }

// constraint returns the verb that users need for the mode, "" for the legacy one.
func (m impersonationMode) constraint() string {
	if m.legacy() {
		return ""
	}
	return "impersonate:" + m.name
}

const associatedNode = "associated-node"

// modes are the modes in the order in which they are tried first.
var modes = []impersonationMode{
	{associatedNode, func(requested, by *authn.User) bool {
		node, ok := authn.NodeName(requested.Name)
		return ok && isServiceAccount(by) && nameOnly(requested) && slices.Equal(by.Extra[authn.ExtraNodeName], []string{node})
	}},
	{"arbitrary-node", func(requested, _ *authn.User) bool { return isNode(requested) && nameOnly(requested) }},
	{"serviceaccount", func(requested, _ *authn.User) bool { return isServiceAccount(requested) && nameOnly(requested) }},
	{"user-info", func(requested, _ *authn.User) bool { return !isNode(requested) && !isServiceAccount(requested) }},
	{"", func(*authn.User, *authn.User) bool { return true }},
}

func nameOnly(u *authn.User) bool { return u.UID == "" && len(u.Groups) == 0 && len(u.Extra) == 0 }

func isNode(u *authn.User) bool {
	_, ok := authn.NodeName(u.Name)
	return ok
}

func isServiceAccount(u *authn.User) bool {
	_, _, ok := authn.SplitServiceAccount(u.Name)
	return ok
}

// A check is whether the user by may impersonate the requested user in a mode.
type check struct {
	ctx           context.Context
	authorizer    authz.Authorizer
	mode          impersonationMode
	legacyOnly    bool // there are no other modes
	requested, by *authn.User
}

// user returns the user of the request, which does at.
func (c check) user(at authz.Attributes) (*authn.User, error) {
	if !c.mode.legacy() {
		at.Verb = "impersonate-on:" + c.mode.name + ":" + at.Verb
		if err := c.authorizer.Check(c.ctx, c.by, at); err != nil {
			return nil, err
		}
	}
	for _, member := range []func() error{c.name, c.uid, c.groups, c.extra} {
		if err := member(); err != nil {
			return nil, err
		}
	}
	out := *c.requested
	out.Groups = c.resultingGroups()
	switch {
	case out.Name == authn.AnonymousUser:
		out = out.WithGroup(authn.UnauthenticatedGroup)
	case !out.InGroup(authn.UnauthenticatedGroup):
		out = out.WithGroup(authn.AuthenticatedGroup)
	}
	return &out, nil
}

// resultingGroups returns the requested groups, or those that follow from the
// user name.
func (c check) resultingGroups() []string {
	if isNode(c.requested) && !c.mode.legacy() {
		return []string{authn.NodesGroup}
	}
	if namespace, _, ok := authn.SplitServiceAccount(c.requested.Name); ok && len(c.requested.Groups) == 0 {
		return authn.ServiceAccountGroups(namespace)
	}
	return c.requested.Groups
}

// attributes returns the attributes of impersonating a resource. Users, groups
// and service accounts are in the core group in the legacy mode, and have no
// version where that is the only mode.
func (c check) attributes(resource, name string) authz.Attributes {
	at := authz.Attributes{IsResource: true, Verb: "impersonate", Version: "v1", Resource: resource, Name: name}
	if !c.mode.legacy() {
		at.Verb += ":" + c.mode.name
	}
	if !c.mode.legacy() || resource == "uids" || resource == "userextras" {
		at.Group = "authentication.k8s.io"
	} else if c.legacyOnly {
		at.Version = ""
	}
	return at
}

// name checks the user name.
func (c check) name() error {
	at := c.attributes("users", c.requested.Name)
	if node, ok := authn.NodeName(c.requested.Name); ok && !c.mode.legacy() {
		at.Resource, at.Name = "nodes", node
		if c.mode.name == associatedNode {
			at.Name = "*"
		}
	}
	if namespace, name, ok := authn.SplitServiceAccount(c.requested.Name); ok {
		at.Resource, at.Namespace, at.Name = "serviceaccounts", namespace, name
	}
	return c.authorizer.Check(c.ctx, c.by, at)
}

func (c check) uid() error {
	if c.requested.UID == "" {
		return nil
	}
	return c.authorizer.Check(c.ctx, c.by, c.attributes("uids", c.requested.UID))
}

// wildcardChecks is the number of groups, or of extra values, from which on one
// check with the name "*" comes before the check of each.
const wildcardChecks = 4

func (c check) groups() error {
	groups := c.requested.Groups
	if !c.mode.legacy() {
		switch {
		case slices.Contains(groups, ""):
			return authz.Forbidden(c.by, c.attributes("groups", ""), "impersonating the empty string group is not allowed")
		case c.requested.InGroup(authn.MastersGroup):
			return authz.Forbidden(c.by, c.attributes("groups", authn.MastersGroup), "impersonating the system:masters group is not allowed")
		case len(groups) >= wildcardChecks && c.authorizer.Check(c.ctx, c.by, c.attributes("groups", "*")) == nil:
			return nil
		}
	}
	for _, group := range groups {
		if err := c.authorizer.Check(c.ctx, c.by, c.attributes("groups", group)); err != nil {
			return err
		}
	}
	return nil
}

func (c check) extra() error {
	at, extra := c.attributes("userextras", ""), c.requested.Extra
	if !c.mode.legacy() {
		if reason := invalidExtra(extra); reason != "" {
			return authz.Forbidden(c.by, at, reason)
		}
		count := 0
		for _, values := range extra {
			count += len(values)
		}
		if count >= wildcardChecks {
			every := at
			every.Subresource, every.Name = "*", "*"
			if c.authorizer.Check(c.ctx, c.by, every) == nil {
				return nil
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		for _, value := range extra[key] {
			at.Subresource, at.Name = key, value
			if err := c.authorizer.Check(c.ctx, c.by, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// invalidExtra returns why the first extra key or value cannot be impersonated
// in a constrained mode, "" if all can.
func invalidExtra(extra map[string][]string) string {
	path := validation.NewPath("extra", "key")
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		if key == "" {
			return "impersonating the empty string key in extra is not allowed"
		}
		if errs := validation.DomainPrefixedPath(key, path); len(errs) > 0 {
			return "impersonating an invalid key in extra is not allowed: " + errs.Message()
		}
		switch {
		case key != strings.ToLower(key):
			return fmt.Sprintf("impersonating a non-lowercase key in extra is not allowed: %q", key)
		case slices.Contains(extra[key], ""):
			return "impersonating the empty string value in extra is not allowed"
		}
	}
	return ""
}
