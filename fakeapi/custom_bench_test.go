package fakeapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// BenchmarkDefine installs a definition of 200 fields, up to where its resource
// is served, and removes it.
func BenchmarkDefine(b *testing.B) {
	var fields []string
	for i := range 200 {
		fields = append(fields, fmt.Sprintf(`"f%d":{"type":"string","maxLength":20,"description":"what f%d is for"}`, i, i))
	}
	definition := widgets("v1", strings.Join(fields, ","))
	srv := fakeapi.Start(b)
	for b.Loop() {
		_, err := srv.Put(definition)
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, srv.Delete("customresourcedefinitions", "", "widgets.example.com"))
		b.StartTimer()
	}
}
