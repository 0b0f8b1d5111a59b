package authz

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/validation"
)

// A User is who makes a request. It is immutable once it was authenticated.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
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
