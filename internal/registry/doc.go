// Package registry is the life of API objects without HTTP: create, update, patch,
// apply, delete, delete collection, get, list and watch, with their dry runs.
//
// A call takes a [Request], a plain value that names the resource, the object and
// the user, and returns objects or errors. Package server calls it for HTTP
// clients; fixtures, snapshots and what the server does on its own account call
// it directly. Nothing here asks whether a type is built in or custom: a
// [resource.Type] carries its codec, its conversion and its strategy.
//
// A write takes one path:
//
//	decode -> default -> managed fields -> mutate (plugins, policies, webhooks)
//	-> prepare -> validate -> admit (plugins, policies, webhooks, quota) -> commit
//
// create.go has the path of a new object, update.go that of every change to an
// object: PUT, patches and applies differ in how they make the new object of the
// old one. delete.go has deletion, commit.go the transactions. A change that loses
// a race against another write starts over from the newest object.
//
// Errors are *status.Status values with kube-apiserver's reason and text, or typed
// errors of package storage.
package registry
