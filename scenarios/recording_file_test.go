package scenarios

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A fullDisk is a temporary file on a disk with so many free bytes.
type fullDisk struct {
	*os.File
	free int
}

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.free)
	d.free -= n
	if _, err := d.File.Write(b[:n]); err != nil {
		return 0, err
	}
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// fileOnDisk returns a recording on a disk with so many free bytes.
func fileOnDisk(t *testing.T, path string, free int) (*RecordingFile, error) {
	t.Helper()
	file, err := os.CreateTemp(filepath.Dir(path), "*.partial")
	require.NoError(t, err)
	return newRecordingFile(path, &fullDisk{file, free})
}

// get sends GET requests to a handler.
func get(h http.Handler, paths ...string) {
	for _, path := range paths {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
}

var greet = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello "+r.URL.Path) })

// What was recorded before the disk was full stays, and so does the file that a
// recording would have replaced.
func TestRecordOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.yaml")
	require.NoError(t, os.WriteFile(path, []byte("name: before\n"), 0o600))
	for free := range 1000 {
		f, err := fileOnDisk(t, path, free)
		if err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			continue
		}
		r := RecordTo(f, greet)
		get(r, "/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h", "/i", "/j")
		closed := r.Close()
		if closed == nil {
			require.NoError(t, f.Discard())
			continue
		}
		select {
		case <-f.Failed():
		default:
			t.Fatal("Failed is open")
		}
		finished := f.Finish("")
		for _, err := range []error{closed, finished} {
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.ErrorContains(t, err, f.Partial())
		}
		left, err := Load(f.Partial())
		require.NoError(t, err, "with %d bytes", free)
		require.Len(t, left.Scenarios, 1)
		for i, st := range left.Scenarios[0].Steps {
			require.Equal(t, fmt.Sprintf("GET /%c", 'a'+i), st.Do)
		}
		require.NoError(t, os.Remove(f.Partial()))
	}
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "name: before\n", string(before))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// The temporary file is a scenario after each exchange, and without the part of a
// line with which a kill ended it.
func TestPartialRecording(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.yaml")
	f, err := CreateRecording(path)
	require.NoError(t, err)
	r := RecordTo(f, greet)
	for n := range 4 {
		text, err := os.ReadFile(f.Partial())
		require.NoError(t, err)
		for _, cut := range []string{"", "- ", `- {"at":"1s","do":"GE`} {
			parsed, err := Parse("partial", append(text, cut...))
			require.NoError(t, err)
			assert.Len(t, parsed.Scenarios[0].Steps, n)
			assert.Equal(t, "out", parsed.Scenarios[0].Name)
		}
		get(r, "/a")
	}
	require.NoError(t, r.Close())
	require.NoError(t, f.Finish("because"))
	assert.NoFileExists(t, f.Partial())
	got, err := Load(path)
	require.NoError(t, err)
	assert.Len(t, got.Scenarios[0].Steps, 4)
	assert.Equal(t, "because", got.Scenarios[0].Why)
}

// The final file of a recorder is what the recorder without a file returns.
func TestRecordToEqualsRecord(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Has("watch") {
			for i := range 3 {
				fmt.Fprintf(w, `{"type":"ADDED","object":{"metadata":{"name":"n%d","uid":"00000000-0000-0000-0000-00000000000%d"}}}`+"\n", i, i)
			}
			return
		}
		io.WriteString(w, `{"metadata":{"name":"n","resourceVersion":"7"},"data":{"odd":"\u0085\u007f\ufeff # é"}}`)
	})
	path := filepath.Join(t.TempDir(), "recording.yaml")
	f, err := CreateRecording(path)
	require.NoError(t, err)
	paths := []string{
		"/api/v1/configmaps?watch=1", "/api/v1/namespaces/default/configmaps/n",
		"/api/v1/configmaps?watch=1&resourceVersion=7", "/api/v1/namespaces/default/configmaps/00000000-0000-0000-0000-000000000001",
	}
	kept, written := Record(next), RecordTo(f, next)
	get(kept, paths...)
	get(written, paths...)
	require.NoError(t, written.Close())
	require.NoError(t, f.Finish(""))
	got, err := Load(path)
	require.NoError(t, err)
	want := kept.Scenario()
	want.origin = got.Scenarios[0].origin
	for _, s := range []*Scenario{want, got.Scenarios[0]} {
		for i := range s.Steps {
			s.Steps[i].At = 0
		}
	}
	assert.Equal(t, want, got.Scenarios[0])
	assert.Equal(t, "GET /api/v1/namespaces/default/configmaps/${uid2}", want.Steps[5].Do)
	assert.Equal(t, map[string]string{"uid2": "1.object.metadata.uid"}, want.Steps[1].Capture)
	assert.Len(t, want.Steps[1].Want.Events, 3)
}

// An event that a request causes comes after it, also if it arrives before the
// answer.
func TestRecordToKeepsOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.yaml")
	f, err := CreateRecording(path)
	require.NoError(t, err)
	var r *Recorder
	r = RecordTo(f, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/cause" {
			get(r, "/effect")
		}
	}))
	get(r, "/cause")
	require.NoError(t, r.Close())
	require.NoError(t, f.Finish(""))
	got, err := Load(path)
	require.NoError(t, err)
	assert.Equal(t, "GET /cause", got.Scenarios[0].Steps[0].Do)
	assert.Equal(t, "GET /effect", got.Scenarios[0].Steps[1].Do)
}

// A recorder of a file holds no more of bodies than its limits.
func TestRecordToOmitsLongBodies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.yaml")
	f, err := CreateRecording(path)
	require.NoError(t, err)
	r := RecordTo(f, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		n, err := io.Copy(io.Discard, req.Body)
		assert.NoError(t, err)
		if req.URL.Path == "/upload" {
			assert.EqualValues(t, maxBody+2, n, "it is passed on")
			return
		}
		for range maxBody/1024 + 1 {
			w.Write(make([]byte, 1024))
		}
	}))
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/download", nil))
	assert.Equal(t, maxBody+1024, w.Body.Len(), "it is passed on")
	r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/upload", strings.NewReader(strings.Repeat("x", maxBody+2))))
	assert.Zero(t, r.held.Load())
	require.NoError(t, r.Close())
	require.NoError(t, f.Finish(""))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(1000))
	got, err := Load(path)
	require.NoError(t, err)
	assert.Equal(t, "GET /download (longer than a recording has bodies)", got.Scenarios[0].Steps[0].Name)
	assert.Equal(t, "POST /upload (longer than a recording has bodies)", got.Scenarios[0].Steps[1].Name)
}

// A recorder forgets the oldest generated values.
func TestRecorderForgets(t *testing.T) {
	b := newScenarioBuilder(nil, &memoryLog{})
	b.begin(&entry{}, Step{})
	for i := range maxGenerated + 10 {
		b.want(map[string]any{"uid": fmt.Sprintf("00000000-0000-0000-0000-%012d", i), "n": "x"}, "")
	}
	assert.Len(t, b.generated, maxGenerated)
	assert.Len(t, b.placeholders, maxGenerated)
}

func TestCreateRecordingErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := CreateRecording(filepath.Join(dir, "none", "out.yaml"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = CreateRecording(dir)
	assert.ErrorContains(t, err, "is not a regular file")
	_, err = fileOnDisk(t, filepath.Join(dir, "out.yaml"), 3)
	assert.ErrorIs(t, err, syscall.ENOSPC)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// Changes of different resources get the order of their revisions. Those of one
// write are one Change.
func TestAssembleChanges(t *testing.T) {
	log := &memoryLog{}
	add := func(at string, name, revision string) {
		var c Change
		require.NoError(t, c.At.UnmarshalText([]byte(at)))
		c.Store = Objects{{"kind": "Pod", "metadata": map[string]any{"name": name}}}
		log.add("history", c, revision)
	}
	add("0s", "first", "0")
	add("1s", "c", "12")
	add("1.1s", "b", "11")
	add("1.2s", "c2", "12")
	add("20s", "late", "5")
	add("21s", "last", "20")
	var got []string
	require.NoError(t, assembleChanges(log.lines, func(c any) error {
		got = append(got, fmt.Sprint(c.(*Change).At, " ", c.(*Change)))
		return nil
	}))
	assert.Equal(t, []string{"0s store Pod first", "1.1s store Pod b", "1.1s store Pod c, Pod c2", "20s store Pod late", "21s store Pod last"}, got)
	failed := errors.New("failed")
	assert.ErrorIs(t, assembleChanges(log.lines, func(any) error { return failed }), failed)
}
