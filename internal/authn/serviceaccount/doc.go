// Package serviceaccount issues and verifies the tokens of service accounts.
//
// A token is a JSON Web Token in compact form, signed with an RSA or ECDSA key. It
// names a service account and, optionally, a Pod, Node or Secret that it is bound to.
// It is valid as long as these objects exist and it has not expired.
//
// All servers of a process without a key of their own sign with one key, so that a
// fork of a server accepts the tokens of its parent.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/.
package serviceaccount
