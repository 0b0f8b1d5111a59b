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
package discovery
