// Soak writes to a fakeapi process at a constant rate and checks the memory of the process.
//
//	go run ./soak
//	go run ./soak --pods 150000
//
// The first updates one large object, the second writes to [many Pods].
//
// It builds the command, starts "fakeapi serve" with its default limits and updates a
// ConfigMap. Three watches are open meanwhile: one that reads its events, one of a
// resource that does not change, and one that reads nothing. It prints the resident
// set size of the process every ten seconds and fails if
//
//   - the resident set size exceeds the limit at any time;
//   - the server does not reach 90 % of the rate;
//   - the watch that reads misses an event or is ended;
//   - the watch without changes cannot be continued from its last bookmark;
//   - the watch that reads nothing is not ended with 410 when it reads again;
//   - the resident set size does not fall below a quarter of the limit within a
//     minute after a compaction.
//
// # Many Pods
//
// With --pods NUMBER it creates Pods of --size bytes (2600 by default), as they are stored, in a
// hundred namespaces. Then it writes at the rate for the duration: of ten writes, nine patch the
// status of a Pod and one deletes a Pod and creates another one. The Pods are chosen by
// chance, with a constant seed. It prints the bytes per object, and fails if the resident set
// size exceeds the limit (1024 MiB by default) at any time.
//
// It needs Linux, because it reads /proc. The soak is no test, because it takes
// minutes.
//
// [many Pods]: #hdr-Many_Pods
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A soak is one run.
type soak struct {
	command  string
	duration time.Duration
	rate     int
	size     int
	limit    int64 // of the resident set size, in MiB
	pods     int   // how many Pods to create, 0 to update one object

	url     string
	pid     int
	written atomic.Int64
	newest  atomic.Int64 // the highest resourceVersion of an answer
	peak    int64        // the highest resident set size, in MiB
}

func main() {
	s := &soak{}
	flag.StringVar(&s.command, "command", "", "test the fakeapi `EXECUTABLE` instead of building one")
	flag.DurationVar(&s.duration, "duration", 5*time.Minute, "write for `DURATION`")
	flag.IntVar(&s.rate, "rate", 1000, "make `NUMBER` updates a second")
	flag.IntVar(&s.pods, "pods", 0, "write to `NUMBER` Pods instead of one object")
	flag.IntVar(&s.size, "size", 0, "write objects of `BYTES` (default 10000, with --pods 2600)")
	flag.Int64Var(&s.limit, "limit", 0, "fail if the resident set size exceeds `MEBIBYTES` (default 700, with --pods 1024)")
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 16 // more than there are clients
	flag.Parse()
	if s.pods > 0 {
		s.size, s.limit = cmp.Or(s.size, 2600), cmp.Or(s.limit, 1024)
	} else {
		s.size, s.limit = cmp.Or(s.size, 10_000), cmp.Or(s.limit, 700)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// run builds and starts the command, and runs the soak.
func (s *soak) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if s.command == "" {
		s.command = filepath.Join(dir, "fakeapi")
		build := exec.CommandContext(ctx, "go", "build", "-o", s.command, "github.com/kubefake/kubefake/cmd/fakeapi")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build: %w", err)
		}
	}
	serve := exec.Command(s.command, "serve", "--listen", "127.0.0.1:0", "--kubeconfig", filepath.Join(dir, "kubeconfig"), "--quiet")
	serve.Stderr = os.Stderr
	stdout, err := serve.StdoutPipe()
	if err != nil {
		return err
	}
	if err := serve.Start(); err != nil {
		return err
	}
	defer func() {
		_ = serve.Process.Signal(os.Interrupt)
		_ = serve.Wait()
	}()
	if s.url, err = firstURL(stdout); err != nil {
		return err
	}
	s.pid = serve.Process.Pid
	if s.pods > 0 {
		return s.soakPods(ctx)
	}
	return s.soak(ctx)
}

// firstURL returns the first URL that a process prints, and reads what follows.
func firstURL(stdout io.Reader) (string, error) {
	var text []byte
	for buffer := make([]byte, 4096); ; {
		n, err := stdout.Read(buffer)
		text = append(text, buffer[:n]...)
		if bytes.ContainsRune(text, '\n') {
			for word := range strings.FieldsSeq(string(text)) {
				if strings.HasPrefix(word, "http://") {
					go func() { _, _ = io.Copy(io.Discard, stdout) }()
					return strings.TrimRight(word, "/"), nil
				}
			}
		}
		if err != nil {
			return "", fmt.Errorf("the server printed no URL: %q", text)
		}
	}
}

const (
	busyPath  = "/api/v1/namespaces/default/configmaps"
	quietPath = "/api/v1/namespaces/default/secrets"
)

// soak writes for the duration, and then checks the watches and compacts.
func (s *soak) soak(ctx context.Context) error {
	if err := s.put(ctx, http.MethodPost, busyPath, 0); err != nil {
		return err
	}
	start := strconv.FormatInt(s.newest.Load(), 10)
	reading, err := s.watch(ctx, busyPath+"?watch=1&allowWatchBookmarks=true&resourceVersion="+start)
	if err != nil {
		return err
	}
	quiet, err := s.watch(ctx, quietPath+"?watch=1&allowWatchBookmarks=true&resourceVersion="+start)
	if err != nil {
		return err
	}
	stuck, err := s.open(ctx, busyPath+"?watch=1&resourceVersion="+start)
	if err != nil {
		return err
	}
	defer stuck.Close()
	rate, err := s.write(ctx, func(ctx context.Context, n int) error {
		return s.put(ctx, http.MethodPut, busyPath+"/busy", n)
	})
	if err != nil {
		return err
	}
	return errors.Join(s.checkWatches(ctx, reading, quiet, stuck), s.compact(ctx), s.check(rate))
}

// check checks the memory and the rate.
func (s *soak) check(rate float64) (err error) {
	if s.peak > s.limit {
		err = fmt.Errorf("the resident set size was %d MiB, more than %d", s.peak, s.limit)
	}
	if rate < 0.9*float64(s.rate) {
		err = errors.Join(err, fmt.Errorf("the server made %.0f updates a second instead of %d", rate, s.rate))
	}
	return err
}

// write calls write with 1, 2 and so on at the rate, and measures the process each second. It
// returns the rate that was reached.
func (s *soak) write(ctx context.Context, write func(ctx context.Context, n int) error) (rate float64, err error) {
	began := time.Now()
	if err := s.writeAll(ctx, write); err != nil {
		return 0, err
	}
	rate = float64(s.written.Load()) / time.Since(began).Seconds()
	fmt.Printf("%d updates, %.0f a second; highest resident set size %d MiB\n", s.written.Load(), rate, s.peak)
	return rate, nil
}

func (s *soak) writeAll(ctx context.Context, write func(ctx context.Context, n int) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.duration, errOver)
	defer cancel()
	const clients = 4
	turns := make(chan int, clients)
	var group sync.WaitGroup
	failed := make(chan error, clients)
	for range clients {
		group.Go(func() {
			for n := range turns {
				if err := write(ctx, n); err != nil {
					if context.Cause(ctx) != errOver {
						failed <- err
					}
					return
				}
				s.written.Add(1)
			}
		})
	}
	group.Go(func() {
		defer close(turns)
		began := time.Now()
		for n := 1; ; n++ {
			wait := time.Until(began.Add(time.Duration(n) * time.Second / time.Duration(s.rate)))
			if wait > 0 {
				time.Sleep(wait)
			}
			select {
			case turns <- n:
			case <-ctx.Done():
				return
			}
		}
	})
	err := s.measure(ctx, failed)
	cancel()
	group.Wait()
	return err
}

// errOver ends the writes after the duration.
var errOver = errors.New("the time is over")

// measure records the resident set size each second and prints it every ten seconds.
func (s *soak) measure(ctx context.Context, failed <-chan error) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case err := <-failed:
			return err
		case <-ctx.Done():
			if err := context.Cause(ctx); err != errOver {
				return err
			}
			return nil
		}
		now, err := residentSize(s.pid)
		if err != nil {
			return err
		}
		s.peak = max(s.peak, now)
		if n%10 == 0 {
			fmt.Printf("%4d s: %d updates, %d MiB resident\n", n, s.written.Load(), now)
		}
	}
}

// residentSize returns the resident set size of a process in MiB.
func residentSize(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib >> 10, err
		}
	}
	return 0, errors.New("no VmRSS in /proc")
}

// put writes the nth version of the object.
func (s *soak) put(ctx context.Context, method, path string, n int) error {
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"busy"},"data":{"n":"%d","text":%q}}`,
		n, strings.Repeat("x", s.size))
	answer, err := s.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	version, err := versionOf(answer)
	if err != nil {
		return err
	}
	for {
		have := s.newest.Load()
		if version <= have || s.newest.CompareAndSwap(have, version) {
			return nil
		}
	}
}

// do sends a request and returns the body of a successful answer.
func (s *soak) do(ctx context.Context, method, path, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return send(req)
}

// send sends a request and returns the body of a successful answer.
func send(req *http.Request) ([]byte, error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %.200s", req.Method, req.URL.Path, res.Status, answer)
	}
	return answer, err
}

// versionOf returns the resourceVersion of an object.
func versionOf(object []byte) (int64, error) {
	var o struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal(object, &o); err != nil {
		return 0, err
	}
	return strconv.ParseInt(o.Metadata.ResourceVersion, 10, 64)
}

// A watch reads the events of a watch request.
type watch struct {
	mu      sync.Mutex
	version int64 // the resourceVersion of the last event or bookmark
	events  int64 // without bookmarks
	ended   error // why there are no more events
}

// watch starts a watch that reads its events.
func (s *soak) watch(ctx context.Context, path string) (*watch, error) {
	body, err := s.open(ctx, path)
	if err != nil {
		return nil, err
	}
	w := &watch{}
	go func() {
		defer body.Close()
		w.read(json.NewDecoder(body))
	}()
	return w, nil
}

func (w *watch) read(in *json.Decoder) {
	for {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		err := in.Decode(&event)
		if err == nil && event.Type == "ERROR" {
			err = fmt.Errorf("%.300s", event.Object)
		}
		version := int64(0)
		if err == nil {
			version, err = versionOf(event.Object)
		}
		w.mu.Lock()
		w.version = max(w.version, version)
		if event.Type != "BOOKMARK" {
			w.events++
		}
		w.ended = err
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// state returns the fields of the watch.
func (w *watch) state() (version, events int64, ended error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version, w.events, w.ended
}

// open sends a watch request and returns the stream of events. It limits what the
// kernel buffers, so that a stream that is not read fills up.
func (s *soak) open(ctx context.Context, path string) (io.ReadCloser, error) {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
		}
		return conn, err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// checkWatches checks what the watches have seen when the writes are over.
func (s *soak) checkWatches(ctx context.Context, reading, quiet *watch, stuck io.ReadCloser) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		version, events, ended := reading.state()
		switch {
		case ended != nil:
			return fmt.Errorf("the watch that reads was ended: %w", ended)
		case version >= s.newest.Load() && events < s.written.Load():
			return fmt.Errorf("the watch that reads has seen %d of %d updates", events, s.written.Load())
		case version >= s.newest.Load():
		case time.Now().After(deadline):
			return fmt.Errorf("the watch that reads is at %d, the newest version is %d", version, s.newest.Load())
		default:
			time.Sleep(100 * time.Millisecond)
			continue
		}
		break
	}
	version, _, ended := quiet.state()
	if ended != nil {
		return fmt.Errorf("the watch without changes was ended: %w", ended)
	}
	again := fmt.Sprintf("%s?watch=1&timeoutSeconds=1&resourceVersion=%d", quietPath, version)
	if answer, err := s.do(ctx, http.MethodGet, again, ""); err != nil || len(answer) > 0 {
		return fmt.Errorf("the watch without changes cannot be continued from version %d of %d: %.300s %v", version, s.newest.Load(), answer, err)
	}
	late := &watch{}
	timeout := time.AfterFunc(30*time.Second, func() { stuck.Close() })
	defer timeout.Stop()
	late.read(json.NewDecoder(stuck))
	if _, _, ended := late.state(); !strings.Contains(ended.Error(), `"code":410`) {
		return fmt.Errorf("the watch that did not read ended with %w instead of 410", ended)
	}
	fmt.Printf("watches: as expected; the one that did not read has read %d events\n", late.events)
	return nil
}

// compact removes the history and waits until the memory is returned.
func (s *soak) compact(ctx context.Context) error {
	if _, err := s.do(ctx, http.MethodPost, "/debug/fakeapi/compact", `{"watchCache":true}`); err != nil {
		return err
	}
	for seconds := 0; ; seconds++ {
		now, err := residentSize(s.pid)
		if err != nil {
			return err
		}
		if now < s.limit/4 {
			fmt.Printf("after compaction: %d MiB resident after %d s\n", now, seconds)
			return nil
		}
		if seconds == 60 {
			return fmt.Errorf("%d MiB are resident a minute after compaction", now)
		}
		time.Sleep(time.Second)
	}
}
