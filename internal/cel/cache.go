package cel

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/kubefake/kubefake/internal/schema"
)

// A digest tells schemas apart by all that matters to rules.
type digest [sha256.Size]byte

// A contentKey is a schema, and whether it is that of an API object.
type contentKey struct {
	digest
	whole bool
}

// A cache has what was compiled of schemas in this process.
type cache[T any] struct {
	sync.Mutex
	made map[contentKey]func() T
}

// cached is how many schemas a cache keeps. Beyond that all are dropped: it takes
// a test that makes up schemas to get there.
const cached = 4096

func (c *cache[T]) get(key contentKey, compile func() T) T {
	c.Lock()
	made, ok := c.made[key]
	if !ok {
		if c.made == nil || len(c.made) >= cached {
			c.made = map[contentKey]func() T{}
		}
		made = sync.OnceValue(compile)
		c.made[key] = made
	}
	c.Unlock()
	return made()
}

var (
	nodes    cache[*node]
	ruleSets cache[*ruleSet]
)

// compiledSchema returns the rules of a schema and of those within it.
func compiledSchema(s *schema.Schema, whole bool) *node {
	d := digests{}
	return nodes.get(contentKey{d.of(s), whole}, func() *node { return d.node(s, newType(s, whole)) })
}

// A ruleSet has the rules of one schema. It knows no more of the type of their
// values than what costs depend on.
type ruleSet struct {
	rules   []compiled
	err     error
	visible bool
	minJSON int64
}

// digests are those of schemas, which are trees, and of those within them.
type digests map[*schema.Schema]digest

// ruleSet returns the rules of a schema.
func (d digests) ruleSet(s *schema.Schema, whole bool) *ruleSet {
	return ruleSets.get(contentKey{d.of(s), whole}, func() *ruleSet {
		t := newType(s, whole)
		r := &ruleSet{visible: t.visible, minJSON: t.minJSON}
		r.rules, r.err = compileRules(t, rulesOf(s))
		return r
	})
}

// rules returns the rules of a schema that are about values of a type: of its own,
// unless it stands in a junctor.
func (d digests) rules(s *schema.Schema, t *Type) ([]compiled, error) {
	if len(rulesOf(s)) == 0 || t.of != s {
		return compileRules(t, rulesOf(s))
	}
	r := d.ruleSet(s, t.whole)
	return r.rules, r.err
}

func (d digests) of(s *schema.Schema) digest {
	if sum, ok := d[s]; ok || s == nil {
		return sum
	}
	sum := digest(sha256.Sum256(d.content(s)))
	d[s] = sum
	return sum
}

// content is a schema's text, in which no two parts can be taken for each other.
func (d digests) content(s *schema.Schema) []byte {
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
	part := func(s *schema.Schema) {
		sum := d.of(s)
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
		part(s.Properties[name])
	}
	part(s.Additional)
	part(s.Items)
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
	for _, junctor := range c.AllOf {
		part(junctor)
	}
	return b
}
