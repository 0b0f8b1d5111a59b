package storage

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

const (
	// labelSetSlots is how many sets of labels are kept for the next objects. It is several
	// times the number of sets in a large cluster, because a set replaces another one in its
	// slot.
	labelSetSlots = 8192
	// maxSharedLabels is the size of the largest set that is kept.
	maxSharedLabels = 16
)

// labelSets has the labels of objects that were encoded before, at the slots of their hashes.
// Objects with equal labels, such as the Pods of a ReplicaSet, share one map. The maps are
// immutable.
var labelSets [labelSetSlots]atomic.Pointer[map[string]string]

var labelSeed = maphash.MakeSeed()

// labelsOf returns the labels of an object, and whether another object has the same map. They
// share no memory with the argument.
func labelsOf(labels map[string]any) (copied map[string]string, shared bool) {
	if len(labels) == 0 {
		return nil, false
	}
	slot, equal := labelSetOf(labels)
	if equal != nil {
		return equal, true
	}
	var room [2 * maxSharedLabels]string // avoids an allocation
	texts := room[:0]
	for key, v := range labels {
		if value, ok := v.(string); ok {
			texts = append(texts, key, value)
		}
	}
	all := strings.Join(texts, "") // one piece of memory for all
	copied = make(map[string]string, len(texts)/2)
	for i := 0; i < len(texts); i += 2 {
		key, value := len(texts[i]), len(texts[i+1])
		copied[all[:key]] = all[key:][:value]
		all = all[key+value:]
	}
	if slot != nil {
		kept := copied // escapes only here
		slot.Store(&kept)
	}
	return copied, false
}

// labelSetOf returns the slot of labels in labelSets, nil if there are too many, and
// the map there if it is equal to them.
func labelSetOf(labels map[string]any) (slot *atomic.Pointer[map[string]string], equal map[string]string) {
	if len(labels) > maxSharedLabels {
		return nil, nil
	}
	hash := uint64(0) // independent of the order
	for key, v := range labels {
		value, _ := v.(string)
		hash += maphash.String(labelSeed, key) ^ 3*maphash.String(labelSeed, value)
	}
	slot = &labelSets[hash%labelSetSlots]
	if kept := slot.Load(); kept != nil && equalLabels(*kept, labels) {
		return slot, *kept
	}
	return slot, nil
}

func equalLabels(a map[string]string, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for key, v := range b {
		if value, ok := a[key]; !ok || v != value {
			return false
		}
	}
	return true
}
