// Package aggregator does what kube-aggregator does: it forwards requests for the group
// versions of APIServices with a service to other API servers, and checks whether those are
// available.
//
// An APIService without a service is local: this server serves its group version. The other
// ones are remote here. A server without remote APIServices has neither goroutines nor timers
// of this package.
package aggregator
