package scenarios

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/outputfile"
)

// A RecordingFile is a scenario file that is written while it is recorded, by
// [RecordTo] or [RecordState]. Until Finish it has a temporary name in the same
// directory, and holds a scenario after each write. An existing file of the final
// name stays until then.
//
// Recordings have the mode 0600. A RecordingFile is safe for concurrent use.
type RecordingFile struct {
	path   string
	failed chan struct{} // closed after the first error of a write

	mu    sync.Mutex // guards the fields below
	file  partialFile
	size  int64
	key   string // of the scenario's list: steps or history; "" before the first item
	items int    // of the list
	err   error  // the first error of a write
	ended bool   // by Finish or Discard
}

// A partialFile is the temporary file, which is an *os.File but in tests.
type partialFile interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Truncate(size int64) error
	Name() string
}

// partialHeader begins a file that Finish has not renamed.
const partialHeader = "# A recording that has not ended. "

// CreateRecording creates the temporary file for a recording that will be at path.
// It fails if the directory does not exist or cannot be written to, and if path is
// something else than a regular file.
func CreateRecording(path string) (*RecordingFile, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.partial") // mode 0600
	if err != nil {
		return nil, err
	}
	return newRecordingFile(path, file)
}

// newRecordingFile writes the head of a recording to its temporary file.
func newRecordingFile(path string, file partialFile) (*RecordingFile, error) {
	f := &RecordingFile{path: path, file: file, failed: make(chan struct{})}
	head := fmt.Sprintf("%sIt gets the name %q when it ends.\nversion: %d\nname: %s\n", partialHeader, filepath.Base(path), Version, quote(f.name()))
	if err := f.write([]byte(head)); err != nil {
		return nil, errors.Join(err, f.Discard())
	}
	return f, nil
}

// name returns the name of the scenario: that of the file without its extension.
func (f *RecordingFile) name() string {
	base := filepath.Base(f.path)
	return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), "recording")
}

// Partial returns the path of the temporary file.
func (f *RecordingFile) Partial() string { return f.file.Name() }

// Failed returns a channel that is closed when a write has failed, such as on a
// full disk. Nothing is recorded after it; Err returns the error.
func (f *RecordingFile) Failed() <-chan struct{} { return f.failed }

// Err returns the first error of a write. It says where the recording until then
// is.
func (f *RecordingFile) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// add adds an item to the list of the scenario under a key. note is a comment
// after it.
func (f *RecordingFile) add(key string, item any, note string) {
	line, err := itemLine(item, note)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil || f.ended {
		return
	}
	if f.key == "" {
		f.key = key
		line = append([]byte(key+":\n"), line...)
	}
	if err == nil {
		err = f.write(line)
	}
	if err != nil {
		f.err = fmt.Errorf("%w; the recording until then is in %s", err, f.file.Name())
		close(f.failed)
		return
	}
	f.items++
}

// Len returns the number of exchanges or changes that are recorded.
func (f *RecordingFile) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.items
}

// write appends b, or nothing if that fails. f.mu must be held.
func (f *RecordingFile) write(b []byte) error {
	if _, err := f.file.Write(b); err != nil {
		f.file.Truncate(f.size) // without which Parse ignores the incomplete line
		return err
	}
	f.size += int64(len(b))
	return nil
}

// Finish writes the final file and removes the temporary one. why is the text for
// the scenario's field of that name, and may be "". If Finish fails, the temporary
// file stays, and the error has its name.
func (f *RecordingFile) Finish(why string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	partial := f.file.Name()
	err := f.err
	if err == nil {
		if err = f.finish(why); err != nil {
			err = fmt.Errorf("%w; the recording is in %s", err, partial)
		}
	}
	f.file.Close() // all writes have succeeded, or their errors are known
	if err == nil {
		err = os.Remove(partial)
	}
	return err
}

// finish writes the final file.
func (f *RecordingFile) finish(why string) error {
	return outputfile.Write(f.path, 0o600, func(w io.Writer) error { return f.writeScenario(w, why) })
}

// writeScenario writes the scenario.
func (f *RecordingFile) writeScenario(out io.Writer, why string) (err error) {
	w := bufio.NewWriter(out)
	if f.key == "history" {
		err = writeItems(w, "history", func(yield func(any) error) error { return assembleChanges(f.lines, yield) })
		fmt.Fprintf(w, "name: %s\n", quote(f.name()))
	} else {
		fmt.Fprintf(w, "name: %s\n", quote(f.name()))
		err = writeItems(w, "steps", func(yield func(any) error) error { return assembleSteps(f.lines, yield) })
	}
	fmt.Fprintf(w, "version: %d\n", Version)
	if why != "" {
		fmt.Fprintf(w, "why: %s\n", quote(why))
	}
	return cmp.Or(err, w.Flush()) // a bufio.Writer returns its first error from Flush
}

// writeItems writes a key and its list, if it is not empty.
func writeItems(w io.Writer, key string, items func(yield func(any) error) error) error {
	first := true
	return items(func(item any) error {
		if first {
			fmt.Fprintln(w, key+":")
			first = false
		}
		b, err := toYAML([]any{item})
		if err == nil {
			_, err = w.Write(b)
		}
		return err
	})
}

// Discard removes the temporary file.
func (f *RecordingFile) Discard() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	return cmp.Or(f.file.Close(), os.Remove(f.file.Name()))
}

// lines calls yield for each item of the list. f.mu must be held.
func (f *RecordingFile) lines(yield func(line []byte, note string) error) error {
	r := bufio.NewReader(io.NewSectionReader(f.file, 0, f.size))
	for {
		line, err := r.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !bytes.HasPrefix(line, []byte("- ")):
			continue
		}
		if err := yield(splitLine(line)); err != nil {
			return err
		}
	}
}

// A memoryLog holds the items of a recording without a file.
type memoryLog struct {
	mu    sync.Mutex // guards items
	items [][]byte
}

func (l *memoryLog) add(_ string, item any, note string) {
	line, err := itemLine(item, note)
	if err != nil {
		return // unreachable: recorded items marshal
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, line)
}

func (l *memoryLog) lines(yield func(line []byte, note string) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.items {
		if err := yield(splitLine(line)); err != nil {
			return err
		}
	}
	return nil
}

// itemLine returns an item of a YAML list on one line: JSON, and a comment.
func itemLine(item any, note string) ([]byte, error) {
	b, err := marshal(item)
	if err != nil {
		return nil, err
	}
	return append(append([]byte("- "), escapeForYAML(b)...), " # "+note+"\n"...), nil
}

// splitLine is the inverse of itemLine.
func splitLine(line []byte) (item []byte, note string) {
	end := bytes.LastIndex(line, []byte(" # "))
	return line[len("- "):end], strings.TrimSpace(string(line[end+len(" # "):]))
}

// escapeForYAML escapes the characters in JSON that YAML does not allow.
func escapeForYAML(b []byte) []byte {
	forbidden := func(r rune) bool {
		return r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff
	}
	if bytes.IndexFunc(b, forbidden) < 0 {
		return b
	}
	var out []byte
	for _, r := range string(b) {
		if forbidden(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// toYAML returns v in YAML. Unlike yaml.Marshal it supports all characters.
func toYAML(v any) ([]byte, error) {
	b, err := marshal(v)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(escapeForYAML(b))
}

// quote returns a text as a YAML scalar.
func quote(s string) string {
	b, err := toYAML(s)
	if err != nil {
		return `""` // unreachable: strings marshal
	}
	return strings.TrimSpace(string(b))
}

// withoutCut returns the text of a recording that has not ended without a line that
// was cut off when the recorder was killed.
func withoutCut(text []byte) []byte {
	if bytes.HasPrefix(text, []byte(partialHeader)) {
		return text[:bytes.LastIndexByte(text, '\n')+1]
	}
	return text
}
