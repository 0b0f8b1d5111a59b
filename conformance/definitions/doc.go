// Package definitions holds tests alone: the CustomResourceDefinitions of well
// known projects are installed and served. They are read from the Go modules
// that carry them, which are downloaded and not built, so that go.mod does not
// require them and what they require.
package definitions
