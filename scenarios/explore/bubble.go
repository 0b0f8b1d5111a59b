//go:build !go1.25

package explore

// bubbleFor returns nil: testing/synctest needs Go 1.25.
func bubbleFor(TB) enclosure { return nil }
