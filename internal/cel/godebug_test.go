//go:build go1.26

// Messages of package url are those of the Go version that builds kube-apiserver.
//
//go:debug default=go1.26
package cel
