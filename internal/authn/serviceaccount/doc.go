// Package serviceaccount issues and verifies the tokens of service accounts.
//
// A token is a JSON Web Token in compact form, signed with an RSA or ECDSA key. It
// names a service account and, optionally, an object that it is bound to: a Pod, a Node,
// a Secret or a configuration of webhooks. It is valid until it expires, or one of these
// objects has been deleted.
//
// All servers of a process without a key of their own sign with one key, so that a
// fork of a server accepts the tokens of its parent.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/.
package serviceaccount
