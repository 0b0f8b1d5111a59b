// Package resources validates the names of compute resources, their quantities and
// requirements, and adds lists of them.
package resources

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/validation"
)

// standardResources are the resources without a prefix.
var standardResources = []string{
	"cpu", "memory", "ephemeral-storage",
	"requests.cpu", "requests.memory", "requests.ephemeral-storage",
	"limits.cpu", "limits.memory", "limits.ephemeral-storage",
	"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
	"storage", "requests.storage", "services.nodeports", "services.loadbalancers",
}

// countedResources are those of which there is a whole number.
var countedResources = []string{
	"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
	"services.nodeports", "services.loadbalancers",
}

// podResources are those that a pod can ask for as a whole, besides huge pages.
var podResources = []string{"cpu", "hugepages-", "memory"}

// IsNative reports whether Kubernetes itself knows the resource: its
// name has no prefix or one of kubernetes.io.
func IsNative(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, "kubernetes.io/")
}

// IsExtended reports whether the name is of a resource that only the
// nodes know.
func IsExtended(name string) bool {
	return !IsNative(name) && !strings.HasPrefix(name, "requests.") && len(validation.QualifiedName("requests."+name)) == 0
}

// IsInteger reports whether there are only whole numbers of a resource.
func IsInteger(name string) bool {
	return slices.Contains(countedResources, name) || IsExtended(name)
}

// IsOvercommitAllowed reports whether more of a resource may be allowed than is
// asked for.
func IsOvercommitAllowed(name string) bool { return IsNative(name) && !IsHugePages(name) }

func IsQuotaHugePages(name string) bool {
	return IsHugePages(name) || strings.HasPrefix(name, "requests.hugepages-")
}

// ValidateName checks the name of a resource.
func ValidateName(name string) []string {
	if messages := validation.QualifiedName(name); len(messages) > 0 {
		return messages
	}
	if !strings.Contains(name, "/") && !slices.Contains(standardResources, name) && !IsQuotaHugePages(name) {
		return []string{"must be a standard resource type or fully qualified"}
	}
	return nil
}

// ValidateContainerResourceName checks the name of a resource of containers.
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
	return validation.Each(path, validation.NamedString(name), messages)
}

// ValidatePodResourceName checks the name of a resource of a pod as a whole.
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

// IsStandard reports whether the resource is one of those without a prefix.
func IsStandard(name string) bool { return slices.Contains(standardResources, name) }
