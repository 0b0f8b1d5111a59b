package kubelet

import (
	"net/netip"

	"github.com/kubefake/kubefake/internal/controllers/controller"
)

// The ranges of addresses of Nodes without an address, and of Pods on Nodes without a
// podCIDR.
const (
	nodeRange = "172.18.0.0/16"
	podRange  = "10.244.0.0/16"
)

// addresses allocates the addresses of Nodes and Pods.
type addresses struct {
	nodes map[string]string
	used  map[string]controller.Key // addresses of Pods
	pods  map[controller.Key][]string
	next  map[string]netip.Addr // the newest address of a range
}

func newAddresses() addresses {
	return addresses{map[string]string{}, map[string]controller.Key{}, map[controller.Key][]string{}, map[string]netip.Addr{}}
}

// ofNode returns the address of a Node that has none in its status.
func (a *addresses) ofNode(name string) string {
	ip := a.nodes[name]
	if ip == "" {
		ip = a.allocate(nodeRange)
		a.nodes[name] = ip
	}
	return ip
}

// ofPod returns the addresses of a Pod, one of each range.
func (a *addresses) ofPod(pod controller.Key, ranges []string) []string {
	if list := a.pods[pod]; list != nil {
		return list
	}
	if len(ranges) == 0 {
		ranges = []string{podRange}
	}
	var list []string
	for _, r := range ranges {
		if ip := a.allocate(r); ip != "" {
			a.used[ip] = pod
			list = append(list, ip)
		}
	}
	a.pods[pod] = list
	return list
}

// use keeps the addresses of a Pod from being allocated to another one.
func (a *addresses) use(pod *controller.Object) {
	if a.pods[pod.Key()] != nil || pod.View().Bool("spec", "hostNetwork") {
		return
	}
	var list []string
	for ip := range pod.View().At("status", "podIPs").Objects() {
		s := ip.String("ip")
		a.used[s] = pod.Key()
		list = append(list, s)
	}
	if list != nil {
		a.pods[pod.Key()] = list
	}
}

// release frees the addresses of a Pod.
func (a *addresses) release(pod *controller.Object) {
	for _, ip := range a.pods[pod.Key()] {
		delete(a.used, ip)
	}
	delete(a.pods, pod.Key())
}

// allocate returns an unused address of a range: the one after the newest. It returns ""
// if there is none.
func (a *addresses) allocate(r string) string {
	prefix, err := netip.ParsePrefix(r)
	if err != nil {
		return ""
	}
	first := prefix.Masked().Addr().Next()
	ip, known := a.next[r]
	if !known {
		ip = first
	}
	for range maxAddresses {
		if ip = ip.Next(); !prefix.Contains(ip) {
			ip = first
		}
		if _, used := a.used[ip.String()]; !used {
			a.next[r] = ip
			return ip.String()
		}
	}
	return ""
}

// maxAddresses is how many addresses of a range can be in use.
const maxAddresses = 1 << 16
