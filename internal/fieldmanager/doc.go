// Package fieldmanager records which manager owns which field of an object. It
// implements server-side apply and metadata.managedFields of Kubernetes on
// structured-merge-diff.
//
// # Terms
//
// A manager is a client, identified by a name. An entry of managedFields is the
// set of fields that one manager owns through one operation: Apply for
// server-side applies, Update for every other write. A field set is a tree
// whose steps are field names, keys of map-list elements and values of set
// elements.
//
// # Two operations
//
// [Type.Update] records a write that is not an apply. The manager takes
// ownership of the fields it changed, and all other managers lose them.
// [Type.Apply] merges a configuration into an object. Afterwards the manager
// owns exactly the fields of the configuration; fields that it no longer lists
// are removed unless another manager owns them. Changing a field of another
// manager is a [ConflictError] unless forced.
//
// The first apply to an object without managed fields assigns its fields to the
// manager before-first-apply. At most ten Update entries are kept; the oldest
// ones beyond that are merged into ancient-changes.
//
// # Objects
//
// Objects are in the generic form of package object. Objects of built-in kinds
// must be in canonical form (package wire): a write owns the fields that the Go
// struct encodes even when they are empty. Numbers are int64 or float64. Only
// [Type.Update] changes an object that it is given. Results share memory with
// arguments and, in their managedFields, with other results: copy before
// changing them.
package fieldmanager
