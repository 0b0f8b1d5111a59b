// Package release holds what depends on the Kubernetes release that a server
// serves: its resources, in which versions and with which verbs, their OpenAPI
// documents, the deprecated kinds, and the objects of a fresh cluster. All of it
// is recorded or generated, and embedded.
//
//   - release, this package, reads the data of a release.
//   - release/surface is the text form of an API surface.
//   - release/descriptions is the text form of the descriptions in OpenAPI
//     documents.
//   - release/data embeds the generated files, and describes each. Packages
//     wire, table and unversioned read theirs from it.
//   - release/flags has the command line flags of kube-apiserver and etcd.
//   - release/gen is the command that generates them. It is a module of its own,
//     because it links the Go types of Kubernetes.
//   - release/gen/recordings holds what kube-apiservers answered: the input.
//
// # Adding a release
//
// Start a kube-apiserver of the release with an empty etcd, and record it. A
// release needs three recordings: of a server with default flags, of one with
// --runtime-config=api/all=true, and of one that turns all feature gates on too.
// Each command also generates the data:
//
//	export GOWORK=off
//	go -C internal/release/gen run . -server https://127.0.0.1:6443 -token TOKEN
//	go -C internal/release/gen run . -server https://127.0.0.1:6443 -token TOKEN -variant all
//	go -C internal/release/gen run . -server https://127.0.0.1:6443 -token TOKEN -variant gates
//
// For a newer release than Newest, change Newest, the versions of k8s.io modules in
// gen/go.mod and the group versions in gen/scheme first. Without -server the command only
// generates. The tests of gen fail if the data is not what it generates.
//
// CONTRIBUTING.md has the whole recipe. Newest and Default differ while a release has data, but
// the corpus is not yet recorded from it: Default is the release that a server without options
// serves, and changes when the recordings do.
package release
