package authn

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// A User is the client that makes a request. Do not change one after
// authentication.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// Names of users and groups that the server knows.
const (
	AnonymousUser        = "system:anonymous"
	APIServerUser        = "system:apiserver"
	MastersGroup         = "system:masters" // may do everything
	AuthenticatedGroup   = "system:authenticated"
	UnauthenticatedGroup = "system:unauthenticated"
	NodesGroup           = "system:nodes"

	serviceAccountsGroup = "system:serviceaccounts"
	serviceAccountPrefix = "system:serviceaccount:"
	nodePrefix           = "system:node:"
)

// Keys of User.Extra in the users of service account tokens.
const (
	ExtraCredentialID = "authentication.kubernetes.io/credential-id"
	ExtraPodName      = "authentication.kubernetes.io/pod-name"
	ExtraPodUID       = "authentication.kubernetes.io/pod-uid"
	ExtraNodeName     = "authentication.kubernetes.io/node-name"
	ExtraNodeUID      = "authentication.kubernetes.io/node-uid"

	// The configuration of webhooks that a token is for, and the API groups of the reviews that
	// its bearer sends.
	ExtraValidatingWebhookName = "authentication.kubernetes.io/validatingwebhookconfiguration-name"
	ExtraValidatingWebhookUID  = "authentication.kubernetes.io/validatingwebhookconfiguration-uid"
	ExtraMutatingWebhookName   = "authentication.kubernetes.io/mutatingwebhookconfiguration-name"
	ExtraMutatingWebhookUID    = "authentication.kubernetes.io/mutatingwebhookconfiguration-uid"
	ExtraReviewGroups          = "attestation.authentication.kubernetes.io/admissionReviewAPIGroups"
)

// CredentialID returns the value of ExtraCredentialID for a token with the ID jti.
func CredentialID(jti string) string { return "JTI=" + jti }

// InGroup reports whether the user is a member of the group.
func (u *User) InGroup(group string) bool { return slices.Contains(u.Groups, group) }

// Node returns the name of the node whose kubelet the user is: a member of system:nodes
// with a name that begins with system:node:. ok is false for any other user. The name may
// be "".
func (u *User) Node() (name string, ok bool) {
	name, ok = strings.CutPrefix(u.Name, nodePrefix)
	return name, ok && u.InGroup(NodesGroup)
}

// WithGroup returns the user as a member of the group. It does not change u.
func (u User) WithGroup(group string) User {
	if !u.InGroup(group) {
		u.Groups = append(slices.Clip(u.Groups), group)
	}
	return u
}

// UserInfo returns the user as a UserInfo of authentication.k8s.io in generic
// form, without empty fields. A nil user gives an empty map.
func (u *User) UserInfo() map[string]any {
	out := map[string]any{}
	if u == nil {
		return out
	}
	for name, v := range map[string]string{"username": u.Name, "uid": u.UID} {
		if v != "" {
			out[name] = v
		}
	}
	if len(u.Groups) > 0 {
		out["groups"] = object.FromStrings(u.Groups)
	}
	if len(u.Extra) > 0 {
		extra := make(map[string]any, len(u.Extra))
		for name, values := range u.Extra {
			extra[name] = object.FromStrings(values)
		}
		out["extra"] = extra
	}
	return out
}

// ServiceAccountName returns the user name of a service account.
func ServiceAccountName(namespace, name string) string {
	return serviceAccountPrefix + namespace + ":" + name
}

// ServiceAccount returns a service account as a user.
func ServiceAccount(namespace, name, uid string) *User {
	return &User{Name: ServiceAccountName(namespace, name), UID: uid, Groups: ServiceAccountGroups(namespace)}
}

// CutServiceAccount returns the name of a service account in the namespace by its user name. ok
// is false for any other user.
func CutServiceAccount(user, namespace string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(user, serviceAccountPrefix); ok {
		name, ok = strings.CutPrefix(name, namespace)
	}
	if ok {
		name, ok = strings.CutPrefix(name, ":")
	}
	return name, ok
}

// ServiceAccountGroups returns the groups of every service account in a
// namespace.
func ServiceAccountGroups(namespace string) []string {
	return []string{serviceAccountsGroup, serviceAccountsGroup + ":" + namespace}
}

// SplitServiceAccount returns the namespace and the name of the service account
// with this user name. ok is false for any other user.
func SplitServiceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, serviceAccountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	if !ok || len(validation.LabelName(namespace, false)) > 0 || len(validation.SubdomainName(name, false)) > 0 {
		return "", "", false
	}
	return namespace, name, true
}

// NodeName returns the node with this user name. ok is false for any other user.
func NodeName(user string) (node string, ok bool) {
	node, ok = strings.CutPrefix(user, nodePrefix)
	if !ok || len(validation.SubdomainName(node, false)) > 0 {
		return "", false
	}
	return node, true
}
