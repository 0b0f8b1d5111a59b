package resources

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

// SetDefaults sets the quantities that the named resource list does not have. It
// does not create an empty list.
func SetDefaults(resources map[string]any, name string, quantities map[string]any) {
	if len(quantities) == 0 {
		return
	}
	list := object.EnsureMap(resources, name)
	for resource, q := range quantities {
		object.SetDefault(list, resource, q)
	}
}

// Add adds the quantities of src to those of dst.
func Add(dst map[string]any, src object.View) {
	for name, v := range src.Fields() {
		q := v.String()
		AddQuantity(dst, name, q)
	}
}

func AddQuantity(dst map[string]any, name, q string) {
	if own, ok := dst[name].(string); ok {
		q = quantity.Add(own, q)
	}
	dst[name] = q
}

// Max sets each quantity of dst to the larger one of dst and src.
func Max(dst, src map[string]any) {
	for name, v := range src {
		q, _ := v.(string)
		if own, ok := dst[name].(string); !ok || quantity.Compare(own, q) < 0 {
			dst[name] = q
		}
	}
}

// computeResources are the resources that determine the QoS class.
var computeResources = [ComputeResourceCount]string{"cpu", "memory"}

// AddCompute adds the positive CPU and memory quantities of src to dst.
func AddCompute(dst map[string]any, src object.View) {
	for _, name := range computeResources {
		if q := src.String(name); quantity.IsPositive(q) {
			AddQuantity(dst, name, q)
		}
	}
}

// CountCompute returns how many of the CPU and memory quantities of a list are positive.
func CountCompute(list object.View) (n int) {
	for _, name := range computeResources {
		if q := list.String(name); quantity.IsPositive(q) {
			n++
		}
	}
	return n
}

// ComputeResourceCount is the number of resources that determine the QoS class.
const ComputeResourceCount = 2
