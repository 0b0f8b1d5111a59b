package controllers

import (
	"github.com/kubefake/kubefake/internal/controllers/attachdetach"
	"github.com/kubefake/kubefake/internal/controllers/bootstraptoken"
	"github.com/kubefake/kubefake/internal/controllers/certificates"
	"github.com/kubefake/kubefake/internal/controllers/clusterroleaggregation"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/cronjob"
	"github.com/kubefake/kubefake/internal/controllers/daemonset"
	"github.com/kubefake/kubefake/internal/controllers/deployment"
	"github.com/kubefake/kubefake/internal/controllers/disruption"
	"github.com/kubefake/kubefake/internal/controllers/endpoints"
	"github.com/kubefake/kubefake/internal/controllers/endpointslicemirroring"
	"github.com/kubefake/kubefake/internal/controllers/ephemeralvolume"
	"github.com/kubefake/kubefake/internal/controllers/garbagecollector"
	"github.com/kubefake/kubefake/internal/controllers/job"
	"github.com/kubefake/kubefake/internal/controllers/kubelet"
	"github.com/kubefake/kubefake/internal/controllers/legacytokencleaner"
	"github.com/kubefake/kubefake/internal/controllers/namespace"
	"github.com/kubefake/kubefake/internal/controllers/nodelifecycle"
	"github.com/kubefake/kubefake/internal/controllers/persistentvolumebinder"
	"github.com/kubefake/kubefake/internal/controllers/podautoscaler"
	"github.com/kubefake/kubefake/internal/controllers/podgc"
	"github.com/kubefake/kubefake/internal/controllers/pvcprotection"
	"github.com/kubefake/kubefake/internal/controllers/pvprotection"
	"github.com/kubefake/kubefake/internal/controllers/replicaset"
	"github.com/kubefake/kubefake/internal/controllers/replicationcontroller"
	"github.com/kubefake/kubefake/internal/controllers/resourceclaim"
	"github.com/kubefake/kubefake/internal/controllers/resourcequota"
	"github.com/kubefake/kubefake/internal/controllers/rootcacertpublisher"
	"github.com/kubefake/kubefake/internal/controllers/scheduler"
	"github.com/kubefake/kubefake/internal/controllers/serviceaccount"
	"github.com/kubefake/kubefake/internal/controllers/serviceaccounttoken"
	"github.com/kubefake/kubefake/internal/controllers/servicecidr"
	"github.com/kubefake/kubefake/internal/controllers/statefulset"
	"github.com/kubefake/kubefake/internal/controllers/storageprovisioner"
	"github.com/kubefake/kubefake/internal/controllers/tainteviction"
	"github.com/kubefake/kubefake/internal/controllers/ttlafterfinished"
	"github.com/kubefake/kubefake/internal/controllers/validatingadmissionpolicystatus"
	"github.com/kubefake/kubefake/internal/controllers/volumeattributesclassprotection"
	"github.com/kubefake/kubefake/internal/controllers/volumeexpander"
)

// An entry is a controller that exists.
type entry struct {
	name         string
	alias        string // the name before Kubernetes 1.28, which --controllers still takes
	start        func(*controller.Env)
	offByDefault bool
}

// known are the controllers in the order of their names, in which they start.
var known = []entry{
	{name: "bootstrap-signer-controller", alias: "bootstrapsigner", start: bootstraptoken.StartSigner, offByDefault: true},
	{name: "certificatesigningrequest-approving-controller", alias: "csrapproving", start: certificates.StartApproving},
	{name: "certificatesigningrequest-cleaner-controller", alias: "csrcleaner", start: certificates.StartCleaner},
	{name: "certificatesigningrequest-signing-controller", alias: "csrsigning", start: certificates.StartSigning},
	{name: "clusterrole-aggregation-controller", alias: "clusterrole-aggregation", start: clusterroleaggregation.Start},
	{name: "cronjob-controller", alias: "cronjob", start: cronjob.Start},
	{name: "daemonset-controller", alias: "daemonset", start: daemonset.Start},
	{name: "deployment-controller", alias: "deployment", start: deployment.Start},
	{name: "disruption-controller", alias: "disruption", start: disruption.Start},
	{name: "endpoints-controller", alias: "endpoint", start: endpoints.Start},
	{name: "endpointslice-controller", alias: "endpointslice", start: endpoints.StartSlices},
	{name: "endpointslice-mirroring-controller", alias: "endpointslicemirroring", start: endpointslicemirroring.Start},
	{name: "ephemeral-volume-controller", alias: "ephemeral-volume", start: ephemeralvolume.Start},
	{name: "garbage-collector-controller", alias: "garbagecollector", start: garbagecollector.Start},
	{name: "horizontal-pod-autoscaler-controller", alias: "horizontalpodautoscaling", start: podautoscaler.Start},
	{name: "job-controller", alias: "job", start: job.Start},
	{name: "kubelet", start: kubelet.Start},
	{name: "legacy-serviceaccount-token-cleaner-controller", alias: "legacy-service-account-token-cleaner", start: legacytokencleaner.Start},
	{name: "namespace-controller", alias: "namespace", start: namespace.Start},
	{name: "node-lifecycle-controller", alias: "nodelifecycle", start: nodelifecycle.Start},
	{name: "persistentvolume-attach-detach-controller", alias: "attachdetach", start: attachdetach.Start},
	{name: "persistentvolume-binder-controller", alias: "persistentvolume-binder", start: persistentvolumebinder.Start},
	{name: "persistentvolume-expander-controller", alias: "persistentvolume-expander", start: volumeexpander.Start},
	{name: "persistentvolume-protection-controller", alias: "pv-protection", start: pvprotection.Start},
	{name: "persistentvolumeclaim-protection-controller", alias: "pvc-protection", start: pvcprotection.Start},
	{name: "pod-garbage-collector-controller", alias: "podgc", start: podgc.Start},
	{name: "replicaset-controller", alias: "replicaset", start: replicaset.Start},
	{name: "replicationcontroller-controller", alias: "replicationcontroller", start: replicationcontroller.Start},
	{name: "resourceclaim-controller", alias: "resource-claim-controller", start: resourceclaim.Start},
	{name: "resourcequota-controller", alias: "resourcequota", start: resourcequota.Start},
	{name: "root-ca-certificate-publisher-controller", alias: "root-ca-cert-publisher", start: rootcacertpublisher.Start},
	{name: "scheduler", alias: "kube-scheduler", start: scheduler.Start},
	{name: "service-cidr-controller", start: servicecidr.Start},
	{name: "serviceaccount-controller", alias: "serviceaccount", start: serviceaccount.Start},
	{name: "serviceaccount-token-controller", alias: "serviceaccount-token", start: serviceaccounttoken.Start},
	{name: "statefulset-controller", alias: "statefulset", start: statefulset.Start},
	{name: "storage-provisioner", start: storageprovisioner.Start},
	{name: "taint-eviction-controller", start: tainteviction.Start},
	{name: "token-cleaner-controller", alias: "tokencleaner", start: bootstraptoken.StartCleaner, offByDefault: true},
	{name: "ttl-after-finished-controller", alias: "ttl-after-finished", start: ttlafterfinished.Start},
	{name: "validatingadmissionpolicy-status-controller", start: validatingadmissionpolicystatus.Start},
	{name: "volumeattributesclass-protection-controller", start: volumeattributesclassprotection.Start},
}

// missing are the controllers of kube-controller-manager v1.37 that this server does not
// have. They can be turned off, so that a selection for the real one works.
var missing = []string{
	"cloud-node-lifecycle-controller",
	"device-taint-eviction-controller",
	"kube-apiserver-serving-clustertrustbundle-publisher-controller",
	"node-ipam-controller",
	"node-route-controller",
	"podcertificaterequest-cleaner-controller",
	"podgroup-protection-controller",
	"resourcepoolstatusrequest-controller",
	"selinux-warning-controller",
	"service-lb-controller",
	"storage-version-migrator-controller",
	"storageversion-garbage-collector-controller",
	"ttl-controller",
}
