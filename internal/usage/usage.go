package usage

import "github.com/kubefake/kubefake/fakeapi/usage"

// The values of package fakeapi/usage that a Recorder takes and returns.
type (
	Usage      = usage.Usage
	Request    = usage.Request
	Permission = usage.Permission
	Object     = usage.Object
	Reason     = usage.Reason
)

// Dir is that of package fakeapi/usage.
const Dir = usage.Dir

// The reasons of package fakeapi/usage.
const (
	OwnerReferences = usage.OwnerReferences
	Creates         = usage.Creates
	Grants          = usage.Grants
	Impersonates    = usage.Impersonates
	Admission       = usage.Admission
	InitialEvents   = usage.InitialEvents
)
