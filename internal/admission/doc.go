// Package admission defines what admission plugins see of a request and how they
// answer.
//
// Admission has two phases. Mutating plugins change the object of a request,
// then it is validated, then validating plugins check it. Package plugin has the
// plugins of kube-apiserver, package dynamic the webhooks and policies that the
// users of a cluster configure.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/.
package admission
