// Package conformance compares the server with a real kube-apiserver.
//
// TestCorpus plays the scenarios in testdata/corpus, which a real kube-apiserver has
// answered, against a server of this project and requires the same answers.
// testdata/pending.txt lists the scenarios that cannot pass yet, with the reasons.
//
// Package clients runs client-go, controller-runtime and kubectl against the server.
// Module oldclient runs client-go of an older release. Both use module clientsuite.
//
// All of them start a server in process. If CONFORMANCE_SERVER is the base URL of a
// server, they use that server instead. See package target for the variables.
package conformance
