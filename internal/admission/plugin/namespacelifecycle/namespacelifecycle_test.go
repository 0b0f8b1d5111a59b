package namespacelifecycle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/admission/plugin/namespacelifecycle"
	"github.com/kubefake/kubefake/internal/status"
)

func TestCheckWrite(t *testing.T) {
	for _, tt := range []struct {
		name                         string
		exists, terminating, creates bool
		want                         string
	}{
		{"create", true, false, true, ""},
		{"create while terminating", true, true, true, `pods "p" is forbidden: unable to create new content in namespace n because it is being terminated`},
		{"update while terminating", true, true, false, ""},
		{"no namespace", false, false, false, `namespaces "n" not found`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := namespacelifecycle.Write{
				Resource: status.GroupResource{Resource: "pods"}, Namespace: "n", Name: "p",
				Creates: tt.creates, Exists: tt.exists, Terminating: tt.terminating,
			}
			err := namespacelifecycle.Plugin{}.CheckWrite(w)
			if tt.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tt.want)
			}
		})
	}
}

func TestCheckDelete(t *testing.T) {
	p, namespaces := namespacelifecycle.Plugin{}, status.GroupResource{Resource: "namespaces"}
	assert.EqualError(t, p.CheckDelete(namespaces, "default"), `namespaces "default" is forbidden: this namespace may not be deleted`)
	assert.NoError(t, p.CheckDelete(namespaces, "other"))
	assert.NoError(t, p.CheckDelete(status.GroupResource{Resource: "pods"}, "default"))
}
