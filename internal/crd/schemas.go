package crd

import (
	"sync"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
)

// maxRecent is the number of schemas that recentSchemas keeps.
const maxRecent = 16

// recentSchemas has the schemas that were validated last and are not served yet: a
// definition is served right after it was validated, and reading its schemas takes a tenth
// of its creation. It is safe for concurrent use.
type recentSchemas struct {
	mu     sync.Mutex // guards the fields below
	recent [maxRecent]recentSchema
	next   int // the oldest of recent
}

// A recentSchema is an openAPIV3Schema and its schema.
type recentSchema struct {
	props  map[string]any
	schema *schema.Schema
}

// validated has the schemas of all servers.
var validated recentSchemas

// put keeps the schema of an openAPIV3Schema, which must not be changed any more.
func (c *recentSchemas) put(props map[string]any, s *schema.Schema) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent[c.next] = recentSchema{props, s}
	c.next = (c.next + 1) % maxRecent
}

// take returns the schema of an openAPIV3Schema. It reads the schema, unless it keeps that
// of the same map, which it drops then.
func (c *recentSchemas) take(props map[string]any) (*schema.Schema, error) {
	if s := c.remove(props); s != nil {
		return s, nil
	}
	return schema.FromProps(props)
}

// remove returns the schema of a map and drops it. It returns nil if there is none.
func (c *recentSchemas) remove(props map[string]any) *schema.Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.recent {
		if object.Same(r.props, props) {
			c.recent[i] = recentSchema{}
			return r.schema
		}
	}
	return nil
}
