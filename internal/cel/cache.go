package cel

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"sync"

	"github.com/kubefake/kubefake/internal/schema"
)

// A contentKey tells schemas apart by what is in them.
type contentKey struct {
	sum   [sha256.Size]byte
	whole bool
}

// cache has the rules of schemas that were compiled in this process: a
// func() *node by contentKey.
var cache = struct {
	sync.Mutex
	nodes map[contentKey]func() *node
}{nodes: map[contentKey]func() *node{}}

// cached is how many schemas are kept. Beyond that all are dropped: it takes a
// test that makes up schemas to get there.
const cached = 1024

// compiledSchema returns the rules of a schema.
func compiledSchema(s *schema.Schema, whole bool) *node {
	key := contentKey{content(s), whole}
	cache.Lock()
	compile, ok := cache.nodes[key]
	if !ok {
		if len(cache.nodes) >= cached {
			clear(cache.nodes)
		}
		compile = sync.OnceValue(func() *node { return newNode(s, newType(s, whole)) })
		cache.nodes[key] = compile
	}
	cache.Unlock()
	return compile()
}

// content is a digest of all that matters to rules.
func content(s *schema.Schema) [sha256.Size]byte {
	h := sha256.New()
	digest(h, s)
	return [sha256.Size]byte(h.Sum(nil))
}

// digest writes a schema's text, of which the parts cannot be taken for each
// other.
func digest(h hash.Hash, s *schema.Schema) {
	if s == nil {
		fmt.Fprint(h, "-")
		return
	}
	fmt.Fprintf(h, "{%q %q %t %q %q %t %t %t %q %t", s.Type, s.Format, s.Nullable, s.ListType, s.ListMapKeys,
		s.IntOrString, s.PreserveUnknownFields, s.EmbeddedResource, s.Required, s.Default != nil)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		fmt.Fprintf(h, "%q:", name)
		digest(h, s.Properties[name])
	}
	fmt.Fprintf(h, "%t", s.Properties == nil)
	digest(h, s.Additional)
	digest(h, s.Items)
	if c := s.Constraints; c != nil {
		own := *c
		own.AllOf, own.AnyOf, own.OneOf, own.Not = nil, nil, nil, nil
		text, _ := json.Marshal(own) // no part of it can fail
		h.Write(text)
		for _, junctor := range c.AllOf {
			digest(h, junctor)
		}
	}
	fmt.Fprint(h, "}")
}
