// Package clientsuite drives client-go against an API server.
//
// It uses only what client-go has had in the last few releases, and requires
// an old one: the module that imports it decides which release is tested.
// Each exported function is one test; see the package target for the server.
package clientsuite
