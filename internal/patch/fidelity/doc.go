// Package fidelity compares package patch with the Kubernetes code it stands in
// for. It is a module of its own because it needs that code:
//
//	GOWORK=off go test .
package fidelity
