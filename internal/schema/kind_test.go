package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/profile"
	"github.com/kubefake/kubefake/internal/schema"
)

// TestEveryKind parses all embedded documents, which is why parsing them later
// cannot fail.
func TestEveryKind(t *testing.T) {
	for _, name := range profile.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := profile.Open(name)
			require.NoError(t, err)
			for _, typ := range p.Types() {
				s, ok := schema.ForKind(p, typ.Group, typ.Version, typ.Kind)
				if assert.True(t, ok, "%s %s", typ.GroupVersion, typ.Kind) {
					assert.Equal(t, "object", s.Type)
				}
				for _, sub := range typ.Subresources {
					k := sub.Kind
					if _, ok := schema.ForKind(p, k.Group, k.Version, k.Kind); !ok {
						t.Logf("%s %s/%s: no %v", typ.GroupVersion, typ.Name, sub.Name, k)
					}
				}
			}
		})
	}
}
func BenchmarkParse(b *testing.B) {
	p, err := profile.Open("")
	require.NoError(b, err)
	for _, path := range []string{"apis/batch/v1", "api/v1"} {
		b.Run("path="+path, func(b *testing.B) {
			doc, err := p.OpenAPI(path)
			require.NoError(b, err)
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := schema.Parse(doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
