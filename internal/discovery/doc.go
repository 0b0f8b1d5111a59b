// Package discovery renders the discovery documents of an API server:
//
//	/                    every path
//	/api, /apis          the versions of the legacy group; the other groups
//	/apis/GROUP          the versions of a group
//	/api/v1,             the resources of a group version
//	/apis/GROUP/VERSION
//
// For clients that accept an APIGroupDiscoveryList, /api and /apis return all
// groups with all their versions and resources: aggregated discovery.
//
// [Documents] are made for one [Surface]; another surface has other Documents.
//
// Differs from kube-apiserver: aggregated discovery:
// apidiscovery.k8s.io/v2beta1, which servers up to v1.32 support, is not
// acceptable; such clients fall back to documents that are not aggregated. The
// "creationTimestamp": null in the metadata of servers up to v1.33 is omitted.
// Request: GET /apis with Accept
// application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList.
package discovery
