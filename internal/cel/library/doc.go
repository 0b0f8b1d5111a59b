// Package library has the libraries of functions and types that kube-apiserver 1.36 adds
// to the Common Expression Language: lists, regex, url, quantity, ip, cidr, format,
// semver, authorizer and JSON patch. A file has one library, or two that share types.
//
// The functions return what those of kube-apiserver return, errors included. Package cel
// has their costs.
package library
