// Package denyserviceexternalips is the DenyServiceExternalIPs admission plugin. It
// refuses new external IPs of Services.
package denyserviceexternalips

import (
	"errors"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Validator].
type Plugin struct{}

var _ admission.Validator = Plugin{}

// Name returns "DenyServiceExternalIPs".
func (Plugin) Name() string { return "DenyServiceExternalIPs" }

// Resources returns services.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "services"}}
}

// Validate refuses a Service with an external IP that it did not have before.
func (Plugin) Validate(a *admission.Attributes) error {
	if a.Subresource != "" {
		return nil
	}
	before := a.Old.Strings("spec", "externalIPs")
	for _, ip := range object.Strings(a.Object, "spec", "externalIPs") {
		if !slices.Contains(before, ip) {
			return errors.New("Use of external IPs is denied by admission control")
		}
	}
	return nil
}
