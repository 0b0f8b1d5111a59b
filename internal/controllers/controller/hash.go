package controller

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
)

// alphabet are the letters of generated names: no vowels, so that they spell no words.
const alphabet = "bcdfghjklmnpqrstvwxz2456789"

// SafeEncode replaces each letter of s by one of the alphabet of generated names.
func SafeEncode(s string) string {
	b := make([]byte, len(s))
	for i := range s {
		b[i] = alphabet[int(s[i])%len(alphabet)]
	}
	return string(b)
}

// Hash returns the hash of a Pod template, or of other content, as names and labels
// have it. collisions is the collision count of the owner.
//
// Differs from kube-apiserver: hashes of Pod templates: kube-controller-manager hashes
// the Go structures of the template, here its JSON is hashed. Request: GET of the
// ReplicaSets of a Deployment with controllers on.
func Hash(content any, collisions int64) string {
	data, _ := json.Marshal(content)
	h := fnv.New32a()
	h.Write(data)
	if collisions > 0 {
		h.Write([]byte(strconv.FormatInt(collisions, 10)))
	}
	return SafeEncode(strconv.FormatUint(uint64(h.Sum32()), 10))
}
