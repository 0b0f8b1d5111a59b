// Package dynamic is dynamic admission control: it applies the webhooks and the
// admission policies that the users of a cluster configure.
//
// A [Snapshot] is the compiled configuration at one moment. A request passes it
// twice: Mutate before the object is validated, Validate afterwards. Policies run
// before webhooks in both, each in the order of the names of their
// configurations. Only validating webhooks are called concurrently.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
// and https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/.
package dynamic
