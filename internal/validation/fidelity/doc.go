// Package fidelity compares package validation with the functions of
// k8s.io/apimachinery v0.36.3, which kube-apiserver v1.36.3 runs: the same
// inputs, corner cases and random ones, must give the same messages in the same
// order. It is a module of its own, so that the server does not depend on what
// it is compared with.
//
//	GOWORK=off go test ./...
package fidelity
