// Package faults describes what goes wrong on purpose between clients and a server: requests
// that fail, wait or break, and watches that end, stall or expire.
//
//	fault := faults.Fault{Verb: "update", Resource: "deployments.apps", Times: 2, Code: 409}
//	injection, err := srv.Inject(fault)
//
// A [Fault] has a matcher (which requests), bounds (when and how often) and an effect. The
// functions of this package return the faults that tests use most. In a fault with Do, a
// function of the test decides what happens at each [Point].
//
// Faults are values: they do nothing until Server.Inject or WithFaults of package fakeapi.
// [Parse] reads them from files in YAML or JSON. All names of resources are as the
// documentation of package fakeapi specifies.
package faults
