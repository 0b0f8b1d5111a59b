// Package server is the HTTP handler of a Kubernetes API server.
//
// It reads a request, finds its user and its type, asks package registry, and
// writes the answer:
//
//	route -> authenticate -> impersonate -> authorize -> negotiate -> registry -> encode
//
// What happens to objects is in package registry, which knows nothing of HTTP.
// Errors become a Status in errors.go.
package server
