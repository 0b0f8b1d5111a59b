package plugin

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/admission/plugin/defaulttolerationseconds"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/once"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/suggest"
	"github.com/kubefake/kubefake/internal/validation"
)

// ServiceAccount is the name of the plugin that kube-apiserver enables by default and this package does not.
const ServiceAccount = "ServiceAccount"

// A known is an admission plugin of kube-apiserver.
type known struct {
	name  string
	on    bool              // enabled by default here
	since behavior.Behavior // of the releases that have it; 0: all
	until behavior.Behavior // of the releases that no longer have it; 0: none
}

// in reports whether a minor release has the plugin.
func (p known) in(minor int) bool {
	return p.since.In(minor) && (p.until == 0 || !p.until.In(minor))
}

// allPlugins are the plugins of kube-apiserver in the order in which it runs them. This server
// has those of All, the webhooks and policies, and AlwaysAdmit and
// NamespaceAutoProvision.
//
// Differs from kube-apiserver: the plugin ServiceAccount: it is enabled only on request, as envtest
// disables it; in the drop-in kube-apiserver it is enabled by default. Request: POST of a pod without
// a serviceAccountName.
var allPlugins = []known{
	{name: "AlwaysAdmit"},
	{name: "NamespaceAutoProvision"},
	{name: "NamespaceLifecycle", on: true},
	{name: "NamespaceExists"},
	{name: "LimitPodHardAntiAffinityTopology"},
	{name: "LimitRanger", on: true},
	{name: ServiceAccount},
	{name: "NodeRestriction"},
	{name: "TaintNodesByCondition", on: true},
	{name: "AlwaysPullImages"},
	{name: "ImagePolicyWebhook"},
	{name: "PodSecurity", on: true},
	{name: "PodNodeSelector"},
	{name: "Priority", on: true},
	{name: "DefaultTolerationSeconds", on: true},
	{name: "PodTolerationRestriction"},
	{name: "EventRateLimit"},
	{name: "ExtendedResourceToleration"},
	{name: "DefaultStorageClass", on: true},
	{name: "StorageObjectInUseProtection", on: true},
	{name: "PodGroupProtection", on: true, since: behavior.WorkloadPlugins},
	{name: "OwnerReferencesPermissionEnforcement"},
	{name: "PersistentVolumeClaimResize", on: true},
	{name: "RuntimeClass", on: true},
	{name: "CertificateApproval", on: true},
	{name: "CertificateSigning", on: true},
	{name: "ClusterTrustBundleAttest", on: true},
	{name: "CertificateSubjectRestriction", on: true},
	{name: "DefaultIngressClass", on: true},
	{name: "DenyServiceExternalIPs"},
	{name: "PodTopologyLabels", on: true, since: behavior.PodTopologyLabelsPlugin},
	{name: "PodGroupWorkloadExists", on: true, since: behavior.WorkloadPlugins, until: behavior.NoWorkloadChecks},
	{name: "NodeDeclaredFeatureValidator", on: true, since: behavior.NodeDeclaredFeaturesPlugin},
	{name: "JobValidation", on: true, since: behavior.WorkloadPlugins, until: behavior.NoWorkloadChecks},
	{name: "PodResizeValidator", on: true, since: behavior.PodResizePlugin},
	{name: "MutatingAdmissionPolicy", on: true},
	{name: "MutatingAdmissionWebhook", on: true},
	{name: "ValidatingAdmissionPolicy", on: true},
	{name: "ValidatingAdmissionWebhook", on: true},
	{name: "ResourceQuota", on: true},
	{name: "AlwaysDeny"},
}

// A Selection says which plugins are enabled: those of Enable, and of the plugins that
// kube-apiserver enables by default those that are not in Disable.
type Selection struct {
	Enable, Disable []string

	// ConfigFile is the name of a file with an AdmissionConfiguration; "" for none.
	ConfigFile string

	// NotReadySeconds and UnreachableSeconds are how long Pods tolerate by default that their Node is
	// not ready or unreachable; nil is five minutes.
	NotReadySeconds, UnreachableSeconds *int64
}

// Chain returns the chain of a release with the selected plugins. It fails with the errors
// of Check, and for a wrong configuration. types are those of the release.
func (s Selection) Chain(r validation.Release, types *resource.Types) (*Chain, error) {
	minor := r.Minor()
	if len(s.Enable)+len(s.Disable) == 0 && s.ConfigFile == "" && s.NotReadySeconds == nil && s.UnreachableSeconds == nil {
		return defaultChain(minor), nil
	}
	if errs := s.Check(minor); len(errs) > 0 {
		return nil, errors.New(status.Aggregate(errs))
	}
	enabled := s.enabled(minor)
	config := configuration{release: r, types: types, defaultTolerations: s.defaultTolerations()}
	if s.ConfigFile == "" {
		if err := config.setAll(nil, enabled); err != nil {
			return nil, err
		}
		return newChain(enabled, config), nil
	}
	if err := config.read(s.ConfigFile, enabled); err != nil {
		return nil, inputfile.Wrap(s.ConfigFile, err)
	}
	return newChain(enabled, config), nil
}

func (s Selection) defaultTolerations() defaulttolerationseconds.Plugin {
	seconds := func(n *int64) int64 {
		if n == nil {
			return defaulttolerationseconds.DefaultSeconds
		}
		return *n
	}
	return defaulttolerationseconds.New(seconds(s.NotReadySeconds), seconds(s.UnreachableSeconds))
}

// Check returns the errors of kube-apiserver for names that a minor release does not
// have, and for names in both lists.
func (s Selection) Check(minor int) (errs []error) {
	var both []string
	for _, name := range s.Enable {
		if !exists(minor, name) {
			errs = append(errs, unknown("enable-admission-plugins", minor, name))
		}
		if slices.Contains(s.Disable, name) && !slices.Contains(both, name) {
			both = append(both, name)
		}
	}
	for _, name := range s.Disable {
		if !exists(minor, name) {
			errs = append(errs, unknown("disable-admission-plugins", minor, name))
		}
	}
	if len(both) > 0 {
		slices.Sort(both)
		errs = append(errs, fmt.Errorf("%v in enable-admission-plugins and disable-admission-plugins overlapped", both))
	}
	return errs
}

// CheckOnly returns the errors of kube-apiserver for values of --admission-control that a
// minor release does not have.
func CheckOnly(minor int, names []string) (errs []error) {
	for _, name := range names {
		if !exists(minor, name) {
			errs = append(errs, unknown("admission-control", minor, name))
		}
	}
	return errs
}

// unknown returns the error for a value of a flag.
func unknown(flag string, minor int, name string) error {
	return fmt.Errorf("%s plugin %q is unknown%s", flag, name, suggest.DidYouMean(name, Names(minor)))
}

// enabled returns a function that reports whether a plugin is enabled.
func (s Selection) enabled(minor int) func(name string) bool {
	enabled := map[string]bool{}
	for _, p := range allPlugins {
		if p.in(minor) {
			enabled[p.name] = slices.Contains(s.Enable, p.name) || p.on && !slices.Contains(s.Disable, p.name)
		}
	}
	return func(name string) bool { return enabled[name] }
}

// exists reports whether kube-apiserver has a plugin in a minor release.
func exists(minor int, name string) bool {
	return slices.ContainsFunc(allPlugins, func(p known) bool { return p.name == name && p.in(minor) })
}

// Names returns the names of the plugins of kube-apiserver in a minor release, in the
// order in which it runs them.
func Names(minor int) (names []string) {
	for _, p := range allPlugins {
		if p.in(minor) {
			names = append(names, p.name)
		}
	}
	return names
}

// Default returns the chain of the plugins that kube-apiserver enables by default in a
// minor release. The chain is shared.
func Default(minor int) *Chain { return defaultChain(minor) }

var defaultChain = once.PerKey(func(minor int) *Chain { return New(Selection{}.enabled(minor)) })
