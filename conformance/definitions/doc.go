// Package definitions tests that the CustomResourceDefinitions of well-known
// projects can be installed and are served. It reads them from the projects' Go
// modules. The modules are downloaded but not built, so go.mod does not require
// them.
package definitions
