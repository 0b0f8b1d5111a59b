package resourceapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestPoolStatusRequests(t *testing.T) {
	typ := kindtest.TypeIn(t, "v1.37-all", "resourcepoolstatusrequests.resource.k8s.io")
	assert.Equal(t, int64(100), kindtest.At(kindtest.Decode(t, typ, `{"spec":{"driver":"d"}}`), "spec.limit"))
	for _, r := range []struct{ name, body, old, want string }{
		{"driver", `{"spec":{"driver":"D.example.com","poolName":"a/b"}}`, "", ""},
		{"no driver", `{}`, "", "spec.driver: Required value"},
		{"empty pool", `{"spec":{"driver":"d","poolName":""}}`, "", `spec.poolName: Invalid value: "": segment 0: must not be empty`},
		{"pool that ends in a slash", `{"spec":{"driver":"d","poolName":"a/"}}`, "", `spec.poolName: Invalid value: "a/": segment 1: must not be empty`},
		{"few", `{"spec":{"driver":"d","limit":0}}`, "", "spec.limit: Invalid value: 0: must be greater than or equal to 1"},
		{"many", `{"spec":{"driver":"d","limit":1001}}`, "", "spec.limit: Invalid value: 1001: must be less than or equal to 1000"},
		{"other driver", `{"spec":{"driver":"e"}}`, `{"spec":{"driver":"d"}}`, "spec: Invalid value: null: field is immutable"},
		{"same driver", `{"spec":{"driver":"d"}}`, `{"spec":{"driver":"d"}}`, ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			var old map[string]any
			if r.old != "" {
				old = kindtest.Decode(t, typ, r.old)
			}
			assert.Equal(t, r.want, typ.Validate(kindtest.Decode(t, typ, r.body), object.ViewOf(old)).Message())
		})
	}
	for _, r := range []struct{ name, body, old, want string }{
		{"no status", `{}`, `{}`, ""},
		{"status", `{"status":{"poolCount":1,"pools":[{"driver":"d","poolName":"p","generation":1,"resourceSliceCount":1,"nodeName":"n"}]}}`, `{}`, ""},
		{"no count", `{"status":{}}`, `{}`, "status.poolCount: Required value"},
		{"count", `{"status":{"poolCount":-1}}`, `{}`, "status.poolCount: Invalid value: -1: must be greater than or equal to 0"},
		{"empty pool item", `{"status":{"poolCount":1,"pools":[{}]}}`, `{}`, "[status.pools[0].driver: Required value, status.pools[0].poolName: Required value, status.pools[0].generation: Required value]"},
		{"counts of devices", `{"status":{"poolCount":1,"pools":[{"driver":"d","poolName":"p","generation":1,"resourceSliceCount":0,"totalDevices":-1}]}}`, `{}`,
			"[status.pools[0].resourceSliceCount: Invalid value: 0: must be greater than or equal to 1, status.pools[0].totalDevices: Invalid value: -1: must be greater than or equal to 0]"},
		{"partitions", `{"status":{"poolCount":1,"pools":[{"driver":"d","poolName":"p","generation":1,"partitionSummary":[{"attribute":"a","type":"t","total":1,"allocatable":0},{"attribute":"a","type":"t","total":-1}]}]}}`, `{}`,
			`[status.pools[0].partitionSummary[1]: Duplicate value: {"attribute":"a","type":"t","total":-1}, status.pools[0].partitionSummary[1].total: Invalid value: -1: must be greater than or equal to 0, status.pools[0].partitionSummary[1].allocatable: Required value]`},
		{"shared devices", `{"status":{"poolCount":1,"pools":[{"driver":"d","poolName":"p","generation":1,"shareableSummary":{"fullyAvailableDevices":1,"capacity":[{"name":"c","total":"1","consumed":"1"}]}}]}}`, `{}`,
			"[status.pools[0].shareableSummary.partiallyAvailableDevices: Required value, status.pools[0].shareableSummary.capacity[0].available: Required value]"},
		{"second status", `{"status":{"poolCount":2}}`, `{"status":{"poolCount":1}}`, `status: Invalid value: {"PoolCount":2,"Pools":null,"Conditions":null}: field is immutable`},
	} {
		t.Run(r.name, func(t *testing.T) {
			assert.Equal(t, r.want, typ.SubresourceStrategies["status"].Validate(kindtest.Decode(t, typ, r.body), object.ViewOf(kindtest.Decode(t, typ, r.old))).Message())
		})
	}
}
