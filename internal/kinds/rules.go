package kinds

import (
	"fmt"
	"github.com/kubefake/kubefake/internal/crd"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// rules are the built-in resources, by resource and group. A resource without
// a row has a subdomain for a name and may be overwritten unconditionally.
var rules = map[string]rule{
	"configmaps": {Strategy: resource.Strategy{UnconditionalUpdate: true}},
	"endpoints":  {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, Default: defaultEndpoints}},
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
	"limitranges": {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, Default: defaultLimitRange}},
	"namespaces": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Name: validation.LabelName,
		Prepare:      prepareNamespace,
		Default:      defaultNamespace,
		Terminate:    func(obj map[string]any) { obj["status"] = terminating(obj) },
		Undeletable:  undeletableNamespace,
		Deletable:    func(obj map[string]any) bool { return len(object.List(obj, "spec", "finalizers")) == 0 },
		Fields:       []resource.Field{field("status.phase", "status", "phase")},
		UnknownField: notSupported,
	}},
	"nodes": {Strategy: resource.Strategy{UnconditionalUpdate: true,
		Default: defaultNode, Mutate: mutateNode, Prepare: prepareNode, PrepareStatus: prepareNodeStatus,
		Fields:       []resource.Field{orElse(field("spec.unschedulable", "spec", "unschedulable"), "false")},
		UnknownField: notSupported,
	}, ownStatus: true},
	"persistentvolumeclaims": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Default: defaultClaim, Mutate: mutateClaim, Admit: admitClaim, Prepare: prepareClaim}},
	"persistentvolumes":      {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Default: defaultPersistentVolume, Mutate: protected("kubernetes.io/pv-protection"), Prepare: preparePersistentVolume, Stamp: stampPersistentVolume}},
	"pods": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true,
		Default: defaultPod, Mutate: mutatePod, Admit: admitPod, Prepare: preparePod, PrepareStatus: preparePodStatus,
		Validate: validatePod, ValidateStatus: validatePodStatus, Warn: warnPod,
		Parts: map[string]resource.Part{
			"ephemeralcontainers": {Prepare: prepareDebug, Validate: validateDebug},
			"resize":              {Prepare: prepareResize, Validate: validateResize},
		},
		Grace: podGrace,
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
	}, ownStatus: true, generation: []string{"spec"}, status: statusNotOwners},
	"podtemplates": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Default: defaultPodTemplate, Prepare: preparePodTemplate, Validate: validatePodTemplateObject, Warn: warnPodTemplateObject}, generation: []string{"template"}},
	"replicationcontrollers": {Strategy: resource.Strategy{UnconditionalUpdate: true, Dependents: resource.OrphanDependents,
		Default: defaultReplicationController, Prepare: prepareTemplate,
		Fields:       []resource.Field{orElse(field("status.replicas", "status", "replicas"), "0")},
		UnknownField: notSupported,
	}, generation: []string{"spec"}},
	"resourcequotas": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Default: defaultResourceQuota}},
	"secrets": {Strategy: resource.Strategy{UnconditionalUpdate: true,
		Default:      defaultSecret,
		Fields:       []resource.Field{field("type", "type")},
		UnknownField: notSupported,
	}},
	"serviceaccounts": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Prepare: prepareServiceAccount}},
	"services": {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, AnswersDeleted: true, Name: validation.LabelName,
		Default: defaultService, Prepare: prepareService,
		Fields:       []resource.Field{field("spec.clusterIP", "spec", "clusterIP"), field("spec.type", "spec", "type")},
		UnknownField: notSupported,
	}},

	"mutatingadmissionpolicies.admissionregistration.k8s.io":         {Strategy: resource.Strategy{Default: defaultPolicy}, generation: []string{"spec"}},
	"mutatingadmissionpolicybindings.admissionregistration.k8s.io":   {Strategy: resource.Strategy{Default: defaultPolicyBinding}, generation: []string{"spec"}},
	"mutatingwebhookconfigurations.admissionregistration.k8s.io":     {Strategy: resource.Strategy{Default: defaultMutatingWebhooks}, generation: []string{"webhooks"}},
	"validatingadmissionpolicies.admissionregistration.k8s.io":       {Strategy: resource.Strategy{Default: defaultPolicy}, generation: []string{"spec"}, status: statusOnly},
	"validatingadmissionpolicybindings.admissionregistration.k8s.io": {Strategy: resource.Strategy{Default: defaultPolicyBinding}, generation: []string{"spec"}},
	"validatingwebhookconfigurations.admissionregistration.k8s.io":   {Strategy: resource.Strategy{Default: defaultValidatingWebhooks}, generation: []string{"webhooks"}},
	"customresourcedefinitions.apiextensions.k8s.io":                 {Strategy: resource.Strategy{Defines: true, Default: defaultDefinition, Prepare: prepareDefinition, Terminate: crd.Terminate}, generation: []string{"spec"}},
	"apiservices.apiregistration.k8s.io": {Strategy: resource.Strategy{Name: validation.RBACName, Default: defaultAPIService, Prepare: prepareAPIService,
		Validate: validateAPIService, ValidateStatus: validateAPIServiceStatus}, status: statusOnly},

	"controllerrevisions.apps": {Strategy: resource.Strategy{UnconditionalUpdate: true}},
	"daemonsets.apps":          {Strategy: resource.Strategy{UnconditionalUpdate: true, Default: defaultDaemonSet, Prepare: prepareDaemonSet, PrepareStatus: prepareDaemonSetStatus}, generation: []string{"spec"}},
	"deployments.apps":         {Strategy: resource.Strategy{UnconditionalUpdate: true, Default: defaultDeployment, Prepare: prepareTemplate}, generation: []string{"spec", "annotations"}, status: statusNotLabels},
	"replicasets.apps":         {Strategy: resource.Strategy{UnconditionalUpdate: true, Default: defaultReplicaSet, Prepare: prepareTemplate}, generation: []string{"spec"}},
	"statefulsets.apps":        {Strategy: resource.Strategy{UnconditionalUpdate: true, Name: validation.LabelName, Default: defaultStatefulSet, Prepare: prepareStatefulSet, Generation: statefulSetChanged}},

	"horizontalpodautoscalers.autoscaling": {Strategy: resource.Strategy{UnconditionalUpdate: true, Default: defaultAutoscaler}},
	"cronjobs.batch":                       {Strategy: resource.Strategy{UnconditionalUpdate: true, Default: defaultCronJob, Prepare: prepareCronJob}, generation: []string{"spec"}},
	"jobs.batch": {Strategy: resource.Strategy{UnconditionalUpdate: true, Dependents: resource.OrphanDependents,
		Default: defaultJob, Prepare: prepareJob,
		Fields:       []resource.Field{orElse(field("status.successful", "status", "succeeded"), "0")},
		UnknownField: func(label string) string { return fmt.Sprintf("field label %q not supported for Job", label) },
	}, generation: []string{"spec"}},

	"certificatesigningrequests.certificates.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true, Name: validation.AnyName,
		Prepare: prepareSigningRequest, PrepareStatus: prepareSigningRequestStatus, Stamp: stampSigningRequest,
		Validate: validateSigningRequest, ValidateStatus: validateSigningRequestStatus,
		Fields:       []resource.Field{field("spec.signerName", "spec", "signerName")},
		UnknownField: notSupported,
	}},
	"leases.coordination.k8s.io":                               {Strategy: resource.Strategy{CreateOnUpdate: true, Prepare: prepareLease, Validate: validateLease}},
	"leasecandidates.coordination.k8s.io":                      {Strategy: resource.Strategy{CreateOnUpdate: true, Name: validation.LeaseCandidateName, Validate: validateLeaseCandidate}},
	"endpointslices.discovery.k8s.io":                          {Strategy: resource.Strategy{UnconditionalUpdate: true, Default: defaultEndpointSlice, Prepare: prepareEndpointSlice}, generation: []string{"addressType", "endpoints", "ports", "labels"}},
	"flowschemas.flowcontrol.apiserver.k8s.io":                 {Strategy: resource.Strategy{UnconditionalUpdate: true, Default: defaultFlowSchema, Validate: validateFlowSchema, ValidateStatus: validateFlowStatus}, generation: []string{"spec"}, status: statusOnly},
	"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true, Default: defaultPriorityLevel, Validate: validatePriorityLevel, ValidateStatus: validateFlowStatus}, generation: []string{"spec"}, status: statusOnly},
	"storageversions.internal.apiserver.k8s.io":                {Strategy: resource.Strategy{Name: validation.StorageVersionName, Validate: validateStorageVersion, ValidateStatus: validateStorageVersionStatus}, status: statusOnly},

	"ingressclasses.networking.k8s.io":  {Strategy: resource.Strategy{UnconditionalUpdate: true, Default: defaultIngressClass}, generation: []string{"spec"}},
	"ingresses.networking.k8s.io":       {Strategy: resource.Strategy{UnconditionalUpdate: true, Mutate: mutateIngress}, generation: []string{"spec"}},
	"ipaddresses.networking.k8s.io":     {Strategy: resource.Strategy{UnconditionalUpdate: true, Name: validation.IPAddressName}},
	"networkpolicies.networking.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true, Default: defaultNetworkPolicy}, generation: []string{"spec"}},
	"servicecidrs.networking.k8s.io":    {Strategy: resource.Strategy{UnconditionalUpdate: true}, status: statusOnly},
	"runtimeclasses.node.k8s.io":        {Strategy: resource.Strategy{CreateOnUpdate: true}},
	"poddisruptionbudgets.policy":       {generation: []string{"spec"}, anyFinalizer: true},

	"clusterrolebindings.rbac.authorization.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, Name: validation.RBACName, Validate: validateClusterRoleBinding, Default: defaultRoleBinding}},
	"clusterroles.rbac.authorization.k8s.io":        {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, Name: validation.RBACName, Validate: validateClusterRole}},
	"rolebindings.rbac.authorization.k8s.io":        {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, Name: validation.RBACName, Validate: validateRoleBinding, Default: defaultRoleBinding}},
	"roles.rbac.authorization.k8s.io":               {Strategy: resource.Strategy{UnconditionalUpdate: true, CreateOnUpdate: true, Name: validation.RBACName, Validate: validateRole}},

	"deviceclasses.resource.k8s.io":              {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Name: validation.FinishedName}, generation: []string{"spec"}},
	"devicetaintrules.resource.k8s.io":           {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Stamp: stampTaintRule}, generation: []string{"spec"}, status: statusOnly},
	"resourceclaims.resource.k8s.io":             {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Default: defaultResourceClaim}, status: statusOnly},
	"resourceclaimtemplates.resource.k8s.io":     {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Default: defaultResourceClaimTemplate}},
	"resourcepoolstatusrequests.resource.k8s.io": {Strategy: resource.Strategy{AnswersDeleted: true}, status: statusOnly},
	"resourceslices.resource.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true,
		Prepare: prepareResourceSlice, Stamp: stampResourceSlice,
		Fields: []resource.Field{field("spec.nodeName", "spec", "nodeName"), field("spec.driver", "spec", "driver")},
		UnknownField: func(label string) string {
			return "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: " + label
		},
	}, generation: []string{"spec"}},

	"priorityclasses.scheduling.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true, Default: defaultPriorityClass, Admit: admitPriorityClass}, generation: []string{"value"}},

	"csidrivers.storage.k8s.io":              {Strategy: resource.Strategy{AnswersDeleted: true, Default: defaultCSIDriver, Prepare: prepareCSIDriver}},
	"csinodes.storage.k8s.io":                {Strategy: resource.Strategy{AnswersDeleted: true}},
	"csistoragecapacities.storage.k8s.io":    {},
	"storageclasses.storage.k8s.io":          {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Default: defaultStorageClass}},
	"volumeattachments.storage.k8s.io":       {Strategy: resource.Strategy{AnswersDeleted: true, Default: defaultVolumeAttachment}, status: statusOnly},
	"volumeattributesclasses.storage.k8s.io": {Strategy: resource.Strategy{UnconditionalUpdate: true, AnswersDeleted: true, Mutate: protected("kubernetes.io/vac-protection")}},
}
