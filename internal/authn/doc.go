// Package authn identifies the user of a request.
//
// A [User] is an authenticated client, and an [Authenticator] finds the user of
// an Authorization header: by static bearer tokens, by tokens of service
// accounts, or as an anonymous user.
//
// Package serviceaccount below it issues and verifies the tokens of service
// accounts. Package impersonation decides whether a user may act as another one.
// What a user may do is decided in package authz.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/authentication/.
package authn
