// Package storage keeps API objects in an mvcc store and reads them under the
// rules of resourceVersion, resourceVersionMatch, limit and continue.
//
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions.
package storage
