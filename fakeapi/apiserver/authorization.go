package apiserver

import "time"

// Authorization configures how the server authorizes requests. It takes precedence over
// fakeapi.WithRBAC.
type Authorization struct {
	// Modes decide in their order: AlwaysAllow, AlwaysDeny, ABAC, Node, RBAC and Webhook.
	Modes []string

	// Webhook is that of the mode Webhook.
	Webhook *AuthorizationWebhook

	// PolicyFile is the name of the file with the policies of the mode ABAC: a Policy in JSON
	// on each line.
	//
	// See https://kubernetes.io/docs/reference/access-authn-authz/abac/.
	PolicyFile string

	// Config is an AuthorizationConfiguration in YAML or JSON, as the file of
	// --authorization-config is. It excludes Modes and Webhook.
	//
	// See https://kubernetes.io/docs/reference/access-authn-authz/authorization/#using-configuration-file-for-authorization.
	Config []byte
}

// AuthorizationWebhook configures the mode Webhook. A request waits for the webhook for
// up to 30 seconds. The server caches up to 8192 answers.
type AuthorizationWebhook struct {
	// Kubeconfig is the name of a kubeconfig file: its cluster is the webhook, and its
	// user has the credentials for it.
	Kubeconfig string

	// Version of SubjectAccessReviews is v1 or v1beta1, the default.
	Version string

	// AuthorizedTTL and UnauthorizedTTL are how long answers are cached, by default 5
	// minutes and 30 seconds. Negative durations cache nothing.
	AuthorizedTTL, UnauthorizedTTL time.Duration
}
