// Package authz decides who may do what, as the RBAC authorizer of
// kube-apiserver does.
//
// A [Rule] permits verbs on resources, or on paths that are of no resource.
// Roles hold rules, and a [Binding] grants the rules of one role to its
// subjects: in its namespace, or everywhere if it is the cluster's. Nothing is
// ever denied by a rule; what no rule permits is not allowed.
//
// The package keeps no state. It asks a [Policy] for the roles and bindings
// that there are at the moment.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/rbac/.
package authz
