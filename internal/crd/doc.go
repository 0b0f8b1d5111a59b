// Package crd makes resource types of CustomResourceDefinitions: how their
// objects are decoded, defaulted, validated, converted, printed and selected.
// What comes out is a resource.Type like those of built-in kinds.
//
// A definition lies in the store as any object does. [New] reads one that is
// accepted; what its status says comes from [Settle], which decides over names
// and conditions as the controllers of kube-apiserver do.
//
// See https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/.
package crd
