package certificates

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// podCertificateRequestCells returns the cells of a PodCertificateRequest.
func podCertificateRequestCells(r table.Row) []any {
	state := "Pending"
	for _, c := range r.Objects("status", "conditions") {
		switch typ := object.String(c, "type"); typ {
		case "Issued", "Denied", "Failed":
			state = typ
		}
	}
	return []any{
		r.Name(), r.String("spec", "podName"), r.String("spec", "serviceAccountName"), r.String("spec", "nodeName"), r.String("spec", "signerName"),
		state, r.Labels("spec", "unverifiedUserAnnotations"),
	}
}
