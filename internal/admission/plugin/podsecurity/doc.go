// Package podsecurity is the PodSecurity admission plugin. It checks pods against
// the Pod Security Standards: at a level, as a version of Kubernetes defines it.
// Labels of the namespace choose both.
//
// See https://kubernetes.io/docs/concepts/security/pod-security-admission/.
package podsecurity
