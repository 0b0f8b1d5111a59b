package behavior

// The behaviors of expressions that are compatible with 1.32, as new ones in 1.33 are.
const (
	_ Behavior = 32*byRelease + iota
	// CELComprehensions: expressions have macros with two variables.
	CELComprehensions
	// CELOptionalFunctions: the library of optional types has first and last.
	CELOptionalFunctions
	// CELElementSizes: estimates of costs know the sizes of the elements of lists and maps that
	// an expression makes, and of the values of optionals and dyn.
	CELElementSizes
)

// The behaviors since 1.33.
const (
	_ Behavior = 33*byRelease + iota
	// AcceptsRepeatedAddresses: a repeated pod CIDR of a Node and a repeated IP address of a Pod
	// have no error of their own; only their IP families are compared.
	AcceptsRepeatedAddresses
	// AddressesOfEndpoints: the addresses of an EndpointSlice are validated as all IP addresses
	// are, and those of another family have an error for the list.
	AddressesOfEndpoints
	// AllowsKubeletPort: a Service of type LoadBalancer may have the port of kubelets.
	AllowsKubeletPort
	// AuthorizesTokenAudiences: a node may request tokens for audiences that RBAC allows it, with
	// the verb request-serviceaccounts-token-audience.
	AuthorizesTokenAudiences
	// CELIntOrStringSizes: estimates of costs know the maxLength of int-or-string. New
	// expressions of 1.34 are compatible with 1.33.
	CELIntOrStringSizes
	// CELSemver: expressions have the semver library. New expressions of 1.34 are compatible
	// with 1.33.
	CELSemver
	// ChargesTerminatingScope: an update that gives a Pod a deadline, or takes it away, charges
	// the quotas of the other scope.
	ChargesTerminatingScope
	// ComponentStatusNotFound: a component that does not exist is a 404, with the reason
	// NotFound.
	ComponentStatusNotFound
	// FieldPaths: errors of the status of a Pod and of the drivers of a CSINode name the fields
	// where they are.
	FieldPaths
	// GitRepoDisabled: the warning about gitRepo volumes says that they are disabled.
	GitRepoDisabled
	// KubeletsReadServiceAccounts: the Node authorizer lets kubelets read the ServiceAccounts of
	// their Pods where a feature gate needs that.
	KubeletsReadServiceAccounts
	// ListsRefuseVersions: a list with a resourceVersion that does not parse is a 400, whether
	// the watch cache or etcd would serve it.
	ListsRefuseVersions
	// OmitsEmptySelectableFields: the OpenAPI documents of custom resources without selectable
	// fields have no empty x-kubernetes-selectable-fields.
	OmitsEmptySelectableFields
	// OptionalBetaDiscovery: a feature gate can remove aggregated discovery v2beta1.
	OptionalBetaDiscovery
	// PodGenerations: Pods have a generation.
	PodGenerations
	// PodSubresourcesOwnFields: writes of ephemeral containers and of the sizes of containers
	// change the managed fields of the Pod.
	PodSubresourcesOwnFields
	// PodTopologyLabelsPlugin: there is an admission plugin PodTopologyLabels.
	PodTopologyLabelsPlugin
	// ProtectsVolumeAttributesClasses: StorageObjectInUseProtection adds a finalizer to
	// VolumeAttributesClasses.
	ProtectsVolumeAttributesClasses
	// QuotaColumns: the age of a ResourceQuota is the last column.
	QuotaColumns
	// RatchetsEndpointSlices: an update that does not change the endpoints of an EndpointSlice
	// does not validate them.
	RatchetsEndpointSlices
	// RatchetsStatuses: an update of the status of a custom resource may keep invalid values.
	RatchetsStatuses
	// ScaleReadErrors: a Scale that cannot be read fails with the error of its object, whatever its
	// type, not as one that does not exist.
	ScaleReadErrors
	// SchemeLine110: errors name line 110 of pkg/runtime/scheme.go.
	SchemeLine110
	// ServiceCIDRUpdatesOnce: an update of a ServiceCIDR is not validated as a new object too.
	ServiceCIDRUpdatesOnce
	// StatefulSetHistoryUpdates: the revisionHistoryLimit of a StatefulSet can change.
	StatefulSetHistoryUpdates
	// StoredVersionTexts: the error for a stored version that a definition lacks explains what
	// must happen before the version goes.
	StoredVersionTexts
	// TokensOfMigratedVolumes: a node may request tokens for the CSI drivers that serve in-tree
	// volumes.
	TokensOfMigratedVolumes
	// UnderscoresInMetrics: the media type of metrics says that their names are escaped with
	// underscores.
	UnderscoresInMetrics
	// UnderscoresInSearchPaths: the search paths of a Pod may have underscores, and may be the
	// root domain.
	UnderscoresInSearchPaths
	// ValidatesAffinityValues: the values of a node selector must be label values, except where
	// an update keeps others.
	ValidatesAffinityValues
	// ValidatesServiceNames: the serviceName of a new StatefulSet must be a DNS label.
	ValidatesServiceNames
	// VolumeAttributesClassScope: quotas have the scope VolumeAttributesClass.
	VolumeAttributesClassScope
	// WarnsOfAddresses: all kinds warn of IP addresses and CIDRs in a form that is ambiguous or
	// not canonical. Before, Services do.
	WarnsOfAddresses
	// WarnsOfPortNames: a Pod warns of ports with the same name.
	WarnsOfPortNames
	// WarnsOfUnlimitedHistory: a StatefulSet warns of a negative revisionHistoryLimit.
	WarnsOfUnlimitedHistory
)

// The behaviors since 1.34.
const (
	_ Behavior = 34*byRelease + iota
	// AllocatedStatusPaths: errors of allocatedResourceStatuses of a PersistentVolumeClaim spell
	// the name of the field right.
	AllocatedStatusPaths
	// AppsUpdatesOnce: an update of a DaemonSet or ReplicaSet is not validated as a new object
	// too.
	AppsUpdatesOnce
	// AuthenticationConfigurationV1: AuthenticationConfiguration has the version v1.
	AuthenticationConfigurationV1
	// CELLists: expressions have the third version of the library of lists.
	CELLists
	// ComparesAppArmorAnnotations: pod templates warn of AppArmor annotations of containers that
	// differ from the profile of the Pod.
	ComparesAppArmorAnnotations
	// DecreasesMemoryLimits: a resize may decrease memory limits without a restart.
	DecreasesMemoryLimits
	// DefaultsCronJobPolicies: a CronJob has defaults in the policies of its Jobs.
	DefaultsCronJobPolicies
	// FutureRevisions: a list of a revision that etcd does not have yet is a 504, as one from the
	// watch cache is.
	FutureRevisions
	// GoValuesAsJSON: errors print values that are no strings or numbers as JSON, not in Go
	// syntax.
	GoValuesAsJSON
	// JobSuccessStatus: the column STATUS shows SuccessCriteriaMet.
	JobSuccessStatus
	// MirrorPodReferences: NodeRestriction refuses mirror pods by all references of their
	// volumes to other objects.
	MirrorPodReferences
	// MissingBeforePreconditions: a change of a missing object is a 404, whatever UID it expects.
	MissingBeforePreconditions
	// NoAppArmorAnnotations: a new Pod gets no AppArmor annotations for the profiles in its
	// fields.
	NoAppArmorAnnotations
	// NoBookmarkBlueprints: the bookmark after the initial events has no empty list.
	NoBookmarkBlueprints
	// NoVolumeDevicesOfUsers: a Pod with a user namespace may not have volumeDevices.
	NoVolumeDevicesOfUsers
	// OmitsNullTimes: an object without a creationTimestamp is encoded without the field, not
	// with null.
	OmitsNullTimes
	// PartialKeys: an item of an applied list may omit some of its keys.
	PartialKeys
	// PlainDetails: the details of errors do not repeat the name of the field, and say the same
	// things in the same words: "must be", "field is immutable", nothing for what is required.
	PlainDetails
	// ProjectedSourcesApart: warnings about overlapping paths take a projected source without
	// paths for none, not for the one before it.
	ProjectedSourcesApart
	// ServiceMetadataOnce: an update of a Service validates its metadata once.
	ServiceMetadataOnce
	// StatefulSetTemplates: the pod template and the claim templates of a new StatefulSet are
	// validated whole.
	StatefulSetTemplates
	// StreamsTables: a watch that begins with a streaming list may ask for Tables.
	StreamsTables
	// StrictRoutes: the routes refuse media types whether a request has a body or not.
	StrictRoutes
	// TokenRequestUIDs: a TokenRequest has the UID of its service account.
	TokenRequestUIDs
	// ValidatesScaleTargets: the apiVersion of the target of a HorizontalPodAutoscaler must be
	// one.
	ValidatesScaleTargets
	// VolumeAttributesClassNames: the name of a VolumeAttributesClass does not say whether it is
	// the default one.
	VolumeAttributesClassNames
	// WarnsOfFormats: definitions warn of formats that the server does not know.
	WarnsOfFormats
	// WarnsOfHeadlessFields: headless Services warn of fields that have no effect.
	WarnsOfHeadlessFields
	// WebhookPatchErrors: the failurePolicy of a webhook counts for a patch that is no JSON.
	WebhookPatchErrors
)

// The behaviors since 1.35.
const (
	_ Behavior = 35*byRelease + iota
	// AllStatusVersions: a write of the status of a custom resource resets the fields of
	// managers in all versions with a status.
	AllStatusVersions
	// CELErrorValues: errors of rules about objects have the value in place of its type.
	CELErrorValues
	// DeclarativeDevices: generated validation checks the kinds of resource.k8s.io, in its order
	// and with its errors.
	DeclarativeDevices
	// DeleteOptionsBadRequests: a body that is no DeleteOptions is a 400, with a reason.
	DeleteOptionsBadRequests
	// EmbeddedFieldPaths: errors of decoding JSON name the embedded structs of a field.
	EmbeddedFieldPaths
	// EmptyDriverNames: the missing name of a CSI driver has no other errors.
	EmptyDriverNames
	// ExplainsRefusedEvictions: a refused eviction says that the controller of the budget failed,
	// or what its condition says.
	ExplainsRefusedEvictions
	// ImpersonationBadRequests: an impersonation without a user name is a 400.
	ImpersonationBadRequests
	// LabelKeyTexts: errors of label keys speak of label keys, not of qualified names.
	LabelKeyTexts
	// LengthsInBytes: errors give the length of names in bytes, not in characters.
	LengthsInBytes
	// NameFormats: the schemas of definitions have the formats k8s-short-name and k8s-long-name.
	NameFormats
	// NodeDeclaredFeaturesPlugin: there is an admission plugin NodeDeclaredFeatureValidator.
	NodeDeclaredFeaturesPlugin
	// PodFailureStatus: the column STATUS of a Pod shows why a container failed, though others
	// completed.
	PodFailureStatus
	// ResizesPodResources: a resize may change the resources of a Pod as a whole, and add
	// requests and limits.
	ResizesPodResources
	// RestartRulesNeedPolicy: a container with restartPolicyRules must have a restartPolicy.
	RestartRulesNeedPolicy
	// SchemeLine111: errors name line 111 of pkg/runtime/scheme.go.
	SchemeLine111
	// SeparateProxyCAs: the files of the CAs of clients and of proxies must not have a common
	// certificate, unless a flag names the proxies.
	SeparateProxyCAs
	// ServiceAccountColumns: ServiceAccounts have no column SECRETS.
	ServiceAccountColumns
	// TolerationComparisons: tolerations have the operators Lt and Gt, behind a feature gate.
	TolerationComparisons
	// TolerationPaths: errors of the tolerations of a RuntimeClass are at their items.
	TolerationPaths
	// UpdatesOnce: an update of most kinds is not validated as a new object too.
	UpdatesOnce
	// WarnsOfCSITokens: CSIDrivers warn of tokens without serviceAccountTokenInSecrets.
	WarnsOfCSITokens
	// WarnsOfQuotas: ResourceQuotas warn of requests that are not less than their limits.
	WarnsOfQuotas
	// WarnsOfTrafficDistribution: Services warn of the traffic distribution PreferClose.
	WarnsOfTrafficDistribution
)

// The behaviors since 1.36.
const (
	_ Behavior = 36*byRelease + iota
	// AuditLogRotation: the flags of the audit log have limits by default, and a size of 0 turns
	// rotation off.
	AuditLogRotation
	// AuditsAllGroups: the group "*" of a rule of an audit policy means all groups.
	AuditsAllGroups
	// CELNameSizes: estimates of costs know the longest name of an object. New expressions of 1.37
	// are compatible with 1.36.
	CELNameSizes
	// ClaimNamePaths: errors of the name of a generated ResourceClaim are at resourceClaimName.
	ClaimNamePaths
	// ContainerRestartTexts: errors of restart policies of containers are those of lists with
	// too many items and of unsupported values.
	ContainerRestartTexts
	// CRDExamples: OpenAPI documents have the examples and the external documentation of
	// schemas in definitions.
	CRDExamples
	// DeclarativeSpecs: generated validation checks what is required and what cannot change in
	// some kinds, such as StorageClasses.
	DeclarativeSpecs
	// DefaultIngressClassName: the name of the default IngressClass says so.
	DefaultIngressClassName
	// DeprecatesExternalIPs: Services warn of externalIPs. kubernetes#137293.
	DeprecatesExternalIPs
	// DeviceKeyPaths: errors of the keys of a map of a ResourceSlice are at the map.
	DeviceKeyPaths
	// EmptyAttachers: the missing attacher of a VolumeAttachment has no other errors.
	EmptyAttachers
	// InitContainerResizes: errors of the resize of init containers speak of all init
	// containers, and restart policies of a resize are checked for those that are no sidecars.
	InitContainerResizes
	// JobStartTimes: the error for a changed startTime of a Job says that it is immutable.
	JobStartTimes
	// LoopbackCertificateCheck: /healthz and /livez have the check loopback-serving-certificate.
	LoopbackCertificateCheck
	// MetricsConfiguration: errors of flags of metrics are those of fields of a configuration.
	MetricsConfiguration
	// NegotiatesBeforeOptions: a list or watch with an Accept header that nothing fits is a 406,
	// whatever its options.
	NegotiatesBeforeOptions
	// NodeArchitecture: the column KERNEL-VERSION shows the architecture. kubernetes#132402.
	NodeArchitecture
	// NumberFormats: schemas of definitions check the formats of numbers.
	NumberFormats
	// OtherUpdatesOnce: an update of a NetworkPolicy or CSINode is not validated as a new object
	// too.
	OtherUpdatesOnce
	// PodResizePlugin: there is an admission plugin PodResizeValidator.
	PodResizePlugin
	// RefusesAddresses: warnings about addresses say that their form is invalid, not that it will
	// be.
	RefusesAddresses
	// ScaledToZeroConditions: a condition says whether a HorizontalPodAutoscaler has scaled its target
	// to zero; only then does it scale it again.
	ScaledToZeroConditions
	// StaticManifests: admission plugins read webhooks and policies from files.
	StaticManifests
	// StatusWithoutMetadata: a write of the status of a custom resource does not own its
	// metadata.
	StatusWithoutMetadata
	// WebhookAdmissionV1: the configuration of the plugins of webhooks has no version v1alpha1.
	WebhookAdmissionV1
	// WorkloadPlugins: there are admission plugins for pod groups and the Jobs that have them.
	WorkloadPlugins
	// Zpages: /flagz and /statusz are served, behind feature gates. kubernetes#137386,
	// kubernetes#137384.
	Zpages
)

// The behaviors since 1.37.
const (
	_ Behavior = 37*byRelease + iota
	// AllocatableMappings: the status of a Pod has the resources of a claim that its node has as
	// allocatable as mappings and overheads, and such a Pod can be resized.
	AllocatableMappings
	// AppliedYAMLForAudit: the YAML of an apply is converted for the audit log before it is
	// decoded.
	AppliedYAMLForAudit
	// AppliesPatches: errors call the body of an apply a patch, not YAML.
	AppliesPatches
	// AuditsAllFailures: the annotation of the audit log has all failures of the action Audit.
	AuditsAllFailures
	// AuthorizesSigners: a node needs a volume, or the verb
	// request-serviceaccounts-podcertificate-signer, for certificates of a signer.
	AuthorizesSigners
	// AutoscalerErrors: errors about ambiguous selectors and metrics of objects have other words.
	AutoscalerErrors
	// CapacityRanges: errors about the default of a range of a capacity name it, and the step and the
	// bounds of a range must be numbers that it can be checked with.
	CapacityRanges
	// ChecksDeviceFeatures: a device with allocatable resources needs a feature of its nodes.
	ChecksDeviceFeatures
	// ChecksPatchesFirst: a patch that is no JSON is a 400 before the object is read.
	ChecksPatchesFirst
	// ClearsSystemFields: a PUT or PATCH that creates an object cannot set the metadata that
	// only the server sets.
	ClearsSystemFields
	// ComputesQOSClasses: the QoS class of a new Pod is that of its resources, also if its status
	// has another one.
	ComputesQOSClasses
	// ConditionGenerations: the conditions of a HorizontalPodAutoscaler have an
	// observedGeneration. kubernetes#138653.
	ConditionGenerations
	// CRDColumns: `kubectl get crd` shows group, scope and versions. kubernetes#131599.
	CRDColumns
	// DecodesCustomMetadata: the validation of a custom resource decodes its metadata.
	DecodesCustomMetadata
	// DeclarativeErrors: errors of generated validation take the place of handwritten ones: they
	// do not quote what is immutable, and have no details for what is required or forbidden.
	DeclarativeErrors
	// DiscoveryInCBOR: discovery documents are also in CBOR, behind the gate of CBOR.
	DiscoveryInCBOR
	// DistinctAttributeNames: the distinctAttribute of a constraint must have a domain.
	DistinctAttributeNames
	// EndpointSliceProxy: the proxy of a Service reads EndpointSlices. kubernetes#134860.
	EndpointSliceProxy
	// ExplainsUnfitBudgets: a refused eviction has a cause also if the status of the budget is wrong.
	ExplainsUnfitBudgets
	// GroupPriorities: the priority of pod groups has no feature gate of its own.
	GroupPriorities
	// HostFieldsOfPods: errors of the fields of a Pod about its host are at the spec, not at the
	// security context.
	HostFieldsOfPods
	// KeepsClaimStatuses: a write to the status of a Pod keeps what it leaves out about claims.
	KeepsClaimStatuses
	// KeepsEndpoints: the deletion of a Service leaves its Endpoints.
	KeepsEndpoints
	// KeepsFieldsOnErrors: an object whose managed fields cannot be updated keeps them.
	KeepsFieldsOnErrors
	// MetadataErrors: errors of owner references, managed fields and conditions are at the fields
	// that they are about.
	MetadataErrors
	// NamesAuthorizers: the reasons of a decision name the authorizers that made it.
	NamesAuthorizers
	// NoWorkloadChecks: the admission plugins PodGroupWorkloadExists and JobValidation are gone.
	NoWorkloadChecks
	// ParallelUpdates: a rolling update of a StatefulSet with parallel Pods replaces all Pods that
	// are not available, beside those that may be unavailable.
	ParallelUpdates
	// PodIPPairs: the podIPs of a Pod need a podIP.
	PodIPPairs
	// PoolSelectors: ResourceSlices are selected by the name of their pool.
	PoolSelectors
	// ReconcilesNewAutoscalers: a new HorizontalPodAutoscaler is reconciled at once.
	ReconcilesNewAutoscalers
	// ResetsPodCertificates: the field managers of a PodCertificateRequest do not own its status, or
	// its metadata in a write to the status.
	ResetsPodCertificates
	// RestrictsAllocatableClaims: a node cannot change what the status of a pod has about claims for
	// allocatable resources.
	RestrictsAllocatableClaims
	// MarksEffectiveDefault: of the StorageClasses in a list, only the default that takes effect is marked
	// in a Table.
	MarksEffectiveDefault
	// ScaleMetadata: a Scale keeps no metadata but the managed fields.
	ScaleMetadata
	// StatefulSetUpdates: the current revision of a StatefulSet follows an update of any strategy,
	// and its conditions are kept.
	StatefulSetUpdates
	// TracksBoundClaims: the condition Unused is that of PersistentVolumeClaims that are bound.
	TracksBoundClaims
	// TypedExpressions: expressions of policies and webhooks read built-in objects as values of their
	// Go types.
	TypedExpressions
	// UniqueErrors: equal errors of types with declarative validation are reported once.
	UniqueErrors
	// UnsafeDeletionConflicts: a deletion that ignores read errors fails with a conflict for an object
	// that can be read, with 404 for none, and removes nothing in a dry run.
	UnsafeDeletionConflicts
	// UpdatesWithoutNamespace: an object can be updated whose namespace does not exist.
	UpdatesWithoutNamespace
	// ValidatesBindingTargets: the Node that a Binding names must have the name of one.
	ValidatesBindingTargets
	// WaitsForDetach: the Event of a volume that is attached to another Node says that it waits.
	WaitsForDetach
	// WarnsOfSets: definitions warn of sets whose items are lists or objects.
	WarnsOfSets
	// WebhookTokens: TokenRequests know references to configurations of webhooks.
	WebhookTokens
)
