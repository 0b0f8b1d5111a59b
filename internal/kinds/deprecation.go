package kinds

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/resource"
)

// A deprecation says from which release on a kind should not be used, from
// which it is not served, and what to use instead.
type deprecation struct {
	since       int    // minor release
	unavailable int    // minor release; 0 if it goes on
	instead     string // "" if there is nothing to name
}

// deprecations are the kinds that releases warn of, by apiVersion and kind.
//
// See https://kubernetes.io/docs/reference/using-api/deprecation-guide/.
var deprecations = map[string]deprecation{
	"v1 ComponentStatus": {since: 19},
	"v1 Endpoints":       {since: 33, instead: "discovery.k8s.io/v1 EndpointSlice"},

	"admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy":         {since: 35, unavailable: 38},
	"admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding":  {since: 35, unavailable: 38},
	"admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicy":        {since: 31, unavailable: 34},
	"admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicyBinding": {since: 31, unavailable: 34},
	"authentication.k8s.io/v1beta1 SelfSubjectReview":                       {since: 30, unavailable: 33},
	"certificates.k8s.io/v1alpha1 ClusterTrustBundle":                       {since: 34, unavailable: 37},
	"coordination.k8s.io/v1alpha2 LeaseCandidate":                           {since: 35, unavailable: 38},
	"coordination.k8s.io/v1beta1 LeaseCandidate":                            {since: 36, unavailable: 39},
	"networking.k8s.io/v1beta1 IPAddress":                                   {since: 34, unavailable: 37},
	"networking.k8s.io/v1beta1 ServiceCIDR":                                 {since: 34, unavailable: 37},
	"resource.k8s.io/v1alpha3 DeviceTaintRule":                              {since: 36, unavailable: 39},
	"resource.k8s.io/v1beta1 DeviceClass":                                   {since: 35, unavailable: 38},
	"resource.k8s.io/v1beta1 ResourceClaim":                                 {since: 35, unavailable: 38},
	"resource.k8s.io/v1beta1 ResourceClaimTemplate":                         {since: 35, unavailable: 38},
	"resource.k8s.io/v1beta1 ResourceSlice":                                 {since: 35, unavailable: 38},
	"resource.k8s.io/v1beta2 DeviceClass":                                   {since: 36, unavailable: 39},
	"resource.k8s.io/v1beta2 ResourceClaim":                                 {since: 36, unavailable: 39},
	"resource.k8s.io/v1beta2 ResourceClaimTemplate":                         {since: 36, unavailable: 39},
	"resource.k8s.io/v1beta2 ResourceSlice":                                 {since: 36, unavailable: 39},
	"storage.k8s.io/v1alpha1 VolumeAttributesClass":                         {since: 32, unavailable: 35, instead: "storage.k8s.io/v1 VolumeAttributesClass"},
	"storage.k8s.io/v1beta1 VolumeAttributesClass":                          {since: 34, unavailable: 37, instead: "storage.k8s.io/v1 VolumeAttributesClass"},
}

// Deprecate gives types what a release, given by its minor number, warns of
// them. They must not be served yet.
func Deprecate(types []*resource.Type, minor int) {
	for _, t := range types {
		t.Warnings = deprecationOf(resource.Kind{GroupVersion: t.GroupVersion, Kind: t.Kind}, minor)
	}
}

// deprecationOf is what a release, given by its minor number, warns of a kind;
// nil if of nothing.
func deprecationOf(kind resource.Kind, minor int) []string {
	name := kind.GroupVersion.String() + " " + kind.Kind
	d, ok := deprecations[name]
	if !ok || d.since > minor {
		return nil
	}
	text := fmt.Sprintf("%s is deprecated in v1.%d+", name, d.since)
	if d.unavailable > 0 {
		text += fmt.Sprintf(", unavailable in v1.%d+", d.unavailable)
	}
	if d.instead != "" {
		text += "; use " + d.instead
	}
	return []string{text}
}
