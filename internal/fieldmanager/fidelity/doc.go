// Package fidelity compares package fieldmanager with the field manager of
// k8s.io/apimachinery v0.36.3, which kube-apiserver uses, by running the same
// random writes through both. It is a separate module because package
// fieldmanager must not depend on k8s.io/apimachinery.
package fidelity
