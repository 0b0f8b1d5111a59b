// Package fidelity holds tests that compare packages wire and codec with the Go
// types from which gen generates the table of package wire, and the documents of
// package openapi with recorded ones.
package fidelity
