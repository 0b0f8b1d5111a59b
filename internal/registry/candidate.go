package registry

import (
	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/object"
)

// A candidate is an object on its way from the body of a request to the store, with what the steps
// of the write have found out about it. It belongs to one attempt: after a lost race, the next attempt
// makes another one of the body.
type candidate struct {
	// object has the version of the request. It is the body of an action, and a Scale until mergeView.
	object map[string]any

	stored              map[string]any // object in the storage version; see stored.go
	textLen             int            // length of the document that new strings of object are from: the body, or a patched text
	match               prototypeMatch
	rawMetadata         bool              // see hasRawMetadata
	nullTexts           [][]string        // see nullTexts
	fractions           map[string]string // what is stored of the times with fractions of a second in the object
	hasFractions        bool              // whether it had some when it was validated
	nameBeforeAdmission string            // of a new object
	replaced            bool              // policies or webhooks have replaced object
	unpruned            bool              // object may have unknown fields until it is stored: it is the result of an apply or has the replicas of a Scale
	valid               bool              // the strategy has found nothing wrong with the object of an update
	reservation         allocator.Reservation
}

// copy returns a candidate for another attempt with the same new object. It reserves nothing yet.
func (c *candidate) copy() *candidate {
	next := *c
	next.object, next.stored = object.Copy(c.object), object.Copy(c.stored)
	next.reservation = allocator.Reservation{}
	return &next
}

// meta returns the metadata of the object.
func (c *candidate) meta() map[string]any { return object.Meta(c.object) }
