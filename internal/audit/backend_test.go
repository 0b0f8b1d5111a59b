package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/metrics"
)

// A fullWriter writes nothing while it is full.
type fullWriter struct {
	bytes.Buffer
	full bool
}

func (w *fullWriter) Write(b []byte) (int, error) {
	if w.full {
		return 0, errors.New("no space left on device")
	}
	return w.Buffer.Write(b)
}

// A backend that loses an event keeps it from no other. The metrics have the losses, and those of
// a strict backend are errors of the log.
func TestBackends(t *testing.T) {
	for _, tt := range []struct {
		name   string
		strict bool
	}{{"may lose events", false}, {"strict", true}} {
		t.Run(tt.name, func(t *testing.T) {
			var full, other fullWriter
			b := &Backends{}
			b.Add(Backend{Plugin: "log", Writer: &full, Strict: tt.strict})
			b.Add(Backend{Plugin: "webhook", Writer: &other})
			l := NewLog(nil, b)
			assert.True(t, l.Begin(&Event{}, time.Time{}))
			full.full = true
			assert.Equal(t, !tt.strict, l.Begin(&Event{}, time.Time{}))
			err := l.Write(&Event{}, ResponseComplete, time.Time{})
			assert.Equal(t, tt.strict, err != nil)
			full.full = false
			assert.True(t, l.Begin(&Event{}, time.Time{}))
			assert.Equal(t, 2, strings.Count(full.String(), "\n"))
			assert.Equal(t, 4, strings.Count(other.String(), "\n"))
			text := string(metrics.Encode(l.Metrics()...))
			assert.Contains(t, text, "\napiserver_audit_event_total 4\n")
			assert.Contains(t, text, "\napiserver_audit_error_total{plugin=\"log\"} 2\n")
			rejected := "0"
			if tt.strict {
				rejected = "1"
			}
			assert.Contains(t, text, "\napiserver_audit_requests_rejected_total "+rejected+"\n")
		})
	}
}

// A server without a log has the metrics, too.
func TestMetricsWithoutLog(t *testing.T) {
	assert.Contains(t, string(metrics.Encode((*Log)(nil).Metrics()...)), "\napiserver_audit_event_total 0\n")
}

func TestTruncation(t *testing.T) {
	large := strings.Repeat("x", 200)
	line := func(level, object string) string {
		e := Event{Kind: "Event", APIVersion: "audit.k8s.io/v1", Level: level, AuditID: "1"}
		if object != "" {
			e.RequestObject = json.RawMessage(`"` + object + `"`)
		}
		text, err := json.Marshal(e)
		require.NoError(t, err)
		return string(text) + "\n"
	}
	max := int64(len(line(Request, "")) + 60)
	for _, tt := range []struct {
		name, line, want string // want is a part; "" is a lost event
	}{
		{"small", line(Request, "x"), `"requestObject":"x"`},
		{"without objects", line(Request, large), `"annotations":{"audit.k8s.io/truncated":"true"}`},
		{"too large", strings.Replace(line(Request, ""), `"1"`, `"`+large+`"`, 1), ""},
		{"too large without objects", strings.Replace(line(Metadata, ""), `"1"`, `"`+large+`"`, 1), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			lost := 0
			b := Backends{Report: func(plugin string, n int, _ error) {
				assert.Equal(t, "truncate", plugin)
				lost += n
			}}
			b.Add(Backend{Writer: &out, MaxEvent: max, Strict: true})
			n, err := b.Write([]byte(tt.line))
			require.NoError(t, err)
			assert.Equal(t, len(tt.line), n)
			assert.Equal(t, tt.want == "", lost == 1)
			assert.Equal(t, tt.want == "", out.Len() == 0)
			assert.Contains(t, out.String(), tt.want)
			assert.NotContains(t, out.String(), large)
		})
	}
}
