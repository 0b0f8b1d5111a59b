package kinds

import "testing"

func TestPrepareLease(t *testing.T) {
	testCreates(t, "leases.coordination.k8s.io", []row{
		{"disabled members", `{"spec":{"holderIdentity":"h","strategy":"OldestEmulationVersion","preferredHolder":"p"}}`, "spec", `{"holderIdentity":"h"}`},
	})
}
