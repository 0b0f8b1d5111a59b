// Package controller is what controllers are written with: a Runtime that runs
// them, Informers with the objects of the server, Queues of keys, and Clients that
// write as the users that the real controllers are.
//
// # Order
//
// A Runtime runs its controllers one at a time, in one goroutine: controllers need
// no locks. It delivers each change of the store to the informers in the order of
// revisions, and calls the sync functions of all queues in the order in which their
// keys were added. Nothing depends on the scheduling of goroutines, so on a manual
// clock, with a seed, two runs are the same.
//
// After each sync the informers are brought up to date. A controller therefore sees
// its own writes at once, unless the watch cache of the resource lags: informers
// show what the watch cache shows, as those of kube-controller-manager do.
//
// # Time
//
// Delays, back-offs and periods use the clock of the server. On a running clock a
// goroutine of the Runtime runs what is due. On a manual clock nothing runs until
// Run is called.
//
// # Objects
//
// Controllers read and write objects in generic form; see package object. An Object
// of an informer is shared: Copy it before a change.
package controller
