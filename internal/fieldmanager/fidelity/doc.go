// Package fidelity compares package fieldmanager with the field manager of
// k8s.io/apimachinery v0.36.3, the one that kube-apiserver runs: both live through the
// same random stories. It is a module of its own because package fieldmanager must not
// depend on k8s.io/apimachinery.
package fidelity
