// Package fault makes things go wrong for the clients of an API server, on
// purpose: requests are delayed, refused or forgotten, answers break off,
// watches end, stall or expire, webhooks fail.
//
// A [Fault] says whom it hits (the matcher), when (the trigger) and what happens
// then (the effect). A [Set] holds those of one server. It stands between the
// wire and a [Backend], which answers what no fault hits: a server of one's own,
// or a proxy before another one. Nothing is known here of what stands behind.
//
// # Order
//
// A request meets the faults in the order of their injection, up to the first
// that answers it. Those behind that one see it, without effect. Whatever a fault
// matches counts for what it skips and for its draws, whether or not it is hit,
// so that a fault goes on as it would without the others.
//
// # Chance
//
// A fault with a probability draws for each request from a stream of random
// numbers that is made of its seed, of what the fault says, and of who asks for
// what: method, verb, path and user agent. The nth such request meets the same
// fate in every run, whatever other clients do meanwhile.
//
// # Watches
//
// The answer to a watch passes through a stream, which tells events apart by the
// format of the answer and can be closed, reset, expired, paused and slowed at any
// time between two of them.
package fault
