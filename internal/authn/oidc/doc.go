// Package oidc authenticates the JSON Web Tokens of OpenID Connect issuers.
//
// A [Configuration] names issuers and says how their claims become a user. Compile
// validates it. An [Authenticator] fetches the keys of the issuers and verifies tokens.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#openid-connect-tokens.
package oidc
