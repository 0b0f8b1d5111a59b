// Package clients runs real clients of the newest release against the server:
// client-go, controller-runtime and kubectl.
package clients
