// Package resources validates and adds up compute resources: their names, quantities
// and requirements.
package resources

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/validation"
)

// standardResources are the resource names that need no prefix.
var standardResources = []string{
	"cpu", "memory", "ephemeral-storage",
	"requests.cpu", "requests.memory", "requests.ephemeral-storage",
	"limits.cpu", "limits.memory", "limits.ephemeral-storage",
	"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
	"storage", "requests.storage", "services.nodeports", "services.loadbalancers",
}

// integerResources are the standard resources whose quantities must be integers.
var integerResources = []string{
	"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
	"services.nodeports", "services.loadbalancers",
}

// podResources are the resources that kube-apiserver's error lists for pod-level
// resources.
var podResources = []string{"cpu", "hugepages-", "memory"}

// IsNative reports whether the resource is defined by Kubernetes: its name has no
// prefix, or one in kubernetes.io.
func IsNative(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, "kubernetes.io/")
}

// IsExtended reports whether the resource is an extended resource, such as
// example.com/gpu.
func IsExtended(name string) bool {
	return !IsNative(name) && !strings.HasPrefix(name, "requests.") && len(validation.QualifiedName("requests."+name)) == 0
}

// IsInteger reports whether quantities of the resource must be integers.
func IsInteger(name string) bool {
	return slices.Contains(integerResources, name) || IsExtended(name)
}

// IsOvercommitAllowed reports whether the limit of the resource may exceed its
// request.
func IsOvercommitAllowed(name string) bool { return IsNative(name) && !IsHugePages(name) }

func IsQuotaHugePages(name string) bool {
	return IsHugePages(name) || strings.HasPrefix(name, "requests.hugepages-")
}

// ValidateName returns the messages for a name that is not a resource name.
func ValidateName(name string) []string {
	if messages := validation.QualifiedName(name); len(messages) > 0 {
		return messages
	}
	if !strings.Contains(name, "/") && !slices.Contains(standardResources, name) && !IsQuotaHugePages(name) {
		return []string{"must be a standard resource type or fully qualified"}
	}
	return nil
}

// ValidateContainerResourceName validates a resource name in the requirements of a
// container.
func ValidateContainerResourceName(name string, path *validation.Path) validation.List {
	messages := ValidateName(name)
	switch {
	case !strings.Contains(name, "/"):
		if name != "cpu" && name != "memory" && name != "ephemeral-storage" && !IsHugePages(name) {
			messages = append(messages, "must be a standard resource for containers")
		}
	case !IsNative(name) && !IsExtended(name):
		messages = append(messages, "doesn't follow extended resource name standard")
	}
	if len(messages) == 0 {
		return nil
	}
	return validation.Each(path, validation.AsGoType("core.ResourceName=s", name), messages)
}

// ValidatePodResourceName validates a resource name in the pod-level requirements.
func ValidatePodResourceName(name string, path *validation.Path) validation.List {
	if messages := ValidateName(name); len(messages) > 0 {
		return validation.Each(path, validation.NamedString(name), messages)
	}
	if name != "cpu" && name != "memory" && !IsHugePages(name) {
		return validation.List{validation.NotSupported(path, validation.NamedString(name), podResources)}
	}
	return nil
}

func IsHugePages(resource string) bool { return strings.HasPrefix(resource, "hugepages-") }

// IsStandard reports whether the name is one of the resource names that need no
// prefix.
func IsStandard(name string) bool { return slices.Contains(standardResources, name) }
