// Package fidelity holds tests that compare packages of this project with the
// Kubernetes libraries that kube-apiserver v1.37.2 runs: the same inputs, chosen
// and random, must give the same results and errors. It is a module of its own
// because the root module must not require those libraries.
package fidelity
