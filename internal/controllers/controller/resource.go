package controller

import (
	"strings"

	"github.com/kubefake/kubefake/internal/resource"
)

// A Resource names a resource in one version, as the path of a URL does:
// "v1/pods", "apps/v1/deployments".
type Resource string

// The resources that controllers use.
const (
	ConfigMaps             Resource = "v1/configmaps"
	Endpoints              Resource = "v1/endpoints"
	Events                 Resource = "v1/events"
	Namespaces             Resource = "v1/namespaces"
	Nodes                  Resource = "v1/nodes"
	PersistentVolumeClaims Resource = "v1/persistentvolumeclaims"
	PersistentVolumes      Resource = "v1/persistentvolumes"
	Pods                   Resource = "v1/pods"
	ReplicationControllers Resource = "v1/replicationcontrollers"
	ResourceQuotas         Resource = "v1/resourcequotas"
	Secrets                Resource = "v1/secrets"
	ServiceAccounts        Resource = "v1/serviceaccounts"
	Services               Resource = "v1/services"

	ControllerRevisions Resource = "apps/v1/controllerrevisions"
	DaemonSets          Resource = "apps/v1/daemonsets"
	Deployments         Resource = "apps/v1/deployments"
	ReplicaSets         Resource = "apps/v1/replicasets"
	StatefulSets        Resource = "apps/v1/statefulsets"

	CronJobs Resource = "batch/v1/cronjobs"
	Jobs     Resource = "batch/v1/jobs"

	APIServices                 Resource = "apiregistration.k8s.io/v1/apiservices"
	CertificateSigningRequests  Resource = "certificates.k8s.io/v1/certificatesigningrequests"
	ClusterRoles                Resource = "rbac.authorization.k8s.io/v1/clusterroles"
	CSIDrivers                  Resource = "storage.k8s.io/v1/csidrivers"
	EndpointSlices              Resource = "discovery.k8s.io/v1/endpointslices"
	EventsV1                    Resource = "events.k8s.io/v1/events"
	HorizontalPodAutoscalers    Resource = "autoscaling/v2/horizontalpodautoscalers"
	IPAddresses                 Resource = "networking.k8s.io/v1/ipaddresses"
	Leases                      Resource = "coordination.k8s.io/v1/leases"
	PodDisruptionBudgets        Resource = "policy/v1/poddisruptionbudgets"
	ResourceClaims              Resource = "resource.k8s.io/v1/resourceclaims"
	ResourceClaimTemplates      Resource = "resource.k8s.io/v1/resourceclaimtemplates"
	ServiceCIDRs                Resource = "networking.k8s.io/v1/servicecidrs"
	SubjectAccessReviews        Resource = "authorization.k8s.io/v1/subjectaccessreviews"
	StorageClasses              Resource = "storage.k8s.io/v1/storageclasses"
	ValidatingAdmissionPolicies Resource = "admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	VolumeAttachments           Resource = "storage.k8s.io/v1/volumeattachments"
	VolumeAttributesClasses     Resource = "storage.k8s.io/v1/volumeattributesclasses"
)

// split returns the parts of r. The group is "" for the core group.
func (r Resource) split() (gv resource.GroupVersion, name string) {
	head, name, _ := cutLast(string(r))
	group, version, ok := cutLast(head)
	if !ok {
		group, version = "", head
	}
	return resource.GroupVersion{Group: group, Version: version}, name
}

// ResourceOf returns the Resource of a type.
func ResourceOf(t *resource.Type) Resource {
	return Resource(t.GroupVersion.String() + "/" + t.Name)
}

// cutLast cuts s around its last slash.
func cutLast(s string) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return "", s, false
}
