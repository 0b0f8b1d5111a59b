package allocator

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCheckRanges(t *testing.T) {
	for _, row := range []struct {
		name   string
		ranges []string
		err    string
	}{
		{"none", nil, ""},
		{"eight addresses", []string{"10.0.0.0/29"}, ""},
		{"both families", []string{"fd00::/125", "10.0.0.0/30"}, ""},
		{"four addresses", []string{"10.0.0.0/30"}, "the first range of service addresses has fewer than eight addresses"},
		{"one family twice", []string{"10.0.0.0/24", "10.1.0.0/24"}, "two ranges of service addresses of one IP family"},
		{"three", []string{"10.0.0.0/24", "fd00::/112", "10.1.0.0/24"}, "more than two ranges of service addresses"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var ranges []netip.Prefix
			for _, r := range row.ranges {
				ranges = append(ranges, netip.MustParsePrefix(r))
			}
			err := CheckRanges(ranges)
			if row.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, row.err)
			}
		})
	}
	assert.EqualError(t, CheckRanges([]netip.Prefix{{}}), "a range of service addresses is not valid")
}

func TestCandidates(t *testing.T) {
	zero := func(uint64) uint64 { return 0 }
	for _, tt := range []struct {
		prefix      string
		count       int
		first, last string
		excluded    []string
	}{
		{"10.0.0.0/29", 6, "10.0.0.1", "10.0.0.6", []string{"10.0.0.0", "10.0.0.7"}},
		{"10.0.0.0/24", 254, "10.0.0.17", "10.0.0.16", []string{"10.0.0.0", "10.0.0.255", "10.0.1.1"}},
		{"fd00::/125", 7, "fd00::1", "fd00::7", []string{"fd00::"}},
		{"fd00::/64", 1<<16 - 1, "fd00::101", "fd00::100", []string{"fd00::"}},
	} {
		t.Run(tt.prefix, func(t *testing.T) {
			a := addresses(netip.MustParsePrefix(tt.prefix))
			var all []netip.Addr
			for addr := range a.candidates(zero) {
				all = append(all, addr)
				if !a.contains(addr) {
					t.Fatalf("%s is not in the range", addr)
				}
			}
			assert.Len(t, all, tt.count)
			assert.Equal(t, tt.first, all[0].String())
			assert.Equal(t, tt.last, all[len(all)-1].String())
			for _, ip := range tt.excluded {
				assert.False(t, a.contains(netip.MustParseAddr(ip)), ip)
			}
		})
	}
}
