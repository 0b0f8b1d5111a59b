// Package versus measures this server beside what tests use instead: controller-runtime's
// fake client, the fake clientsets of client-go, and envtest. All of them are used through the
// same client code, that of controller-runtime or of client-go.
//
// The tests do each operation once. The script run measures them and prints a table.
package versus
