package versus

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each server does each operation.
func TestControllerRuntime(t *testing.T) { testOperations(t, controllerRuntime()) }

func TestClientGo(t *testing.T) { testOperations(t, clientGo()) }

func testOperations(t *testing.T, servers []server) {
	for _, s := range servers {
		for _, op := range operations(3) {
			t.Run(s.name+"/"+op.name, func(t *testing.T) {
				if s.noStart && op.starts() {
					t.Skip("nothing starts")
				}
				err := op.prepare(t, s)(1)
				if s.noApply && op.name == "apply" {
					assert.Error(t, err)
					return
				}
				assert.NoError(t, err)
			})
		}
	}
}

// BenchmarkControllerRuntime measures the operations with the client of controller-runtime.
func BenchmarkControllerRuntime(b *testing.B) { benchmark(b, controllerRuntime()) }

// BenchmarkClientGo measures the operations with the clientset of client-go.
func BenchmarkClientGo(b *testing.B) { benchmark(b, clientGo()) }

func benchmark(b *testing.B, servers []server) {
	for _, s := range servers {
		b.Run(s.name, func(b *testing.B) {
			for _, op := range operations(1000) {
				b.Run(op.name, func(b *testing.B) {
					if s.noApply && op.name == "apply" {
						b.Skip("it has no server-side apply")
					}
					if s.noStart && op.starts() {
						b.Skip("nothing starts")
					}
					do := op.prepare(b, s)
					require.NoError(b, do(1)) // what a process does once, and each client, such as discovery
					if s.prepared != nil {
						s.prepared()
					}
					i := 1
					for b.Loop() {
						i++
						if err := do(i); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}
