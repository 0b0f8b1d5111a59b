// Package serving is what the API servers of a cluster serve: for each release an [API], with
// a [Surface] of the types of the release and of the CustomResourceDefinitions.
//
// Package registry writes objects by the rules of a Surface. Package cluster makes another
// Surface when the definitions change, or the release.
package serving
