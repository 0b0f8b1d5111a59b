package filewatch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPoll(t *testing.T) {
	dir := t.TempDir()
	names := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	write := func(i int, text string, age time.Duration) {
		t.Helper()
		require.NoError(t, os.WriteFile(names[i], []byte(text), 0o600))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(names[i], at, at))
	}
	var calls []string
	w := &Watcher{}
	w.Add(Group{
		Names:      names,
		Changed:    func(c [][]byte) { calls = append(calls, string(c[0])+"+"+string(c[1])) },
		Unreadable: func(error) { calls = append(calls, "unreadable") },
	}, []byte("1"), []byte("2"))
	for _, step := range []struct {
		name string
		do   func()
		want []string
	}{
		{"both are missing", func() {}, []string{"unreadable"}},
		{"still missing", func() {}, nil},
		{"the known contents", func() { write(0, "1", time.Hour); write(1, "2", time.Hour) }, nil},
		{"one changes", func() { write(1, "3", time.Minute) }, []string{"1+3"}},
		{"only the time changes", func() { write(1, "3", 0) }, nil},
		{"a write in the same tick, of the same size", func() { write(1, "4", 0) }, []string{"1+4"}},
		{"removed", func() { require.NoError(t, os.Remove(names[0])) }, []string{"unreadable"}},
		{"replaced", func() { write(0, "5", time.Hour) }, []string{"5+4"}},
		{"nothing", func() {}, nil},
	} {
		calls = nil
		step.do()
		w.Poll()
		assert.Equal(t, step.want, calls, step.name)
	}
}

func TestRun(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(name, []byte("new"), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watcher{}
	w.Add(Group{Names: []string{name}, Changed: func([][]byte) { cancel() }}, []byte("old"))
	w.Run(ctx) // returns when Changed has ended ctx
}
