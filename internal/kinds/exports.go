package kinds

import (
	"math/big"

	"github.com/kubefake/kubefake/internal/object"
)

// What admission plugins need of quantities, pods and priority classes.

// CompareQuantities returns a negative number, 0 or a positive number if a is
// less than, equal to or greater than b.
func CompareQuantities(a, b string) int { return compare(a, b) }

// SubtractQuantity returns a - b in the notation of a.
func SubtractQuantity(a, b string) string { return difference(a, b) }

// IsNonzeroQuantity reports whether a quantity is not 0.
func IsNonzeroQuantity(q string) bool { return nonzero(q) }

// RoundUpQuantity rounds a quantity away from zero to a whole number.
func RoundUpQuantity(q string) string { return roundToUnits(q) }

// QuantityRatio returns a / b. b must not be 0.
func QuantityRatio(a, b string) float64 {
	x, _ := nanos(a)
	y, _ := nanos(b)
	f, _ := new(big.Rat).SetFrac(x, y).Float64()
	return f
}

// AddQuantities adds the quantities of src to those of dst.
func AddQuantities(dst, src map[string]any) { addList(dst, src) }

// MaxQuantities raises the quantities of dst to those of src.
func MaxQuantities(dst, src map[string]any) { maxList(dst, src) }

// PodResources returns the sum of a member of the resources of a pod's
// containers, "requests" or "limits". Its cpu and memory are those of the pod as
// a whole if the pod has them.
func PodResources(spec map[string]any, member string) map[string]any {
	total := effective(spec, member)
	resources, _ := spec["resources"].(map[string]any)
	list, _ := resources[member].(map[string]any)
	for name, q := range list {
		if name == "cpu" || name == "memory" {
			total[name] = q
		}
	}
	return total
}

// IsBestEffort reports whether the quality of service of a pod is BestEffort.
func IsBestEffort(spec map[string]any) bool { return qosClass(spec) == bestEffort }

// IsHugePages reports whether the name is that of huge pages of some size.
func IsHugePages(name string) bool { return isHugePages(name) }

// IsQuotaHugePages reports whether the name is that of huge pages in a quota.
func IsQuotaHugePages(name string) bool { return isQuotaHugePages(name) }

// IsNativeResource reports whether the name has no prefix or one of
// kubernetes.io.
func IsNativeResource(name string) bool { return isNativeResource(name) }

// IsExtendedResource reports whether the name is that of an extended resource.
func IsExtendedResource(name string) bool { return isExtendedResource(name) }

// SystemPriority returns the value of a PriorityClass of the system.
func SystemPriority(name string) (value int64, ok bool) {
	value, ok = systemPriorities[name]
	return value, ok
}

// ClaimStorageClass returns the StorageClass that a claim names, in its spec or
// in the older annotation; nil if it names none.
func ClaimStorageClass(claim map[string]any) any {
	if name := object.Value(claim, "metadata", "annotations", "volume.beta.kubernetes.io/storage-class"); name != nil {
		return name
	}
	return object.Value(claim, "spec", "storageClassName")
}
