package networking

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/services"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// ingressCells returns the cells of an Ingress.
func ingressCells(r table.Row) []any {
	ports := "80"
	if r.Len("spec", "tls") > 0 {
		ports = "80, 443"
	}
	class := table.None
	if r.Has("spec", "ingressClassName") {
		class = r.String("spec", "ingressClassName")
	}
	return []any{r.Name(), class, ingressHosts(r), strings.Join(services.LoadBalancerAddresses(r), ","), ports, r.Age()}
}

// ingressHosts returns the first three hosts. The number of the others counts
// rules, including those without a host; it is only added if there is a rule
// after the third host.
func ingressHosts(r table.Row) string {
	const limit = 3
	rules := r.Objects("spec", "rules")
	var hosts []string
	more := false
	for _, rule := range rules {
		if len(hosts) == limit {
			more = true
			break
		}
		if host := object.String(rule, "host"); host != "" {
			hosts = append(hosts, host)
		}
	}
	text := cmp.Or(strings.Join(hosts, ","), "*")
	if more {
		text += " + " + strconv.FormatInt(int64(len(rules)-limit), 10) + " more..."
	}
	return text
}
