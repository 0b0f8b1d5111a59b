package certificates

import (
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// signingRequestCells returns the cells of a CertificateSigningRequest.
func signingRequestCells(r table.Row) []any {
	requested := table.None
	if n, ok := object.Int(r.Obj, "spec", "expirationSeconds"); ok {
		requested = table.Duration(time.Duration(n) * time.Second)
	}
	return []any{r.Name(), r.Age(), r.Or(table.None, "spec", "signerName"), r.String("spec", "username"), requested, signingStatus(r)}
}

// signingStatus returns the conditions of a signing request.
func signingStatus(r table.Row) string {
	status := "Pending"
	switch {
	case r.Condition("Denied") != nil:
		status = "Denied"
	case r.Condition("Approved") != nil:
		status = "Approved"
	}
	if r.Condition("Failed") != nil {
		status += ",Failed"
	}
	if r.String("status", "certificate") != "" {
		status += ",Issued"
	}
	return status
}
