// Package conformance compares the server with a real kube-apiserver.
//
// TestCorpus plays the scenarios in testdata/corpus, sequences of HTTP exchanges
// recorded from a real kube-apiserver, against a server of this project and
// requires the same answers. testdata/pending.txt lists the scenarios that do not
// pass yet, with reasons.
//
// The package clients runs client-go, controller-runtime and kubectl against the
// server. The module clientsuite has the tests that it shares with an older
// client-go.
//
// All of them start a server in process. If CONFORMANCE_SERVER is set to a base
// URL, they use that server instead; see the package target for the variables.
package conformance
