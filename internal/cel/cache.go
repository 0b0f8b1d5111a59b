package cel

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/kubefake/kubefake/internal/schema"
)

// A digest is a hash of the parts of a schema that affect its rules.
type digest [sha256.Size]byte

// A contentKey identifies a compiled schema.
type contentKey struct {
	digest
	isResourceRoot bool
	version        Version
}

// A cache has compilation results of schemas for the whole process.
type cache[T any] struct {
	mu      sync.Mutex // guards entries
	entries map[contentKey]func() T
}

// maxCacheEntries is the number of entries of a cache. A full cache is emptied;
// only tests that generate schemas fill it.
const maxCacheEntries = 4096

func (c *cache[T]) get(key contentKey, compile func() T) T {
	c.mu.Lock()
	entry, ok := c.entries[key]
	if !ok {
		if c.entries == nil || len(c.entries) >= maxCacheEntries {
			c.entries = map[contentKey]func() T{}
		}
		entry = sync.OnceValue(compile)
		c.entries[key] = entry
	}
	c.mu.Unlock()
	return entry()
}

var (
	nodes    cache[*node]
	ruleSets cache[*ruleSet]
)

// compiledSchema returns the compiled rules of a schema and its subschemas.
func compiledSchema(s *schema.Schema, isResourceRoot bool) *node {
	h := schemaHasher{}
	return nodes.get(contentKey{h.digest(s), isResourceRoot, 0}, func() *node { return h.node(s, newDeclType(s, isResourceRoot)) })
}

// A ruleSet has the compiled rules of one schema, and the properties of the schema
// that their cost depends on.
type ruleSet struct {
	rules             []compiledRule
	err               error
	visible           bool
	minSerializedSize int64
}

// A schemaHasher computes digests of schemas and caches them by schema.
type schemaHasher map[*schema.Schema]digest

// ruleSet returns the compiled rules of a schema, without those of its
// subschemas. The rules are compatible with a version.
func (h schemaHasher) ruleSet(v Version, s *schema.Schema, isResourceRoot bool) *ruleSet {
	return ruleSets.get(contentKey{h.digest(s), isResourceRoot, v}, func() *ruleSet {
		t := newDeclType(s, isResourceRoot)
		r := &ruleSet{visible: t.visible, minSerializedSize: t.minSerializedSize}
		r.rules, r.err = compileRules(v, t, rulesOf(s))
		return r
	})
}

// rules compiles the rules of s for values of type t. t is the type of another
// schema if s is an element of allOf.
func (h schemaHasher) rules(s *schema.Schema, t *declType) ([]compiledRule, error) {
	if len(rulesOf(s)) == 0 || t.source != s {
		return compileRules(0, t, rulesOf(s))
	}
	r := h.ruleSet(0, s, t.isResourceRoot)
	return r.rules, r.err
}

// digest returns the digest of s, the zero digest for nil.
func (h schemaHasher) digest(s *schema.Schema) digest {
	if sum, ok := h[s]; ok || s == nil {
		return sum
	}
	sum := digest(sha256.Sum256(h.content(s)))
	h[s] = sum
	return sum
}

// content serializes s unambiguously. Subschemas are represented by their digests.
func (h schemaHasher) content(s *schema.Schema) []byte {
	b := make([]byte, 0, 512)
	number := func(n int64) { b = append(strconv.AppendInt(b, n, 10), ' ') }
	text := func(s string) {
		number(int64(len(s)))
		b = append(b, s...)
	}
	texts := func(list []string) {
		number(int64(len(list)))
		for _, s := range list {
			text(s)
		}
	}
	subschema := func(s *schema.Schema) {
		sum := h.digest(s)
		b = append(b, sum[:]...)
	}
	for _, s := range []string{s.Type, s.Format, s.ListType, s.MapType} {
		text(s)
	}
	texts(s.ListMapKeys)
	texts(s.Required)
	for _, is := range []bool{s.Nullable, s.IntOrString, s.PreserveUnknownFields, s.EmbeddedResource, s.Default != nil, s.Properties != nil} {
		b = strconv.AppendBool(b, is)
	}
	number(int64(len(s.Properties)))
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		text(name)
		subschema(s.Properties[name])
	}
	subschema(s.Additional)
	subschema(s.Items)
	c := s.Constraints
	if c == nil {
		return b
	}
	for _, limit := range []*int64{c.MaxLength, c.MaxItems, c.MaxProperties} {
		if limit == nil {
			number(-1)
			continue
		}
		number(max(*limit, 0))
	}
	number(maxString(c))
	number(int64(len(c.Rules)))
	for _, r := range c.Rules {
		reason, optional := "", ""
		if r.Reason != nil {
			reason = "=" + *r.Reason
		}
		if r.OptionalOldSelf != nil {
			optional = strconv.FormatBool(*r.OptionalOldSelf)
		}
		texts([]string{r.Rule, r.Message, r.MessageExpression, r.FieldPath, reason, optional})
	}
	for _, sub := range c.AllOf {
		subschema(sub)
	}
	return b
}
