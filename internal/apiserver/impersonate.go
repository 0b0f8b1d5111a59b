package apiserver

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// The headers by which a request is made as another user.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation.
const (
	impersonateUser  = "Impersonate-User"
	impersonateGroup = "Impersonate-Group"
	impersonateUID   = "Impersonate-Uid"
	impersonateExtra = "Impersonate-Extra-"
)

// A disguise is a way to be allowed to act as another user: by a verb of its
// own, and a second one for what is done so. The last one, older than the
// others, has one verb for all.
//
// See https://kep.k8s.io/5284.
type disguise struct {
	mode string // "" for the oldest
	fits func(wanted, by *authn.User) bool
}

var disguises = []disguise{
	{"associated-node", func(wanted, by *authn.User) bool {
		node, ok := authn.NodeName(wanted.Name)
		_, _, account := authn.SplitServiceAccount(by.Name)
		return ok && account && nameOnly(wanted) && slices.Equal(by.Extra[authn.ExtraNodeName], []string{node})
	}},
	{"arbitrary-node", func(wanted, _ *authn.User) bool { return isNode(wanted) && nameOnly(wanted) }},
	{"serviceaccount", func(wanted, _ *authn.User) bool { return isAccount(wanted) && nameOnly(wanted) }},
	{"user-info", func(wanted, _ *authn.User) bool { return !isNode(wanted) && !isAccount(wanted) }},
	{"", func(*authn.User, *authn.User) bool { return true }},
}

func nameOnly(u *authn.User) bool { return u.UID == "" && len(u.Groups) == 0 && len(u.Extra) == 0 }

func isNode(u *authn.User) bool {
	_, ok := authn.NodeName(u.Name)
	return ok
}

func isAccount(u *authn.User) bool {
	_, _, ok := authn.SplitServiceAccount(u.Name)
	return ok
}

// impersonate makes the request that of the user its headers name, if they name
// one and its own user may act as that. The error is that of the first way that
// was tried.
func (r *request) impersonate() error {
	wanted, err := wantedUser(r.http.Header)
	if wanted == nil || err != nil {
		return err
	}
	var first error
	for _, d := range disguises {
		if !d.fits(wanted, r.user) {
			continue
		}
		user, err := d.wear(r, wanted)
		if err == nil {
			r.user = user
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// wantedUser reads the headers; nil if there are none.
func wantedUser(h http.Header) (*authn.User, error) {
	u := &authn.User{Name: h.Get(impersonateUser), UID: h.Get(impersonateUID), Groups: h[impersonateGroup]}
	hasExtra := false
	for header, values := range h {
		name, ok := strings.CutPrefix(header, impersonateExtra)
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
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		u.Extra[key] = append(u.Extra[key], values...)
	}
	switch {
	case u.Name != "":
		return u, nil
	case u.UID != "" || len(u.Groups) > 0 || hasExtra:
		return nil, status.BadRequest(fmt.Sprintf("requested &user.DefaultInfo{Name:%q, UID:%q, Groups:%#v, Extra:%#v} without impersonating a user name", u.Name, u.UID, u.Groups, u.Extra))
	}
	return nil, nil
}

// wear returns the wanted user as the request's user may be it, in this way.
func (d disguise) wear(r *request, wanted *authn.User) (*authn.User, error) {
	if d.mode != "" {
		at := r.attributes()
		at.Verb = "impersonate-on:" + d.mode + ":" + at.Verb
		if err := r.check(at); err != nil {
			return nil, err
		}
	}
	out := *wanted
	for _, check := range []func(*request, *authn.User) error{
		func(r *request, wanted *authn.User) error { return d.checkName(r, wanted, &out) },
		d.checkUID, d.checkGroups, d.checkExtra,
	} {
		if err := check(r, wanted); err != nil {
			return nil, err
		}
	}
	switch {
	case out.Name == authn.AnonymousUser:
		out = out.WithGroup(authn.UnauthenticatedGroup)
	case !out.InGroup(authn.UnauthenticatedGroup):
		out = out.WithGroup(authn.AuthenticatedGroup)
	}
	return &out, nil
}

// asks are the attributes of acting as something. Names and groups are of the
// legacy group where the disguise is the oldest.
func (d disguise) asks(resource, name string) authz.Attributes {
	at := authz.Attributes{IsResource: true, Verb: "impersonate", Resource: resource, Name: name}
	if d.mode != "" {
		at.Verb += ":" + d.mode
	}
	if d.mode != "" || resource == "uids" || resource == "userextras" {
		at.Group = authenticationGroup
	}
	return at
}

// checkName checks the name, and gives out the groups that follow from it.
func (d disguise) checkName(r *request, wanted, out *authn.User) error {
	at := d.asks("users", wanted.Name)
	if node, ok := authn.NodeName(wanted.Name); ok && d.mode != "" {
		at.Resource, at.Name = "nodes", node
		if d.mode == "associated-node" {
			at.Name = "*" // whichever node it is
		}
		out.Groups = []string{authn.NodesGroup}
	}
	if namespace, name, ok := authn.SplitServiceAccount(wanted.Name); ok {
		at.Resource, at.Namespace, at.Name = "serviceaccounts", namespace, name
		if len(wanted.Groups) == 0 {
			out.Groups = authn.ServiceAccountGroups(namespace)
		}
	}
	return r.check(at)
}

func (d disguise) checkUID(r *request, wanted *authn.User) error {
	if wanted.UID == "" {
		return nil
	}
	return r.check(d.asks("uids", wanted.UID))
}

// manyChecks is from how many checks on one for all of them is tried first.
const manyChecks = 4

func (d disguise) checkGroups(r *request, wanted *authn.User) error {
	if d.mode != "" {
		switch {
		case slices.Contains(wanted.Groups, ""):
			return forbidden(r.user, d.asks("groups", ""), "impersonating the empty string group is not allowed")
		case wanted.InGroup(authn.MastersGroup):
			return forbidden(r.user, d.asks("groups", authn.MastersGroup), "impersonating the system:masters group is not allowed")
		case len(wanted.Groups) >= manyChecks && r.check(d.asks("groups", "*")) == nil:
			return nil
		}
	}
	for _, group := range wanted.Groups {
		if err := r.check(d.asks("groups", group)); err != nil {
			return err
		}
	}
	return nil
}

func (d disguise) checkExtra(r *request, wanted *authn.User) error {
	at := d.asks("userextras", "")
	if d.mode != "" {
		if reason := extraProblem(wanted.Extra); reason != "" {
			return forbidden(r.user, at, reason)
		}
		count := 0
		for _, values := range wanted.Extra {
			count += len(values)
		}
		if count >= manyChecks {
			every := at
			every.Subresource, every.Name = "*", "*"
			if r.check(every) == nil {
				return nil
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(wanted.Extra)) {
		for _, value := range wanted.Extra[key] {
			at.Subresource, at.Name = key, value
			if err := r.check(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// extraProblem says what is wrong with the first entry that may not be
// impersonated, "" if all may.
func extraProblem(extra map[string][]string) string {
	path := validation.NewPath("extra").Child("key")
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		values := extra[key]
		if key == "" {
			return "impersonating the empty string key in extra is not allowed"
		}
		if errs := validation.DomainPrefixedPath(key, path); len(errs) > 0 {
			return "impersonating an invalid key in extra is not allowed: " + errs.Message()
		}
		switch {
		case key != strings.ToLower(key):
			return fmt.Sprintf("impersonating a non-lowercase key in extra is not allowed: %q", key)
		case slices.Contains(values, ""):
			return "impersonating the empty string value in extra is not allowed"
		}
	}
	return ""
}
