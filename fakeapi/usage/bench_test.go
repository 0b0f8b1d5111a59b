//go:build go1.25

package usage_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/usage"
)

// BenchmarkCreate shows what counting costs a create.
func BenchmarkCreate(b *testing.B) {
	for _, counting := range []bool{false, true} {
		b.Run(fmt.Sprintf("counting=%t", counting), func(b *testing.B) {
			srv := fakeapi.Start(b, fakeapi.WithInMemory())
			if counting {
				usage.Start(srv)
			}
			client := srv.Client()
			for i := 0; b.Loop(); i++ {
				body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"},"data":{"a":"b"}}`, i)
				r, err := http.NewRequest(http.MethodPost, srv.URL+"/api/v1/namespaces/default/configmaps", strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("User-Agent", "manager/v0.0.0 (linux/amd64) kubernetes/$Format")
				answer, err := client.Do(r)
				if err != nil || answer.StatusCode != http.StatusCreated {
					b.Fatal(err, answer)
				}
				answer.Body.Close()
			}
		})
	}
}
