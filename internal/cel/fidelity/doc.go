// Command fidelity writes what the libraries of k8s.io/apiserver v0.36.3 make of
// the expressions in testdata/expressions.jsonl. It is a module of its own, so
// that the server does not depend on what it is compared with. To judge an
// expression, add a line with nothing but it and run
//
//	GOWORK=off go run . ../testdata/expressions.jsonl
package main
