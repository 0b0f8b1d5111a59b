// Package authz decides what users may do, as the RBAC authorizer of
// kube-apiserver does.
//
// A [Rule] permits verbs on resources, or on paths that are not of a resource.
// Roles hold rules. A [Binding] grants the rules of one role to its subjects, in
// its namespace or, as a ClusterRoleBinding, everywhere. Rules only permit: what
// no rule permits is forbidden.
//
// An [RBAC] evaluates the roles and bindings of a [Policy], and answers the
// reviews of authorization.k8s.io. A [StorePolicy] is the policy in a store.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/rbac/.
package authz
