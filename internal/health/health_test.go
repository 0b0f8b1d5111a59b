package health

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/release/behavior"
)

func TestParsePath(t *testing.T) {
	for _, tt := range []struct {
		path, endpoint, check string
		ok                    bool
	}{
		{"/healthz", "healthz", "", true},
		{"/livez/ping", "livez", "ping", true},
		{"/readyz/poststarthook/rbac/bootstrap-roles", "readyz", "poststarthook/rbac/bootstrap-roles", true},
		{"/livez/shutdown", "", "", false},
		{"/readyz/", "", "", false},
		{"/statusz", "", "", false},
	} {
		t.Run(tt.path, func(t *testing.T) {
			endpoint, check, ok := ParsePath(newest{}, tt.path)
			assert.Equal(t, tt.ok, ok)
			assert.Equal(t, []string{tt.endpoint, tt.check}, []string{endpoint, check})
		})
	}
}

func TestReport(t *testing.T) {
	for _, endpoint := range Endpoints() {
		lines := strings.Split(strings.TrimSpace(Report(newest{}, endpoint, nil)), "\n")
		assert.Len(t, lines, len(Checks(newest{}, endpoint))+1)
		assert.Equal(t, "[+]ping ok", lines[0])
		assert.Equal(t, endpoint+" check passed", lines[len(lines)-1])
	}
	report := Report(newest{}, "readyz", []string{"etcd", "b", "a"})
	assert.Contains(t, report, "[+]etcd excluded: ok\n[+]etcd-readiness ok\n")
	assert.True(t, strings.HasSuffix(report, "warn: some health checks cannot be excluded: no matches for \"a\", \"b\"\nreadyz check passed\n"), report)
}

// newest is a release with all checks.
type newest struct{}

func (newest) Has(b behavior.Behavior) bool { return b.In(36) }
func (newest) Enabled(string) bool          { return true }

// old is a release that has none of the checks with conditions.
type old struct{ newest }

func (old) Has(b behavior.Behavior) bool { return b.In(32) }
func (old) Enabled(string) bool          { return false }

func TestChecksOfReleases(t *testing.T) {
	assert.Contains(t, Checks(newest{}, "livez"), "loopback-serving-certificate")
	for check := range conditions {
		assert.NotContains(t, Checks(old{}, "livez"), check)
		assert.Contains(t, Checks(newest{}, "livez"), check)
	}
}
