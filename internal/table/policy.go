package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// policyPrinters print the kinds of policies, limits and priorities.
var policyPrinters = map[string]printer{
	"policy/PodDisruptionBudget": func(r row) []any {
		limit := func(name string) string {
			if !r.has("spec", name) {
				return "N/A"
			}
			return object.Text(r.obj, "spec", name)
		}
		return []any{r.name(), limit("minAvailable"), limit("maxUnavailable"), r.num("status", "disruptionsAllowed"), r.age()}
	},
	"rbac.authorization.k8s.io/RoleBinding":        printBinding,
	"rbac.authorization.k8s.io/ClusterRoleBinding": printBinding,
	"scheduling.k8s.io/PriorityClass": func(r row) []any {
		return []any{r.name(), r.num("value"), r.bool("globalDefault"), r.age(), r.str("preemptionPolicy")}
	},
	"scheduling.k8s.io/Workload": printNameAge,
	"scheduling.k8s.io/PodGroup": func(r row) []any {
		policy, status := "Basic", "Pending"
		if r.has("spec", "schedulingPolicy", "gang") {
			policy = "Gang"
		}
		if c := r.condition("PodGroupScheduled"); c != nil {
			status = "Unschedulable"
			if object.String(c, "status") == "True" {
				status = "Scheduled"
			}
		}
		if c := r.condition("DisruptionTarget"); c != nil {
			status = object.String(c, "reason")
		}
		workload := none
		if r.has("spec", "podGroupTemplateRef") {
			workload = r.str("spec", "podGroupTemplateRef", "workload", "workloadName")
		}
		return []any{r.name(), policy, workload, status, r.age()}
	},
	"admissionregistration.k8s.io/MutatingWebhookConfiguration":     printWebhooks,
	"admissionregistration.k8s.io/ValidatingWebhookConfiguration":   printWebhooks,
	"admissionregistration.k8s.io/ValidatingAdmissionPolicy":        admissionPolicy("validations"),
	"admissionregistration.k8s.io/MutatingAdmissionPolicy":          admissionPolicy("mutations"),
	"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": printPolicyBinding,
	"admissionregistration.k8s.io/MutatingAdmissionPolicyBinding":   printPolicyBinding,
	"flowcontrol.apiserver.k8s.io/FlowSchema": func(r row) []any {
		dangling := "?"
		for _, c := range slices.Backward(objects(r.list("status", "conditions"))) {
			if object.String(c, "type") == "Dangling" {
				dangling = object.String(c, "status")
			}
		}
		return []any{
			r.name(), r.str("spec", "priorityLevelConfiguration", "name"), r.num("spec", "matchingPrecedence"),
			r.or(none, "spec", "distinguisherMethod", "type"), r.age(), dangling,
		}
	},
	"flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": func(r row) []any {
		cells := []any{r.name(), r.str("spec", "type"), none, none, none, none, r.age()}
		if r.has("spec", "limited") {
			cells[2] = r.num("spec", "limited", "nominalConcurrencyShares")
		}
		if queuing := object.Map(r.obj, "spec", "limited", "limitResponse", "queuing"); queuing != nil {
			cells[3], cells[4], cells[5] = num(queuing, "queues"), num(queuing, "handSize"), num(queuing, "queueLengthLimit")
		}
		return cells
	},
}

func printWebhooks(r row) []any { return []any{r.name(), r.size("webhooks"), r.age()} }

// printBinding prints a role and its subjects.
func printBinding(r row) []any {
	subjects := map[string][]string{}
	for _, s := range objects(r.list("subjects")) {
		kind, name := object.String(s, "kind"), object.String(s, "name")
		if kind == "ServiceAccount" {
			name = object.String(s, "namespace") + "/" + name
		}
		subjects[kind] = append(subjects[kind], name)
	}
	all := func(kind string) string { return strings.Join(subjects[kind], ", ") }
	return []any{
		r.name(), r.str("roleRef", "kind") + "/" + r.str("roleRef", "name"), r.age(),
		all("User"), all("Group"), all("ServiceAccount"),
	}
}

// admissionPolicy prints a policy with the number of its rules.
func admissionPolicy(rules string) printer {
	return func(r row) []any {
		param := unset
		if r.has("spec", "paramKind") {
			param = r.str("spec", "paramKind", "apiVersion") + "/" + r.str("spec", "paramKind", "kind")
		}
		return []any{r.name(), r.size("spec", rules), param, r.age()}
	}
}

func printPolicyBinding(r row) []any {
	param := unset
	if name := r.str("spec", "paramRef", "name"); name != "" {
		param = r.or("*", "spec", "paramRef", "namespace") + "/" + name
	} else if s := object.Map(r.obj, "spec", "paramRef", "selector"); s != nil {
		param = selectorDump(s)
	}
	return []any{r.name(), r.str("spec", "policyName"), param, r.age()}
}

// selectorDump formats a label selector as the Go type's String method does.
func selectorDump(m map[string]any) string {
	s := selector.FromMap(m)
	var b strings.Builder
	b.WriteString("&LabelSelector{MatchLabels:map[string]string{")
	for _, k := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		fmt.Fprintf(&b, "%s: %s,", k, s.MatchLabels[k])
	}
	b.WriteString("},MatchExpressions:[]LabelSelectorRequirement{")
	for _, e := range s.MatchExpressions {
		fmt.Fprintf(&b, "LabelSelectorRequirement{Key:%s,Operator:%s,Values:%v,},", e.Key, e.Operator, e.Values)
	}
	b.WriteString("},}")
	return b.String()
}
