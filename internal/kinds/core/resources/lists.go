package resources

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

// SetDefaults gives a resource list the quantities that it lacks. It makes no
// empty list.
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
func Add(dst, src map[string]any) {
	for name, v := range src {
		q, _ := v.(string)
		AddQuantity(dst, name, q)
	}
}

func AddQuantity(dst map[string]any, name, q string) {
	if own, ok := dst[name].(string); ok {
		q = quantity.Add(own, q)
	}
	dst[name] = q
}

// Max raises the quantities of dst to those of src.
func Max(dst, src map[string]any) {
	for name, v := range src {
		q, _ := v.(string)
		if own, ok := dst[name].(string); !ok || quantity.Compare(own, q) < 0 {
			dst[name] = q
		}
	}
}

// computeNames are the resources that determine the quality of service.
var computeNames = [ComputeResourceCount]string{"cpu", "memory"}

// AddCompute adds of src what is more than none of CPU and memory, and returns
// of how many that is.
func AddCompute(dst, src map[string]any) (n int) {
	for _, name := range computeNames {
		if q := object.String(src, name); quantity.IsPositive(q) {
			AddQuantity(dst, name, q)
			n++
		}
	}
	return n
}

// ComputeResourceCount is how many of them there are.
const ComputeResourceCount = 2
