package metrics

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAllowList(t *testing.T) {
	requests := Family{Name: "requests_total", Type: Counter, Samples: []Sample{
		{Labels: []string{"code", "200", "verb", "GET"}, Value: 3},
		{Labels: []string{"code", "201", "verb", "POST"}, Value: 2},
		{Labels: []string{"code", "404", "verb", "GET"}, Value: 1},
	}}
	inflight := Family{Name: "inflight", Type: Gauge, Samples: []Sample{{Labels: []string{"kind", "read"}, Value: 7}, {Labels: []string{"kind", "write"}, Value: 0}}}
	seconds := Family{Name: "seconds", Type: Histogram, Samples: []Sample{
		{Suffix: "_bucket", Labels: []string{"verb", "GET", "le", "+Inf"}, Value: 4},
		{Suffix: "_sum", Labels: []string{"verb", "GET"}, Value: 0.5},
		{Suffix: "_count", Labels: []string{"verb", "GET"}, Value: 4},
	}}
	for _, tt := range []struct {
		name  string
		list  AllowList
		of    Family
		want  []Sample
		count float64
	}{
		{"values that come together", AllowList{"requests_total,code": {"201"}}, requests, []Sample{
			{Labels: []string{"code", "unexpected", "verb", "GET"}, Value: 4},
			{Labels: []string{"code", "201", "verb", "POST"}, Value: 2},
		}, 4},
		{"two labels", AllowList{"requests_total,code": {"201"}, "requests_total,verb": {"PUT"}}, requests, []Sample{
			{Labels: []string{"code", "unexpected", "verb", "unexpected"}, Value: 4},
			{Labels: []string{"code", "201", "verb", "unexpected"}, Value: 2},
		}, 10},
		{"gauge", AllowList{"inflight,kind": {"write"}}, inflight, []Sample{{Labels: []string{"kind", "unexpected"}, Value: 7}, {Labels: []string{"kind", "write"}, Value: 0}}, 1},
		{"histogram", AllowList{"seconds,verb": {"POST"}}, seconds, []Sample{
			{Suffix: "_bucket", Labels: []string{"verb", "unexpected", "le", "+Inf"}, Value: 4},
			{Suffix: "_sum", Labels: []string{"verb", "unexpected"}, Value: 0.5},
			{Suffix: "_count", Labels: []string{"verb", "unexpected"}, Value: 4},
		}, 4},
		{"another metric", AllowList{"requests,code": {"201"}}, requests, requests.Samples, 0},
		{"no list", nil, requests, requests.Samples, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.list.Constrain([]Family{tt.of})
			assert.Equal(t, tt.want, got[0].Samples)
			assert.Equal(t, "cardinality_enforcement_unexpected_categorizations_total", got[1].Name)
			assert.Equal(t, []Sample{{Value: tt.count}}, got[1].Samples)
		})
	}
	assert.NoError(t, AllowList{"a:b,c": nil}.Check())
	assert.ErrorContains(t, AllowList{"a": nil}.Check(), "\"a\": must have keys with format `metricName,labelName`")
}
