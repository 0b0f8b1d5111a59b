// Package crd creates the resource types of CustomResourceDefinitions: it defines how
// custom resources are decoded, defaulted, validated, converted, printed and selected.
//
// Definitions are stored like other objects. [New] returns the types of a definition.
// [Reconcile] updates its status like the controllers of kube-apiserver that accept names
// and set conditions.
//
// See https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/.
package crd
