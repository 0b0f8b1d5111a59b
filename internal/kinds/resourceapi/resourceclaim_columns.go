package resourceapi

import (
	"strings"

	"github.com/kubefake/kubefake/internal/table"
)

// resourceClaimCells returns the cells of a ResourceClaim.
func resourceClaimCells(r table.Row) []any { return []any{r.Name(), claimState(r), r.Age()} }

// claimState returns the states of a claim: deleted, pending, allocated, reserved.
func claimState(r table.Row) string {
	var states []string
	if r.Deleted() {
		states = append(states, "deleted")
	}
	switch {
	case r.Has("status", "allocation"):
		states = append(states, "allocated")
		if r.Len("status", "reservedFor") > 0 {
			states = append(states, "reserved")
		}
	case !r.Deleted():
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}
