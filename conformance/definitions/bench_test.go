package definitions

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// BenchmarkDefine measures the creation of each definition until its resource is served.
func BenchmarkDefine(b *testing.B) {
	all, err := definitions()
	require.NoError(b, err)
	for _, d := range all {
		b.Run(d.Metadata.Name, func(b *testing.B) {
			srv := fakeapi.Start(b, fakeapi.WithInMemory())
			for b.Loop() {
				code, _ := request(b, srv, "POST", path, d.text)
				require.Equal(b, 201, code)
				b.StopTimer()
				require.NoError(b, srv.Remove("customresourcedefinitions", "", d.Metadata.Name))
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/definition")
		})
	}
}
