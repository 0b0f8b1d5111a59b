// Package apiserver is the HTTP handler of a Kubernetes API server over a store
// in memory.
//
// A request takes one path, whatever its verb and resource:
//
//	authenticate -> impersonate -> authorize -> decode -> default -> admit -> validate -> commit -> encode
//
// It takes the registry of resource types once, at its start, so it sees one
// set of types to its end. Built-in and custom resources differ by what their
// resource.Type says, not by the code they run through. The verbs differ in
// the middle of the path: get.go, list.go, watch.go, create.go, update.go,
// delete.go.
//
// Handlers return Go errors; errors.go turns them into a Status.
package apiserver
