package table

import (
	"time"

	"github.com/kubefake/kubefake/internal/object"
)

// extensionPrinters print the kinds of the aggregation layer and of
// certificates.
var extensionPrinters = map[string]printer{
	"apiregistration.k8s.io/APIService": func(r row) []any {
		service, available := "Local", "Unknown"
		if r.has("spec", "service") {
			service = r.str("spec", "service", "namespace") + "/" + r.str("spec", "service", "name")
		}
		for _, c := range objects(r.list("status", "conditions")) {
			if object.String(c, "type") != "Available" {
				continue
			}
			available = object.String(c, "status")
			if reason := object.String(c, "reason"); available != "True" && reason != "" {
				available += " (" + reason + ")"
			}
			break
		}
		return []any{r.name(), service, available, r.age()}
	},
	"certificates.k8s.io/CertificateSigningRequest": func(r row) []any {
		requested := none
		if n, ok := object.Int(r.obj, "spec", "expirationSeconds"); ok {
			requested = Duration(time.Duration(n) * time.Second)
		}
		return []any{r.name(), r.age(), r.or(none, "spec", "signerName"), r.str("spec", "username"), requested, signingStatus(r)}
	},
	"certificates.k8s.io/ClusterTrustBundle": func(r row) []any {
		return []any{r.name(), r.or(none, "spec", "signerName")}
	},
	"certificates.k8s.io/PodCertificateRequest": func(r row) []any {
		state := "Pending"
		for _, c := range objects(r.list("status", "conditions")) {
			switch typ := object.String(c, "type"); typ {
			case "Issued", "Denied", "Failed":
				state = typ
			}
		}
		return []any{
			r.name(), r.str("spec", "podName"), r.str("spec", "serviceAccountName"), r.str("spec", "nodeName"), r.str("spec", "signerName"),
			state, r.labels("spec", "unverifiedUserAnnotations"),
		}
	},
}

// signingStatus returns the conditions of a signing request.
func signingStatus(r row) string {
	status := "Pending"
	switch {
	case r.condition("Denied") != nil:
		status = "Denied"
	case r.condition("Approved") != nil:
		status = "Approved"
	}
	if r.condition("Failed") != nil {
		status += ",Failed"
	}
	if r.str("status", "certificate") != "" {
		status += ",Issued"
	}
	return status
}
