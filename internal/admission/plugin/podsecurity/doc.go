// Package podsecurity judges pods by the Pod Security Standards: by a level of
// them, as a version of Kubernetes defines it. The labels of a namespace choose
// both.
//
// See https://kubernetes.io/docs/concepts/security/pod-security-standards/.
package podsecurity
