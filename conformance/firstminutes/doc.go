// Package firstminutes runs the script run, which does what a new user does in the first
// minutes: install, serve, kubectl, Helm, clients for JavaScript and Python, and the Go
// test of README.md.
package firstminutes
