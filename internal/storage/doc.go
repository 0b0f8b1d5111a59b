// Package storage stores API objects in an mvcc store. It implements the semantics of
// resourceVersion, resourceVersionMatch, limit and continue, and kube-apiserver's
// watch caches.
//
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions.
package storage
