package registry

import (
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/flowcontrol"
)

// A flowClassifier keeps the Classifier of the FlowSchemas in the store. It is
// made when a request needs it, because most servers are used for few requests.
type flowClassifier struct {
	generation atomic.Int64 // raised after a write of the group
	made       atomic.Pointer[madeClassifier]
}

type madeClassifier struct {
	*flowcontrol.Classifier
	generation int64 // before the FlowSchemas were read
}

// changed has the next request make a new Classifier.
func (f *flowClassifier) changed() { f.generation.Add(1) }

// Classify returns the FlowSchema and the priority level of a request that the user
// makes and that does at, nil if the FlowSchemas do not match it.
func (g *Registry) Classify(u *authn.User, at *authz.Attributes) *flowcontrol.Class {
	generation := g.flows.generation.Load()
	c := g.flows.made.Load()
	if c == nil || c.generation != generation {
		api := g.api()
		schemas, levels := api.types.Find("flowschemas."+flowcontrol.Group), api.types.Find("prioritylevelconfigurations."+flowcontrol.Group)
		if schemas == nil || levels == nil {
			return nil
		}
		c = &madeClassifier{flowcontrol.New(api.parsed, g.store.All(schemas.Prefix), g.store.All(levels.Prefix)), generation}
		g.flows.made.Store(c)
	}
	return c.Classify(u, at)
}
