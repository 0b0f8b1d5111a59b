package resourceapi

import (
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// poolStatusCells returns the totals of the requested pools. They are "-" while the
// request is pending and if it failed.
func poolStatusCells(r table.Row) []any {
	status, completed := "Pending", table.None
conditions:
	for _, c := range r.Objects("status", "conditions") {
		if object.String(c, "status") != "True" {
			continue
		}
		switch object.String(c, "type") {
		case "Complete":
			status, completed = "Complete", table.Since(r.Now, object.String(c, "lastTransitionTime"))
			break conditions
		case "Failed":
			status = "Failed"
			break conditions
		}
	}
	pools := r.Objects("status", "pools")
	cells := []any{r.Name(), r.String("spec", "driver")}
	for _, name := range []string{"totalDevices", "availableDevices", "allocatedDevices", "unavailableDevices", "validationError"} {
		sum := int64(0)
		for _, p := range pools {
			if name == "validationError" && p[name] != nil {
				sum++
			}
			sum += table.Int(p, name)
		}
		if !r.Has("status") || status == "Failed" {
			cells = append(cells, "-")
		} else {
			cells = append(cells, strconv.FormatInt(sum, 10))
		}
	}
	count := r.Int("status", "poolCount")
	if status == "Complete" && count > int64(len(pools)) {
		status += " (" + table.Fraction(int64(len(pools)), count) + " pools)"
	}
	return append(cells, count, status, completed)
}
