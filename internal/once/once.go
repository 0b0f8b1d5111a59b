// Package once makes values that are needed again and again, and that depend on a key only.
package once

import "sync"

// PerKey returns a function that calls value once for each key, when it is first called with the key,
// and returns the same result from then on. Calls with the same key wait for the first one, those with others do
// not. Values are kept for ever. The function is safe for concurrent use.
//
// If value panics, each call with the key panics with the same value.
func PerKey[K comparable, V any](value func(K) V) func(K) V {
	var all sync.Map // of K to func() V
	return func(key K) V {
		made, ok := all.Load(key)
		if !ok {
			made, _ = all.LoadOrStore(key, sync.OnceValue(func() V { return value(key) }))
		}
		return made.(func() V)()
	}
}
