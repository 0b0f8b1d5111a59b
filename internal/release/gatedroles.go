package release

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/resource"
)

// A gatedRule is a rule that a feature gate adds to a ClusterRole. A role without other rules
// exists, and is bound, while the gate is on.
type gatedRule struct {
	gate, role string
	after      int // the number of rules of the role before it that no gate adds
	policyRule
	in span
}

// A span is the releases that have a rule, by their minor numbers. A zero until has no end.
type span struct{ since, until int }

// always is the span of all releases.
var always span

func (s span) has(minor int) bool { return minor >= s.since && (s.until == 0 || minor < s.until) }

// A policyRule is a rule of RBAC. The values of its fields are separated by spaces; core
// stands for the API group "".
type policyRule struct{ Verbs, APIGroups, Resources, ResourceNames string }

// gatedRules are the rules of gates that are off by default, those at one place of a role in
// their order. A release whose gate is on by default has them in bootstrap.txt.
//
// See plugin/pkg/auth/authorizer/rbac/bootstrappolicy in k8s.io/kubernetes.
var gatedRules = []gatedRule{
	{"GenericWorkload", "system:aggregate-to-edit", 15, policyRule{"create delete deletecollection patch update", "scheduling.k8s.io", "podgroups workloads", ""}, always},
	{"GenericWorkload", "system:aggregate-to-view", 12, policyRule{"get list watch", "scheduling.k8s.io", "podgroups podgroups/status workloads", ""}, always},
	{"GenericWorkload", "system:kube-scheduler", 28, policyRule{"get list watch", "scheduling.k8s.io", "podgroups", ""}, always},
	{"GenericWorkload", "system:kube-scheduler", 28, policyRule{"patch update", "scheduling.k8s.io", "podgroups/status", ""}, always},
	{"CompositePodGroup", "system:aggregate-to-edit", 15, policyRule{"create delete deletecollection patch update", "scheduling.k8s.io", "compositepodgroups", ""}, always},
	{"CompositePodGroup", "system:aggregate-to-view", 12, policyRule{"get list watch", "scheduling.k8s.io", "compositepodgroups compositepodgroups/status", ""}, always},
	{"CompositePodGroup", "system:kube-scheduler", 28, policyRule{"get list watch", "scheduling.k8s.io", "compositepodgroups", ""}, always},
	{"CompositePodGroup", "system:kube-scheduler", 28, policyRule{"patch update", "scheduling.k8s.io", "compositepodgroups/status", ""}, always},
	{"EvictionRequestAPI", "system:aggregate-to-edit", 15, policyRule{"create delete deletecollection patch update", "lifecycle.k8s.io", "evictionrequests", ""}, always},
	{"EvictionRequestAPI", "system:aggregate-to-view", 12, policyRule{"get list watch", "lifecycle.k8s.io", "evictionrequests evictions", ""}, always},
	{"CSIVolumeHealth", "system:node", 21, policyRule{"get patch update", "storage.k8s.io", "csinodes/status", ""}, span{since: 37}},
	{"GenericWorkload", "system:controller:podgroup-protection-controller", 0, policyRule{"get list update watch", "scheduling.k8s.io", "podgroups", ""}, always},
	{"GenericWorkload", "system:controller:podgroup-protection-controller", 0, policyRule{"get list watch", "core", "pods", ""}, always},
	{"WorkloadWithJob", "system:controller:job-controller", 5, policyRule{"create get list watch", "scheduling.k8s.io", "podgroups workloads", ""}, span{until: 37}},
	{"WorkloadWithJob", "system:controller:job-controller", 5, policyRule{"create get list patch update watch", "scheduling.k8s.io", "podgroups workloads", ""}, span{since: 37}},
	{"DRAWorkloadResourceClaims", "system:controller:resource-claim-controller", 6, policyRule{"get list watch", "scheduling.k8s.io", "podgroups", ""}, always},
	{"DRAWorkloadResourceClaims", "system:controller:resource-claim-controller", 6, policyRule{"patch update", "scheduling.k8s.io", "podgroups/status", ""}, always},
	{"DRADeviceTaintRules", "system:kube-scheduler", 26, policyRule{"get list watch", "resource.k8s.io", "devicetaintrules", ""}, always},
	{"DRADeviceTaintRules", "system:controller:device-taint-eviction-controller", 6, policyRule{"patch update", "resource.k8s.io", "devicetaintrules/status", ""}, always},
	{"DRADeviceTaintRules", "system:controller:device-taint-eviction-controller", 6, policyRule{"get list watch", "resource.k8s.io", "devicetaintrules", ""}, always},
	{"DRAResourcePoolStatus", "system:controller:resourcepoolstatusrequest-controller", 0, policyRule{"delete get list watch", "resource.k8s.io", "resourcepoolstatusrequests", ""}, always},
	{"DRAResourcePoolStatus", "system:controller:resourcepoolstatusrequest-controller", 0, policyRule{"patch update", "resource.k8s.io", "resourcepoolstatusrequests/status", ""}, always},
	{"DRAResourcePoolStatus", "system:controller:resourcepoolstatusrequest-controller", 0, policyRule{"get list watch", "resource.k8s.io", "resourceslices", ""}, always},
	{"DRAResourcePoolStatus", "system:controller:resourcepoolstatusrequest-controller", 0, policyRule{"get list watch", "resource.k8s.io", "resourceclaims", ""}, always},
	{"DRAResourcePoolStatus", "system:controller:resourcepoolstatusrequest-controller", 0, policyRule{"get list watch", "resource.k8s.io", "devicetaintrules", ""}, span{since: 37}},
	{"DRAResourcePoolStatus", "system:controller:resourcepoolstatusrequest-controller", 0, eventsRule, always},
	{"ClusterTrustBundle", "system:node", 24, policyRule{"get list watch", "certificates.k8s.io", "clustertrustbundles", ""}, always},
	{"ClusterTrustBundle", "system:cluster-trust-bundle-discovery", 0, policyRule{"get list watch", "certificates.k8s.io", "clustertrustbundles", ""}, always},
	{"ClusterTrustBundle", "system:controller:kube-apiserver-serving-clustertrustbundle-publisher", 0, policyRule{"attest", "certificates.k8s.io", "signers", "kubernetes.io/kube-apiserver-serving"}, always},
	{"ClusterTrustBundle", "system:controller:kube-apiserver-serving-clustertrustbundle-publisher", 0, policyRule{"create delete list update watch", "certificates.k8s.io", "clustertrustbundles", ""}, always},
	{"ClusterTrustBundle", "system:controller:kube-apiserver-serving-clustertrustbundle-publisher", 0, eventsRule, always},
	{"PodCertificateRequest", "system:node", 25, policyRule{"create get list watch", "certificates.k8s.io", "podcertificaterequests", ""}, always},
	{"PodCertificateRequest", "system:controller:podcertificaterequestcleaner", 0, policyRule{"delete get list watch", "certificates.k8s.io", "podcertificaterequests", ""}, always},
	{"StorageVersionAPI", "system:controller:storage-version-garbage-collector", 0, policyRule{"get list watch", "coordination.k8s.io", "leases", ""}, always},
	{"StorageVersionAPI", "system:controller:storage-version-garbage-collector", 0, policyRule{"delete get list patch update watch", "internal.apiserver.k8s.io", "storageversions", ""}, always},
	{"StorageVersionAPI", "system:controller:storage-version-garbage-collector", 0, policyRule{"get patch update", "internal.apiserver.k8s.io", "storageversions/status", ""}, always},
	{"StorageVersionMigrator", "system:controller:storage-version-migrator-controller", 0, policyRule{"create list patch", "*", "*", ""}, always},
	{"StorageVersionMigrator", "system:controller:storage-version-migrator-controller", 0, policyRule{"get", "apiextensions.k8s.io", "customresourcedefinitions", ""}, always},
	{"StorageVersionMigrator", "system:controller:storage-version-migrator-controller", 0, policyRule{"patch", "apiextensions.k8s.io", "customresourcedefinitions/status", ""}, always},
	{"StorageVersionMigrator", "system:controller:storage-version-migrator-controller", 0, policyRule{"update", "storagemigration.k8s.io", "storageversionmigrations/status", ""}, always},
}

var eventsRule = policyRule{"create patch update", "core events.k8s.io", "events", ""}

// JSON returns the rule as roles have it.
func (p policyRule) JSON() string {
	list := func(values string) []string {
		fields := strings.Fields(values)
		if i := slices.Index(fields, "core"); i >= 0 {
			fields[i] = ""
		}
		return fields
	}
	text, _ := json.Marshal(struct { // no error: it has strings only
		Verbs         []string `json:"verbs"`
		APIGroups     []string `json:"apiGroups"`
		Resources     []string `json:"resources"`
		ResourceNames []string `json:"resourceNames,omitempty"`
	}{list(p.Verbs), list(p.APIGroups), list(p.Resources), list(p.ResourceNames)})
	return string(text)
}

// withGatedRoles adds to the objects the rules, roles and bindings of gates that are on.
func (r *Release) withGatedRoles(objects iter.Seq[BootstrapObject]) iter.Seq[BootstrapObject] {
	added := map[string][]gatedRule{} // by role
	var roles []string
	for _, rule := range gatedRules {
		if r.changed[rule.gate] && rule.in.has(r.Minor()) {
			if added[rule.role] == nil {
				roles = append(roles, rule.role)
			}
			added[rule.role] = append(added[rule.role], rule)
		}
	}
	if len(roles) == 0 {
		return objects
	}
	return func(yield func(BootstrapObject) bool) {
		exists := map[string]bool{}
		for o := range objects {
			if rules := added[o.Name]; rules != nil && o.Resource == "clusterroles" {
				exists[o.Name] = true
				o.JSON = insertRules(o.JSON, rules)
			}
			if !yield(o) {
				return
			}
		}
		for _, role := range roles {
			if !exists[role] && (!yield(gatedRole(role, added[role])) || !yield(gatedBinding(role))) {
				return
			}
		}
	}
}

// insertRules adds rules to the stored form of a ClusterRole.
func insertRules(role string, added []gatedRule) string {
	const key = `,"rules":`
	before, text, _ := strings.Cut(role, key)
	var rules []json.RawMessage
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&rules); err != nil {
		panic("release: bootstrap.txt: " + err.Error()) // unreachable: a test turns all gates on
	}
	var all []string
	for i := range len(rules) + 1 {
		for _, rule := range added {
			if rule.after == i || i == len(rules) && rule.after > i {
				all = append(all, rule.JSON())
			}
		}
		if i < len(rules) {
			all = append(all, string(rules[i]))
		}
	}
	return before + key + "[" + strings.Join(all, ",") + "]}\n"
}

// gatedRole returns a ClusterRole that has only rules of gates.
func gatedRole(name string, rules []gatedRule) BootstrapObject {
	texts := make([]string, len(rules))
	for i, rule := range rules {
		texts[i] = rule.JSON()
	}
	return roleObject("ClusterRole", "clusterroles", name, `"f:rules":{}`, `"rules":[`+strings.Join(texts, ",")+`]`)
}

// gatedBinding returns the ClusterRoleBinding of such a role: to the ServiceAccount of a
// controller, or to all ServiceAccounts.
func gatedBinding(role string) BootstrapObject {
	subject := `{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"system:serviceaccounts"}`
	if account, ok := strings.CutPrefix(role, "system:controller:"); ok {
		subject = fmt.Sprintf(`{"kind":"ServiceAccount","name":%q,"namespace":"kube-system"}`, account)
	}
	return roleObject("ClusterRoleBinding", "clusterrolebindings", role, `"f:roleRef":{},"f:subjects":{}`,
		fmt.Sprintf(`"subjects":[%s],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":%q}`, subject, role))
}

// roleObject returns an object of RBAC with the fields that follow its metadata, and those
// that its manager owns.
func roleObject(kind, plural, name, owned, fields string) BootstrapObject {
	group := resource.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	return BootstrapObject{
		GroupVersion: group, Resource: plural, Name: name,
		Labels: map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"},
		JSON: fmt.Sprintf(`{"kind":%q,"apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":%q,"uid":%q,"creationTimestamp":"${time}",`+
			`"labels":{"kubernetes.io/bootstrapping":"rbac-defaults"},"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"true"},`+
			`"managedFields":[{"manager":"kube-apiserver","operation":"Update","apiVersion":"rbac.authorization.k8s.io/v1","time":"${time}","fieldsType":"FieldsV1","fieldsV1":`+
			`{"f:metadata":{"f:annotations":{".":{},"f:rbac.authorization.kubernetes.io/autoupdate":{}},"f:labels":{".":{},"f:kubernetes.io/bootstrapping":{}}},%s}}]},%s}`+"\n",
			kind, name, BootstrapUID("/"+plural+"."+group.Group+"/"+name), owned, fields),
	}
}
