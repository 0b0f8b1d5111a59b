//go:build go1.26

// The command has the GODEBUG defaults of Go 1.26. Without this line it would have
// those of the go directive in go.mod, which names the oldest Go that builds it.
//
//go:debug default=go1.26

package main
