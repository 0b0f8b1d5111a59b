package services

import (
	"net"
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// endpointsCells returns the cells of Endpoints.
func endpointsCells(r table.Row) []any { return []any{r.Name(), readyAddresses(r), r.Age()} }

// readyAddresses returns the first three ready addresses, each with each of its
// ports.
func readyAddresses(r table.Row) string {
	subsets := r.Objects("subsets")
	if len(subsets) == 0 {
		return table.None
	}
	var all []string
	for _, s := range subsets {
		addresses, ports := slices.Collect(object.Each(s["addresses"])), slices.Collect(object.Each(s["ports"]))
		if len(ports) == 0 {
			for _, a := range addresses {
				all = append(all, object.String(a, "ip"))
			}
		}
		for _, p := range ports {
			for _, a := range addresses {
				all = append(all, net.JoinHostPort(object.String(a, "ip"), strconv.FormatInt(table.Int(p, "port"), 10)))
			}
		}
	}
	return table.JoinFirst(all, 3, ",")
}
