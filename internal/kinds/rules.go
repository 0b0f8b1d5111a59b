package kinds

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// rules are the built-in resources, by resource and group. A resource without
// a row has a subdomain for a name and may be overwritten unconditionally.
var rules = map[string]rule{
	"configmaps": {Strategy: resource.Strategy{UnconditionalUpdate: true}},
	"endpoints":  {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true}},
	"events": {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, Uncached: true, Dependents: resource.NoDependents,
		Fields: []resource.Field{
			field("involvedObject.kind", "involvedObject", "kind"),
			field("involvedObject.namespace", "involvedObject", "namespace"),
			field("involvedObject.name", "involvedObject", "name"),
			field("involvedObject.uid", "involvedObject", "uid"),
			field("involvedObject.apiVersion", "involvedObject", "apiVersion"),
			field("involvedObject.resourceVersion", "involvedObject", "resourceVersion"),
			field("involvedObject.fieldPath", "involvedObject", "fieldPath"),
			field("reason", "reason"),
			field("reportingComponent", "reportingComponent"),
			{Label: "source", Value: func(obj map[string]any) string {
				if s := object.String(obj, "source", "component"); s != "" {
					return s
				}
				return object.String(obj, "reportingComponent")
			}},
			field("type", "type"),
		},
		UnknownField: notSupported,
	}},
	"limitranges": {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true}},
	"namespaces": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Name: validation.LabelName,
		Prepare:      prepareNamespace,
		Default:      labelNamespace,
		Terminate:    func(obj map[string]any) { obj["status"] = terminating(obj) },
		Undeletable:  undeletableNamespace,
		Deletable:    func(obj map[string]any) bool { return len(object.List(obj, "spec", "finalizers")) == 0 },
		Fields:       []resource.Field{field("status.phase", "status", "phase")},
		UnknownField: notSupported,
	}},
	"nodes": {Strategy: resource.Strategy{UnconditionalUpdate: true,
		Fields:       []resource.Field{orElse(field("spec.unschedulable", "spec", "unschedulable"), "false")},
		UnknownField: notSupported,
	}, keepStatus: true},
	"persistentvolumeclaims": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true}},
	"persistentvolumes":      {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true}},
	"pods": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true,
		Prepare: preparePod,
		Grace:   podGrace,
		Fields: []resource.Field{
			field("spec.nodeName", "spec", "nodeName"),
			field("spec.restartPolicy", "spec", "restartPolicy"),
			field("spec.schedulerName", "spec", "schedulerName"),
			field("spec.serviceAccountName", "spec", "serviceAccountName"),
			orElse(field("spec.hostNetwork", "spec", "hostNetwork"), "false"),
			field("status.phase", "status", "phase"),
			{Label: "status.podIP", Value: podIP},
			{Label: "status.podIPs", Value: podIP},
			field("status.nominatedNodeName", "status", "nominatedNodeName"),
			field("spec.host", "spec", "nodeName"), // an old name of spec.nodeName
		},
		UnknownField: notSupported,
	}, generation: []string{"spec"}, status: statusNotOwners},
	"podtemplates": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true}, generation: []string{"template"}},
	"replicationcontrollers": {Strategy: resource.Strategy{UnconditionalUpdate: true, Dependents: resource.OrphanDependents,
		Fields:       []resource.Field{orElse(field("status.replicas", "status", "replicas"), "0")},
		UnknownField: notSupported,
	}, generation: []string{"spec"}},
	"resourcequotas": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true}},
	"secrets": {Strategy: resource.Strategy{UnconditionalUpdate: true,
		Fields:       []resource.Field{field("type", "type")},
		UnknownField: notSupported,
	}},
	"serviceaccounts": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true}},
	"services": {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, AnswersDeleted: true, Name: validation.LabelName,
		Fields:       []resource.Field{field("spec.clusterIP", "spec", "clusterIP"), field("spec.type", "spec", "type")},
		UnknownField: notSupported,
	}},

	"mutatingadmissionpolicies.admissionregistration.k8s.io":         {generation: []string{"spec"}},
	"mutatingadmissionpolicybindings.admissionregistration.k8s.io":   {generation: []string{"spec"}},
	"mutatingwebhookconfigurations.admissionregistration.k8s.io":     {generation: []string{"webhooks"}},
	"validatingadmissionpolicies.admissionregistration.k8s.io":       {generation: []string{"spec"}, status: statusOnly},
	"validatingadmissionpolicybindings.admissionregistration.k8s.io": {generation: []string{"spec"}},
	"validatingwebhookconfigurations.admissionregistration.k8s.io":   {generation: []string{"webhooks"}},
	"customresourcedefinitions.apiextensions.k8s.io":                 {generation: []string{"spec"}, status: statusOnly},
	"apiservices.apiregistration.k8s.io":                             {Strategy: resource.Strategy{}, status: statusAndMeta},

	"controllerrevisions.apps": {Strategy: resource.Strategy{UnconditionalUpdate: true}},
	"daemonsets.apps":          {Strategy: resource.Strategy{UnconditionalUpdate: true}, generation: []string{"spec"}},
	"deployments.apps":         {Strategy: resource.Strategy{UnconditionalUpdate: true}, generation: []string{"spec", "annotations"}, status: statusNotLabels},
	"replicasets.apps":         {Strategy: resource.Strategy{UnconditionalUpdate: true}, generation: []string{"spec"}},
	"statefulsets.apps":        {Strategy: resource.Strategy{UnconditionalUpdate: true, Name: validation.LabelName}, generation: []string{"spec"}},

	"horizontalpodautoscalers.autoscaling": {Strategy: resource.Strategy{UnconditionalUpdate: true}},
	"cronjobs.batch":                       {Strategy: resource.Strategy{UnconditionalUpdate: true}, generation: []string{"spec"}},
	"jobs.batch": {Strategy: resource.Strategy{UnconditionalUpdate: true, Dependents: resource.OrphanDependents,
		Fields:       []resource.Field{orElse(field("status.successful", "status", "succeeded"), "0")},
		UnknownField: func(label string) string { return fmt.Sprintf("field label %q not supported for Job", label) },
	}, generation: []string{"spec"}},

	"certificatesigningrequests.certificates.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true, Name: validation.AnyName,
		Fields:       []resource.Field{field("spec.signerName", "spec", "signerName")},
		UnknownField: notSupported,
	}},
	"leases.coordination.k8s.io":                               {Strategy: resource.Strategy{CreateOnUpdate: true}},
	"leasecandidates.coordination.k8s.io":                      {Strategy: resource.Strategy{CreateOnUpdate: true, Name: validation.LeaseCandidateName}},
	"endpointslices.discovery.k8s.io":                          {Strategy: resource.Strategy{UnconditionalUpdate: true}, generation: []string{"addressType", "endpoints", "ports"}},
	"flowschemas.flowcontrol.apiserver.k8s.io":                 {Strategy: resource.Strategy{UnconditionalUpdate: true}, generation: []string{"spec"}, status: statusOnly},
	"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true}, generation: []string{"spec"}, status: statusOnly},
	"storageversions.internal.apiserver.k8s.io":                {Strategy: resource.Strategy{Name: validation.StorageVersionName}, status: statusOnly},

	"ingressclasses.networking.k8s.io":  {Strategy: resource.Strategy{UnconditionalUpdate: true}, generation: []string{"spec"}},
	"ingresses.networking.k8s.io":       {Strategy: resource.Strategy{UnconditionalUpdate: true}, generation: []string{"spec"}},
	"ipaddresses.networking.k8s.io":     {Strategy: resource.Strategy{UnconditionalUpdate: true, Name: validation.IPAddressName}},
	"networkpolicies.networking.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true}, generation: []string{"spec"}},
	"servicecidrs.networking.k8s.io":    {Strategy: resource.Strategy{UnconditionalUpdate: true}, status: statusOnly},
	"runtimeclasses.node.k8s.io":        {Strategy: resource.Strategy{CreateOnUpdate: true}},
	"poddisruptionbudgets.policy":       {generation: []string{"spec"}, anyFinalizer: true},

	"clusterrolebindings.rbac.authorization.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, Name: validation.RBACName}},
	"clusterroles.rbac.authorization.k8s.io":        {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, Name: validation.RBACName}},
	"rolebindings.rbac.authorization.k8s.io":        {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, Name: validation.RBACName}},
	"roles.rbac.authorization.k8s.io":               {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, Name: validation.RBACName}},

	"deviceclasses.resource.k8s.io":              {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Name: validation.FinishedName}, generation: []string{"spec"}},
	"devicetaintrules.resource.k8s.io":           {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true}, generation: []string{"spec"}, status: statusOnly},
	"resourceclaims.resource.k8s.io":             {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true}, status: statusOnly},
	"resourceclaimtemplates.resource.k8s.io":     {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true}},
	"resourcepoolstatusrequests.resource.k8s.io": {Strategy: resource.Strategy{AnswersDeleted: true}, status: statusOnly},
	"resourceslices.resource.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true,
		Fields: []resource.Field{field("spec.nodeName", "spec", "nodeName"), field("spec.driver", "spec", "driver")},
		UnknownField: func(label string) string {
			return "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: " + label
		},
	}, generation: []string{"spec"}},

	"priorityclasses.scheduling.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true}, generation: []string{"value"}},

	"csidrivers.storage.k8s.io":              {Strategy: resource.Strategy{AnswersDeleted: true}},
	"csinodes.storage.k8s.io":                {Strategy: resource.Strategy{AnswersDeleted: true}},
	"csistoragecapacities.storage.k8s.io":    {},
	"storageclasses.storage.k8s.io":          {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true}},
	"volumeattachments.storage.k8s.io":       {Strategy: resource.Strategy{AnswersDeleted: true}, status: statusOnly},
	"volumeattributesclasses.storage.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true}},
}

// prepareNamespace gives a new namespace its phase and the finalizer that holds
// it until its content is gone; that is changed through finalize alone.
func prepareNamespace(obj, old map[string]any) {
	if old != nil {
		object.Keep(obj, old, "spec")
		return
	}
	spec := object.Map(obj, "spec")
	if spec == nil {
		spec = map[string]any{}
		obj["spec"] = spec
	}
	finalizers := object.List(spec, "finalizers")
	if !slices.Contains(finalizers, any("kubernetes")) {
		spec["finalizers"] = append(finalizers, "kubernetes")
	}
	obj["status"] = map[string]any{"phase": "Active"}
}

// labelNamespace labels a namespace with its name.
func labelNamespace(obj map[string]any) {
	meta := object.Meta(obj)
	if object.String(meta, "name") == "" {
		return
	}
	labels := object.Map(meta, "labels")
	if labels == nil {
		labels = map[string]any{}
		meta["labels"] = labels
	}
	labels["kubernetes.io/metadata.name"] = object.String(meta, "name")
}

func terminating(namespace map[string]any) map[string]any {
	status := object.Copy(object.Map(namespace, "status"))
	if status == nil {
		status = map[string]any{}
	}
	status["phase"] = "Terminating"
	return status
}

func undeletableNamespace(name string) string {
	switch name {
	case "default", "kube-system", "kube-public":
		return "this namespace may not be deleted"
	}
	return ""
}

// preparePod has a new pod wait to be run.
func preparePod(obj, old map[string]any) {
	if old == nil {
		obj["status"] = map[string]any{"phase": "Pending"}
	}
}

// podGrace is the grace period of a pod's deletion: what is asked for, else the
// pod's own; none for a pod on no node and for one that has ended.
func podGrace(pod map[string]any, requested *int64) (int64, bool) {
	seconds := int64(30)
	if n, ok := object.Int(pod, "spec", "terminationGracePeriodSeconds"); ok {
		seconds = n
	}
	if requested != nil {
		seconds = *requested
	}
	switch phase := object.String(pod, "status", "phase"); {
	case object.String(pod, "spec", "nodeName") == "", phase == "Failed", phase == "Succeeded":
		seconds = 0
	}
	if seconds < 0 {
		seconds = 1
	}
	return seconds, true
}

// podIP is the pod's first address.
func podIP(pod map[string]any) string {
	for _, e := range object.List(pod, "status", "podIPs") {
		if ip, ok := e.(map[string]any); ok {
			return object.String(ip, "ip")
		}
	}
	return object.String(pod, "status", "podIP")
}
