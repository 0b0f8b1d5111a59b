// Package alwaysdeny is the AlwaysDeny admission plugin. It refuses every write and
// every connection.
package alwaysdeny

import (
	"errors"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Mutator], [admission.Validator] and [admission.OperationPlugin].
type Plugin struct{}

var (
	_ admission.Mutator         = Plugin{}
	_ admission.Validator       = Plugin{}
	_ admission.OperationPlugin = Plugin{}
)

var errDenied = errors.New("admission control is denying all modifications")

// Name returns "AlwaysDeny".
func (Plugin) Name() string { return "AlwaysDeny" }

// Resources returns nil: all resources.
func (Plugin) Resources() []status.GroupResource { return nil }

// Operations returns Delete and Connect.
func (Plugin) Operations() []admission.Operation {
	return []admission.Operation{admission.Delete, admission.Connect}
}

// Mutate refuses the request.
func (Plugin) Mutate(*admission.Attributes) error { return errDenied }

// Validate refuses the request.
func (Plugin) Validate(*admission.Attributes) error { return errDenied }

// CheckOperation refuses the request.
func (Plugin) CheckOperation(*admission.Attributes) error { return errDenied }
