// Package fault injects faults between the clients of an API server and the
// server: delayed, refused and lost responses, broken connections, watches that
// end, stall or expire, and failing webhook calls.
//
// A [faults.Fault] has a matcher (which requests), a trigger (when and how often) and an
// effect (what happens). A [Set] holds the faults of one server. It handles
// requests before a [Backend], which serves every request that no fault responds
// to: the server of this module, or a proxy to another one. This package knows
// nothing of what the backend stores.
//
// # Order
//
// A request is matched with the faults in the order of their injection, up to
// the first that responds to it. Later faults count the request as matched, but
// have no effect on it. A fault counts every request that it matches for its
// Skip and its random draws, whether it hits the request or not, so that other
// faults do not change which requests it hits.
//
// # Random draws
//
// A fault with a probability draws a random number for each matching request.
// The generator is seeded with the fault's seed, the fault's fields, and the
// method, verb, path and user agent of the request. The nth equal request gets
// the same draw in every run, whatever other clients do in between.
//
// # Watches
//
// The response to a watch is written through a stream, which splits it into
// events according to its media type. Faults can close, reset, expire, pause and
// slow a stream between any two events.
package fault
