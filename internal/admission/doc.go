// Package admission has writes judged, and changed, by what a cluster's users
// configure: webhooks and policies.
//
// A Snapshot is what is configured at one moment, compiled. A write passes it
// twice: Mutate comes before an object is validated, Validate after. Policies
// come before webhooks in both. Those of a kind are asked in the order of the
// names of their configurations; webhooks that only validate are asked all at
// once.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
// and https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/.
package admission
