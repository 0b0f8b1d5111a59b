package apiserver

import "time"

// Authentication configures how the server authenticates clients, beside the tokens of
// fakeapi.WithToken and Config.ClientCA. With it, a request without credentials is made by
// the user system:anonymous, and one with an unknown token fails with 401.
type Authentication struct {
	// NoAnonymous refuses requests without credentials with 401, as
	// --anonymous-auth=false does.
	NoAnonymous bool

	// ServiceAccountIssuers are the issuers whose tokens of service accounts are
	// accepted. The first one is the issuer of new tokens. The default is
	// https://kubernetes.default.svc.cluster.local.
	ServiceAccountIssuers []string

	// APIAudiences are the audiences of the server. The default is
	// ServiceAccountIssuers.
	APIAudiences []string

	// ServiceAccountSigningKey is the private key that signs new tokens: RSA or
	// ECDSA. By default the process generates one.
	ServiceAccountSigningKey []byte

	// ServiceAccountKeys have the public keys that verify tokens. Private keys and
	// certificates count as their public keys. The default is the public key of
	// ServiceAccountSigningKey.
	ServiceAccountKeys [][]byte

	// ServiceAccountMaxTokenExpiration is how long new tokens of service accounts are valid at most:
	// an hour or more; 0 is no limit. A TokenRequest for a longer time gets a warning.
	ServiceAccountMaxTokenExpiration time.Duration

	// NoServiceAccountTokenExtension keeps the tokens that kubelets request for Pods as short as
	// requested, as --service-account-extend-token-expiration=false does. They are valid for a
	// year otherwise.
	NoServiceAccountTokenExtension bool

	// ServiceAccountJWKSURI is where the OpenID configuration says that the keys of tokens are. The
	// default is /openid/v1/jwks of the server.
	ServiceAccountJWKSURI string

	// BootstrapTokens authenticates the tokens of Secrets of the type bootstrap.kubernetes.io/token
	// in kube-system: ID.SECRET is the user system:bootstrap:ID in the group system:bootstrappers.
	//
	// See https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/.
	BootstrapTokens bool

	// RequestHeader authenticates a proxy, such as an aggregator, by a client
	// certificate. The proxy names the user in headers. Nil means that headers have
	// no effect.
	RequestHeader *RequestHeader

	// OIDC authenticates the tokens of an OpenID Connect issuer.
	OIDC *OIDC

	// TokenWebhook authenticates the tokens that nothing else authenticates.
	TokenWebhook *TokenWebhook

	// Config is an AuthenticationConfiguration in YAML or JSON, as the file of
	// --authentication-config is: issuers of tokens, and paths for requests without
	// credentials, which take precedence over NoAnonymous. It excludes OIDC.
	//
	// See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-authentication-configuration.
	Config []byte
}

// TokenWebhook configures a webhook that authenticates tokens. A request waits for it
// for up to 30 seconds. The server caches up to 4096 answers.
type TokenWebhook struct {
	// Kubeconfig is the name of a kubeconfig file: its cluster is the webhook, and its
	// user has the credentials for it.
	Kubeconfig string

	// Version of TokenReviews is v1 or v1beta1, the default.
	Version string

	// CacheTTL is how long answers are cached, by default two minutes. A negative
	// duration caches nothing.
	CacheTTL time.Duration
}

// OIDC configures an OpenID Connect issuer. Its fields are the flags of kube-apiserver
// that begin with --oidc. The server fetches the keys of the issuer when the first token
// of it arrives.
type OIDC struct {
	// IssuerURL has the scheme https. Its discovery document and its keys must be
	// reachable. ClientID is the audience that tokens must have.
	IssuerURL, ClientID string

	// CA issues the certificate of the issuer, in PEM. Empty means the CAs of the host.
	CA []byte

	// UsernameClaim is the claim with the name of the user, by default "sub".
	UsernameClaim string

	// UsernamePrefix precedes the names of users. The default is the URL of the issuer
	// and "#", and none for the claim "email". "-" is no prefix.
	UsernamePrefix string

	// GroupsClaim is the claim with the groups of the user, one or a list; "" is none.
	// GroupsPrefix precedes them.
	GroupsClaim, GroupsPrefix string

	// RequiredClaims are claims that tokens must have, with their values.
	RequiredClaims map[string]string

	// SigningAlgs are the signature algorithms that tokens may have, by default RS256.
	SigningAlgs []string
}

// RequestHeader configures the authentication of a proxy. Its fields are the flags of
// kube-apiserver that begin with --requestheader.
type RequestHeader struct {
	// ClientCA issues the certificates of proxies.
	ClientCA []byte

	// AllowedNames are the common names that the certificate of a proxy may have.
	// None allows all.
	AllowedNames []string

	// UsernameHeaders, UIDHeaders and GroupHeaders are names of headers, and
	// ExtraHeaderPrefixes beginnings of names.
	UsernameHeaders, UIDHeaders, GroupHeaders, ExtraHeaderPrefixes []string
}
