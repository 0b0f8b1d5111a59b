package discovery

import (
	"cmp"
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// endpointSliceCells returns the first three ports and the first three addresses.
func endpointSliceCells(r table.Row) []any {
	var ports, addresses []string
	for _, p := range r.Objects("ports") {
		text := "*"
		if n, ok := object.Int(p, "port"); ok {
			text = strconv.FormatInt(n, 10)
		} else if name, ok := p["name"].(string); ok {
			text = name
		}
		ports = append(ports, text)
	}
	for _, e := range r.Objects("endpoints") {
		addresses = append(addresses, object.Strings(e, "addresses")...)
	}
	return []any{r.Name(), r.String("addressType"), cmp.Or(table.JoinFirst(ports, 3, ","), table.Unset), cmp.Or(table.JoinFirst(addresses, 3, ","), table.Unset), r.Age()}
}
