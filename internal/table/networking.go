package table

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

var networkPrinters = map[string]printer{
	"networking.k8s.io/Ingress": func(r row) []any {
		ports := "80"
		if r.size("spec", "tls") > 0 {
			ports = "80, 443"
		}
		class := none
		if r.has("spec", "ingressClassName") {
			class = r.str("spec", "ingressClassName")
		}
		return []any{r.name(), class, ingressHosts(r), strings.Join(loadBalancerAddresses(r), ","), ports, r.age()}
	},
	"networking.k8s.io/IngressClass": func(r row) []any {
		parameters := none
		if r.has("spec", "parameters") {
			parameters = r.str("spec", "parameters", "kind")
			if r.has("spec", "parameters", "apiGroup") {
				parameters += "." + r.str("spec", "parameters", "apiGroup")
			}
			parameters += "/" + r.str("spec", "parameters", "name")
		}
		return []any{r.classNameWithDefault("ingressclass.kubernetes.io/is-default-class"), r.str("spec", "controller"), parameters, r.age()}
	},
	"networking.k8s.io/NetworkPolicy": func(r row) []any {
		return []any{r.name(), r.selectorCell("spec", "podSelector"), r.age()}
	},
	"networking.k8s.io/ServiceCIDR": func(r row) []any {
		return []any{r.name(), strings.Join(object.Strings(r.obj, "spec", "cidrs"), ","), r.age()}
	},
	// kube-apiserver returns one cell more than there are columns.
	"networking.k8s.io/IPAddress": func(r row) []any {
		parent := none
		if r.has("spec", "parentRef") {
			ref := func(name string) string { return r.str("spec", "parentRef", name) }
			parent = ref("resource")
			if group := ref("group"); group != "" {
				parent += "." + group
			}
			parent = strings.ToLower(parent)
			if namespace := ref("namespace"); namespace != "" {
				parent += "/" + namespace
			}
			parent += "/" + ref("name")
		}
		return []any{r.name(), parent, r.age()}
	},
	"discovery.k8s.io/EndpointSlice": func(r row) []any {
		var ports, addresses []string
		for _, p := range objects(r.list("ports")) {
			text := "*"
			if n, ok := object.Int(p, "port"); ok {
				text = itoa(n)
			} else if name, ok := p["name"].(string); ok {
				text = name
			}
			ports = append(ports, text)
		}
		for _, e := range objects(r.list("endpoints")) {
			addresses = append(addresses, object.Strings(e, "addresses")...)
		}
		return []any{r.name(), r.str("addressType"), or(joinFirst(ports, 3, ","), unset), or(joinFirst(addresses, 3, ","), unset), r.age()}
	},
}

// ingressHosts returns the first three hosts. The number of the others counts
// rules, including those without a host; it is only added if there is a rule
// after the third host.
func ingressHosts(r row) string {
	const limit = 3
	rules := objects(r.list("spec", "rules"))
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
	text := or(strings.Join(hosts, ","), "*")
	if more {
		text += " + " + itoa(int64(len(rules)-limit)) + " more..."
	}
	return text
}
