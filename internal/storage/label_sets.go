package storage

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	// labelSetSlots is how many sets of labels are kept for the next objects.
	labelSetSlots = 1024
	// maxSharedLabels is the size of the largest set that is kept.
	maxSharedLabels = 16
)

// labelSets has the labels of objects that were encoded before, at the slots of their hashes.
// Objects with equal labels, such as the Pods of a ReplicaSet, share one map. The maps are
// immutable.
var labelSets [labelSetSlots]atomic.Pointer[map[string]string]

var labelSeed = maphash.MakeSeed()

// labelSetOf returns the slot of labels in labelSets, nil if there are none or too many, and
// the map there if it is equal to them.
func labelSetOf(labels map[string]any) (slot *atomic.Pointer[map[string]string], equal map[string]string) {
	if len(labels) == 0 || len(labels) > maxSharedLabels {
		return nil, nil
	}
	hash := uint64(0) // independent of the order
	for key, v := range labels {
		value, _ := v.(string)
		hash += maphash.String(labelSeed, key) ^ 3*maphash.String(labelSeed, value)
	}
	slot = &labelSets[hash%labelSetSlots]
	kept := slot.Load()
	if kept == nil || len(*kept) != len(labels) {
		return slot, nil
	}
	for key, v := range labels {
		if value, ok := (*kept)[key]; !ok || v != value {
			return slot, nil
		}
	}
	return slot, *kept
}
