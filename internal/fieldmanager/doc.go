// Package fieldmanager keeps track of who owns which field of an object, and merges
// applied configurations by it: the server-side apply and the
// metadata.managedFields of Kubernetes, over structured-merge-diff.
//
// # Terms
//
// A manager is the name a client goes by. An entry of managedFields says which
// fields one manager owns through one operation: Apply for server-side applies,
// Update for every other write. What it owns is a field set, a tree whose steps
// are field names, keys of map-list elements and values of set elements.
//
// # Two ways to write
//
// [Type.Update] is told of an object that has been written by other means than
// an apply. The manager comes to own what it changed, and everybody else loses
// that. [Type.Apply] merges a configuration into an object: the manager comes to
// own exactly the fields of the configuration, what it no longer mentions is
// removed unless somebody else owns it, and changing what others own is a
// [ConflictError] unless forced.
//
// When an object without managed fields is applied to, what it has goes to the
// manager before-first-apply. At most ten Update entries are kept; the oldest
// beyond are merged into ancient-changes.
//
// # Objects
//
// Objects are the generic form of package object. Of a built-in kind they must
// be in canonical form (package wire): the fields that a Go struct writes even
// when they are empty are part of what an object has, and so of what a write
// adds to it. Numbers are int64 or float64. Nothing here modifies an object
// that it is given. What is returned shares parts with what was given and, in
// its managedFields, with other results: copy before changing any of it.
package fieldmanager
