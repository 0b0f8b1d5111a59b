// Package clientsuite tests an API server with client-go.
//
// Each exported function that takes only a *testing.T is one test; the package
// target starts the server. Importers run the tests with the client-go that they
// require. The module requires an old client-go, with which its own tests run, so
// the package uses only what client-go has had since.
package clientsuite
