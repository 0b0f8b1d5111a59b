// Package linearizability tests that the store of package mvcc is linearizable,
// with the checker porcupine.
package linearizability
