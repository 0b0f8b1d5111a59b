package fakeapi

// A Scope is the resources that something is done to.
type Scope struct{ resource string }

// AllResources is the scope of every resource.
var AllResources Scope

// Resource is the scope of one resource, named as kubectl takes it: "pods",
// "po", "deployments.apps".
func Resource(name string) Scope { return Scope{name} }
