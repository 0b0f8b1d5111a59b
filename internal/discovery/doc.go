// Package discovery renders the documents by which clients learn what an API
// server serves:
//
//	/                    every path
//	/api, /apis          the versions of the legacy group; the other groups
//	/apis/GROUP          the versions of a group
//	/api/v1,             the resources of a group version
//	/apis/GROUP/VERSION
//
// To clients that ask for an APIGroupDiscoveryList, /api and /apis answer all
// groups with all their versions and resources at once: aggregated discovery.
//
// The package is a function of what is served. [Documents] are made for one
// [Surface]; another surface has other Documents.
//
// Differs from kube-apiserver: apidiscovery.k8s.io/v2beta1, which servers up to
// v1.32 answer to clients that ask for it, is not acceptable, so that such
// clients fall back to documents that are not aggregated; and the
// "creationTimestamp": null that servers up to v1.33 put into aggregated
// metadata is left out.
package discovery
