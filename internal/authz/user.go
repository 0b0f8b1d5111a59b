package authz

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// A User is who makes a request. It is immutable once it was authenticated.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// Info is the user as reviews tell it, in generic form and without what is empty.
// Nobody is nothing.
func (u *User) Info() map[string]any {
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
		out["groups"] = object.Texts(u.Groups)
	}
	if len(u.Extra) > 0 {
		extra := make(map[string]any, len(u.Extra))
		for name, values := range u.Extra {
			extra[name] = object.Texts(values)
		}
		out["extra"] = extra
	}
	return out
}

// Names with a meaning to the server.
const (
	Anonymous       = "system:anonymous"
	Masters         = "system:masters"
	Authenticated   = "system:authenticated"
	Unauthenticated = "system:unauthenticated"
	Nodes           = "system:nodes"

	serviceAccounts      = "system:serviceaccounts"
	serviceAccountPrefix = "system:serviceaccount:"
	nodePrefix           = "system:node:"
)

// In reports whether the user is a member of the group.
func (u *User) In(group string) bool { return slices.Contains(u.Groups, group) }

// Joined is the user as a member of the group, too.
func (u User) Joined(group string) User {
	if !u.In(group) {
		u.Groups = append(slices.Clip(u.Groups), group)
	}
	return u
}

// ServiceAccountName is the name of a service account as a user.
func ServiceAccountName(namespace, name string) string {
	return serviceAccountPrefix + namespace + ":" + name
}

// ServiceAccountGroups are the groups of the service accounts of a namespace.
func ServiceAccountGroups(namespace string) []string {
	return []string{serviceAccounts, serviceAccounts + ":" + namespace}
}

// SplitServiceAccount reads the name of a user that is a service account.
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

// NodeName reads the name of a user that is a node.
func NodeName(user string) (node string, ok bool) {
	node, ok = strings.CutPrefix(user, nodePrefix)
	if !ok || len(validation.SubdomainName(node, false)) > 0 {
		return "", false
	}
	return node, true
}
