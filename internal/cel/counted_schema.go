package cel

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/coverage"
)

// A CountedSchema is the schema of a version of a definition, the results of whose rules are
// counted while the switch has a profile.
type CountedSchema struct {
	Switch *coverage.Switch
	// Kind and Name are those of the definition, and Path is that of the schema in it.
	Kind, Name, Version, Path string

	last atomic.Pointer[profileCounters]
}

// A profileCounters has the counters of a profile.
type profileCounters struct {
	profile  *coverage.Profile
	counters ruleCounters
}

// ruleCounters are the counters of the rules of each node.
type ruleCounters map[*node][]*coverage.Counter

// of returns the counter of a rule of a node; nil if there is none.
func (c ruleCounters) of(n *node, rule int) *coverage.Counter {
	if c == nil {
		return nil
	}
	return c[n][rule]
}

// Counted returns the Validator with results that are counted as those of a schema.
func (v *Validator) Counted(as *CountedSchema) *Validator {
	if v == nil {
		return nil
	}
	return &Validator{root: v.root, options: v.options, counted: as}
}

// Count adds the rules to the profile of the switch, as some may never be evaluated.
func (v *Validator) Count() {
	if v != nil && v.counted.Switch.Profile() != nil {
		v.counted.of(v.root())
	}
}

// of returns the counters of the rules of a schema; nil if they are not counted.
func (s *CountedSchema) of(root *node) ruleCounters {
	if s == nil {
		return nil
	}
	profile := s.Switch.Profile()
	if profile == nil {
		return nil
	}
	if last := s.last.Load(); last != nil && last.profile == profile {
		return last.counters
	}
	counters := ruleCounters{}
	s.add(profile, counters, root, s.Path, "")
	s.last.Store(&profileCounters{profile, counters})
	return counters
}

// add adds the counters of a node and of those within it. path is that of its schema, and field
// that of its values.
func (s *CountedSchema) add(p *coverage.Profile, counters ruleCounters, n *node, path, field string) {
	if n == nil {
		return
	}
	for i := range n.rules {
		r := &n.rules[i]
		typ := coverage.SchemaRule
		if r.transition {
			typ = coverage.Transition
		}
		counters[n] = append(counters[n], p.Counter(coverage.Rule{
			Kind: s.Kind, Name: s.Name, Version: s.Version, Type: typ,
			Path:  fmt.Sprintf("%s.x-kubernetes-validations[%d].rule", path, i),
			Field: strings.TrimPrefix(field, "."), Expression: strings.TrimSpace(r.Rule.Rule),
		}))
	}
	s.add(p, counters, n.items, path+".items", field+"[]")
	s.add(p, counters, n.additional, path+".additionalProperties", field+"[]")
	for _, property := range n.properties {
		name := property.name
		if strings.ContainsAny(name, ".[") {
			name = "[" + name + "]"
		} else {
			name = "." + name
		}
		s.add(p, counters, property.node, path+".properties"+name, field+name)
	}
	for i, sub := range n.allOf {
		s.add(p, counters, sub, fmt.Sprintf("%s.allOf[%d]", path, i), field)
	}
}
