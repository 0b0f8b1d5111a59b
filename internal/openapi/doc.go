// Package openapi serves the OpenAPI documents of an API server: under
// /openapi/v3 an index and a version 3 document for each group version, and at
// /openapi/v2 one version 2 document of all groups. The version 2 document is
// converted from the others.
//
// Differs from kube-apiserver: OpenAPI documents: they have no Last-Modified
// header, and the v2 definitions of DeleteOptions and WatchEvent list the kinds
// of one group version instead of all. Request: GET /openapi/v2.
package openapi
