// Package openapi serves the OpenAPI documents of an API server: under
// /openapi/v3 an index and a version 3 document for each group version, and at
// /openapi/v2 one version 2 document of all groups. The version 2 document is
// converted from the others.
package openapi
