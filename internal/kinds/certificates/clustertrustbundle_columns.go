package certificates

import (
	"github.com/kubefake/kubefake/internal/table"
)

// clusterTrustBundleCells returns the cells of a ClusterTrustBundle.
func clusterTrustBundleCells(r table.Row) []any {
	return []any{r.Name(), r.Or(table.None, "spec", "signerName")}
}
