// Package conformance compares the server with a real kube-apiserver.
//
// TestCorpus plays the scenarios in testdata/corpus, sequences of HTTP
// exchanges that a real kube-apiserver answered, against a server of this
// project and demands the same answers. Scenarios that cannot pass yet stand
// with their reasons in testdata/pending.txt.
//
// The package clients runs real clients (client-go, controller-runtime,
// kubectl) against the server; the module oldclient runs client-go of an older
// release; both share the module clientsuite.
//
// All of them start a server in process. With CONFORMANCE_SERVER set to a base
// URL they use that server instead; see the package target for the variables.
package conformance
