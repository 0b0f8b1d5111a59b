// Package openapi serves the OpenAPI documents of an API server: an index and
// a version 3 document for each group version, under /openapi/v3, and one
// version 2 document of everything at /openapi/v2, which is made out of the
// others.
//
// Differs from kube-apiserver: documents are served without Last-Modified, and
// the v2 definitions of DeleteOptions and WatchEvent list the kinds of one group
// version, not of all.
package openapi
