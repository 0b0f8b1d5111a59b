package release

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func TestBootstrapObjects(t *testing.T) {
	count := map[string]int{}
	for o := range bootstrapObjects(minorNumber(Newest)) {
		count[o.Resource]++
		assert.NotEmpty(t, o.Name)
	}
	assert.Equal(t, map[string]int{
		"namespaces": 4, "services": 1, "endpoints": 1, "endpointslices": 1, "configmaps": 1, "ipaddresses": 1, "servicecidrs": 1,
		"prioritylevelconfigurations": 8, "flowschemas": 11, "priorityclasses": 2, "apiservices": 32,
		"clusterroles": 73, "clusterrolebindings": 54, "roles": 7, "rolebindings": 7,
	}, count)
}

// TestBootstrapObjectsOf checks that each object is in the releases that create it.
func TestBootstrapObjectsOf(t *testing.T) {
	names := func(minor int) map[string]bool {
		out := map[string]bool{}
		for o := range bootstrapObjects(minor) {
			key := o.Resource + "/" + o.Namespace + "/" + o.Name
			assert.False(t, out[key], "%s is there twice in 1.%d", key, minor)
			out[key] = true
		}
		return out
	}
	for minor := 32; minor <= minorNumber(Newest); minor++ {
		got := names(minor)
		assert.True(t, got["clusterroles//view"], minor)
		assert.Equal(t, minor >= 33, got["servicecidrs//kubernetes"], minor)
	}
}

func TestInSpan(t *testing.T) {
	for _, tt := range []struct {
		span  string
		minor int
		want  bool
	}{
		{"32-", 32, true}, {"32-", 40, true}, {"33-", 32, false},
		{"32-34", 34, true}, {"32-34", 35, false}, {"34-34", 34, true},
	} {
		assert.Equal(t, tt.want, inSpan(tt.span, tt.minor), "%s %d", tt.span, tt.minor)
	}
}

// TestExpand checks that no variables are left, and that the other members agree
// with the JSON.
func TestExpand(t *testing.T) {
	const now, uid = "2026-11-21T07:18:05Z", "0c1c1779-41ee-47f7-89f8-c391d8d60d82"
	for _, row := range []struct {
		name, ip, family, endpoint string
		ranges                     []string
	}{
		{"one family", "10.0.0.1", "IPv4", "192.0.2.1", []string{"10.0.0.0/24"}},
		{"host bits", "10.0.0.1", "IPv4", "192.0.2.1", []string{"10.0.0.9/24"}},
		{"both families", "fd00::1", "IPv6", "2001:db8::1", []string{"fd00::/112", "10.0.0.0/16"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := &BootstrapValues{Now: now, UID: func() string { return uid }, Port: 7443}
			for _, r := range row.ranges {
				v.Ranges = append(v.Ranges, netip.MustParsePrefix(r))
			}
			has := map[string]string{}
			for o := range bootstrapObjects(minorNumber(Newest)) {
				unique := o.Unique()
				o = o.Expand(v)
				o.JSON = string(o.AppendJSON(nil, v))
				require.NotContains(t, o.JSON, "$")
				var obj struct {
					Metadata struct {
						Name, Namespace, UID, CreationTimestamp string
						Labels                                  map[string]string
					}
				}
				require.NoError(t, json.Unmarshal([]byte(o.JSON), &obj), o.JSON)
				assert.Equal(t, []string{o.Namespace, o.Name, now}, []string{obj.Metadata.Namespace, obj.Metadata.Name, obj.Metadata.CreationTimestamp})
				assert.Equal(t, o.Labels, obj.Metadata.Labels)
				assert.Equal(t, unique, obj.Metadata.UID == uid, o.Name)
				has[o.Resource+"/"+o.Name] = strings.Join(o.Fields, " ") + o.JSON
			}
			assert.Contains(t, has["services/kubernetes"], row.ip+` ClusterIP{"kind":"Service"`)
			assert.Contains(t, has["services/kubernetes"], `"port":443,"targetPort":7443}],"clusterIP":"`+row.ip+`"`)
			assert.Contains(t, has["services/kubernetes"], `"ipFamilies":["`+row.family+`"]`)
			assert.Contains(t, has["endpoints/kubernetes"], `{"addresses":[{"ip":"`+row.endpoint+`"}],"ports":[{"name":"https","port":7443,"protocol":"TCP"}]}`)
			assert.Contains(t, has["endpointslices/kubernetes"], `"addressType":"`+row.family+`"`)
			assert.Contains(t, has["ipaddresses/"+row.ip], `"ipaddress.kubernetes.io/ip-family":"`+row.family+`"`)
			assert.Contains(t, has["configmaps/kube-apiserver-legacy-service-account-token-tracking"], `"data":{"since":"2026-11-21"}`)
			assert.Contains(t, has["servicecidrs/kubernetes"], strings.ReplaceAll(`"cidrs":["`+strings.Join(row.ranges, `","`)+`"]`, "0.9/", "0.0/"))
		})
	}
}

// TestExpandCopies checks that Expand leaves the object for the next server
// unchanged.
func TestExpandCopies(t *testing.T) {
	v := &BootstrapValues{Now: "2026-11-21T07:18:05Z", UID: func() string { return "" }, Ranges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}}
	for o := range bootstrapObjects(minorNumber(Newest)) {
		if o.Resource == "ipaddresses" {
			expanded := o.Expand(v)
			assert.Equal(t, "IPv4", expanded.Labels["ipaddress.kubernetes.io/ip-family"])
			assert.Equal(t, "${family}", o.Labels["ipaddress.kubernetes.io/ip-family"])
			assert.Equal(t, "${ip}", o.Name)
		}
	}
}

func TestFlowSpec(t *testing.T) {
	assert.Equal(t, int64(1), FlowSpec("flowschemas", "exempt")["matchingPrecedence"])
	assert.Equal(t, "Exempt", FlowSpec("prioritylevelconfigurations", "exempt")["type"])
	assert.Equal(t, int64(0), object.Value(FlowSpec("prioritylevelconfigurations", "exempt"), "exempt", "lendablePercent"))
	assert.Nil(t, FlowSpec("flowschemas", "node-high"), "the name of an object of another resource")
}
