package certificates

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
)

var podCertificateRequestStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		Default:             defaultPodCertificateRequest,
		ValidateInNamespace: validateIssue,
		Validate:            validatePodCertificateRequest,
		SelectableFields: []resource.Field{
			kind.SelectableField("spec.signerName", "spec", "signerName"),
			kind.SelectableField("spec.podName", "spec", "podName"),
			kind.SelectableField("spec.nodeName", "spec", "nodeName"),
		},
		NoNamespaceField: true,
		FieldLabelError:  kind.FieldLabelNotSupported,
	},
	Status: kind.Status{Metadata: kind.StatusMetadataNone, ResetSince: behavior.ResetsPodCertificates},
	Cells:  podCertificateRequestCells,
}

// The types of the conditions of a PodCertificateRequest. It gets at most one of them, once.
const (
	podCertificateIssued = "Issued"
	podCertificateDenied = "Denied"
	podCertificateFailed = "Failed"
)

func defaultPodCertificateRequest(obj map[string]any) {
	object.SetDefault(object.EnsureMap(obj, "spec"), "maxExpirationSeconds", int64(86400))
}
