package pending

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const list = "# The reasons.\n\na/1: needs patch\nb/2: unexplained\n"

// fakeTB records the outcome of a test.
type fakeTB struct {
	testing.TB
	outcome string
	cleanup []func()
}

func (r *fakeTB) Helper()          {}
func (r *fakeTB) Cleanup(f func()) { r.cleanup = append(r.cleanup, f) }
func (r *fakeTB) Errorf(format string, args ...any) {
	r.outcome = "error: " + fmt.Sprintf(format, args...)
}
func (r *fakeTB) Fatal(args ...any) {
	r.outcome = "fatal: " + fmt.Sprint(args...)
	runtime.Goexit()
}
func (r *fakeTB) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }
func (r *fakeTB) Skip(args ...any) {
	r.outcome = "skip: " + fmt.Sprint(args...)
	runtime.Goexit()
}

// outcome runs f as a test and returns its outcome.
func outcome(f func(testing.TB)) string {
	r := &fakeTB{outcome: "pass"}
	done := make(chan struct{})
	go func() { // Goexit must end a separate goroutine
		defer close(done)
		f(r)
	}()
	<-done
	for _, f := range r.cleanup {
		f()
	}
	return r.outcome
}

func write(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "pending.txt")
	require.NoError(t, os.WriteFile(path, []byte(list), 0o644))
	return path
}

func TestVerdict(t *testing.T) {
	path := write(t)
	l := Load(t, path, []string{"a/1", "b/2", "c/3"})
	for _, row := range []struct {
		name    string
		list    *List
		test    string
		failure string
		want    string
	}{
		{"pass", l, "c/3", "", "pass"},
		{"fail", l, "c/3", "status: want 200", "fatal: status: want 200"},
		{"pending", l, "a/1", "status: want 200", "skip: pending: needs patch\nstatus: want 200"},
		{"pending but passing", l, "a/1", "", "error: a/1 passes now: remove it from " + path},
		{"pending without a reason", l, "b/2", "boom", "fatal: b/2 is pending in " + path + " without a reason:\nboom"},
		{"empty list", &List{}, "a/1", "boom", "fatal: boom"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := outcome(func(t testing.TB) { row.list.Verdict(t, row.test, row.failure) })
			assert.Equal(t, row.want, got)
		})
	}
}

func TestLoadUnknownTest(t *testing.T) {
	path := write(t)
	got := outcome(func(t testing.TB) { Load(t, path, []string{"a/1"}) })
	assert.Equal(t, "error: "+path+": unknown test b/2", got)
}

func TestUpdate(t *testing.T) {
	path := write(t)
	*update = true
	defer func() { *update = false }()
	outcome(func(t testing.TB) {
		l := Load(t, path, []string{"a/1", "c/3", "d/4"})
		assert.Equal(t, "pass", outcome(func(t testing.TB) { l.Verdict(t, "a/1", "") }))
		assert.Contains(t, outcome(func(t testing.TB) { l.Verdict(t, "c/3", "boom") }), "without a reason")
		assert.Equal(t, "pass", outcome(func(t testing.TB) { l.Verdict(t, "d/4", "") }))
	})
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "# The reasons.\n\nc/3: unexplained\n", string(b))
}

func TestParse(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"no reason", "a/1", "line 1: want name: reason"},
		{"empty reason", "#\na/1:  ", "line 2: want name: reason"},
		{"twice", "a/1: x\na/1: y", "line 2: duplicate test a/1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := parse([]byte(row.text))
			assert.EqualError(t, err, row.want)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(list))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parse(b)
		if err != nil {
			return
		}
		again, err := parse(l.format())
		require.NoError(t, err)
		assert.Equal(t, l.reasons, again.reasons)
	})
}
