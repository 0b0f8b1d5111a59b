// Package linearizability holds a test alone: that the store of package mvcc is
// linearizable, judged by porcupine. It is a module of its own so that nothing
// else depends on porcupine.
package linearizability
