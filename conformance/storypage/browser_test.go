package storypage

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// names has the names of Chromium executables.
var names = []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"}

// flags disables the features of Chromium that the tests do not need.
var flags = []string{
	"--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1400,1000",
}

// A browser controls a Chromium by the DevTools protocol over a pair of pipes.
//
// See https://chromedevtools.github.io/devtools-protocol/.
type browser struct {
	to io.Writer

	mu      sync.Mutex // guards the fields below, and writes
	last    int        // the number of the newest call
	calls   map[int]chan answer
	sinks   map[string]func(method string, params json.RawMessage) // of events, by session
	stopped error
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// shared is the browser of all tests. TestMain stops it.
var shared struct {
	*browser
	missing string // why there is none
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path := find()
	if path == "" {
		shared.missing = fmt.Sprintf("no Chromium is installed: none of %v is found", names[1:])
		return m.Run()
	}
	profile, err := os.MkdirTemp("", "storypage-")
	if err != nil {
		shared.missing = err.Error()
		return m.Run()
	}
	defer os.RemoveAll(profile)
	b, stop, err := launch(path, profile)
	if err != nil {
		shared.missing = err.Error()
		return m.Run()
	}
	defer stop()
	shared.browser = b
	return m.Run()
}

// find returns the path of a Chromium, "" if there is none.
func find() string {
	for _, name := range names {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// launch starts a Chromium. stop ends it.
func launch(path, profile string) (b *browser, stop func(), err error) {
	fromUs, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	from, toUs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(path, append(flags, "--user-data-dir="+profile)...)
	cmd.ExtraFiles = []*os.File{fromUs, toUs} // 3 and 4, which the flag stands for
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	fromUs.Close()
	toUs.Close()
	b = &browser{to: to, calls: map[int]chan answer{}, sinks: map[string]func(string, json.RawMessage){}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.read(from)
	}()
	return b, func() {
		to.Close() // which ends it
		cmd.Wait()
		<-done
	}, nil
}

// read dispatches the messages of the browser until it ends.
func (b *browser) read(from io.Reader) {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes(0)
		if err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.stopped = errors.New("the browser has ended")
			for _, c := range b.calls {
				close(c)
			}
			return
		}
		var m struct {
			ID        int
			SessionID string
			Method    string
			Params    json.RawMessage
			answer
		}
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		call, sink := b.calls[m.ID], b.sinks[m.SessionID]
		delete(b.calls, m.ID)
		b.mu.Unlock()
		switch {
		case call != nil:
			call <- m.answer
		case sink != nil && m.Method != "":
			sink(m.Method, m.Params)
		}
	}
}

// patience is how long the tests wait for the browser, and for what a page is to show.
const patience = time.Minute

// call calls a method in a session, "" for that of the browser, and decodes the result into
// out unless out is nil. It fails if there is no answer within limit.
func (b *browser) call(session, method string, params, out any, limit time.Duration) error {
	b.mu.Lock()
	if b.stopped != nil {
		b.mu.Unlock()
		return b.stopped
	}
	b.last++
	message := map[string]any{"id": b.last, "method": method, "params": params}
	if session != "" {
		message["sessionId"] = session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.mu.Unlock()
		return err
	}
	reply := make(chan answer, 1)
	b.calls[b.last] = reply
	_, err = b.to.Write(append(text, 0))
	b.mu.Unlock()
	if err != nil {
		return err
	}
	var got answer
	ok := true
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case got, ok = <-reply:
	case <-late.C:
		return fmt.Errorf("no answer to %s within %v", method, limit)
	}
	switch {
	case !ok:
		return errors.New("the browser has ended")
	case got.Error != nil:
		return fmt.Errorf("%s: %s", method, got.Error.Message)
	case out == nil:
		return nil
	}
	return json.Unmarshal(got.Result, out)
}

// A tab shows one page. Errors of the page, and requests to other URLs than its own and those that
// begin with below, fail the test at its end.
type tab struct {
	url     string
	below   string // "" for none
	t       *testing.T
	session string
	loaded  chan struct{}

	mu       sync.Mutex // guards troubles
	troubles []string
}

type object map[string]any

// open opens a file in a new tab, which is closed when the test ends.
func open(t *testing.T, file string) *tab {
	t.Helper()
	return openURL(t, "file://"+file)
}

// openURL is open for a URL. The page may load nothing else.
func openURL(t *testing.T, url string) *tab {
	t.Helper()
	return openTab(t, url, "")
}

// openTab opens a URL in a new tab. The page may load what begins with below, if that is not "".
func openTab(t *testing.T, url, below string) *tab {
	t.Helper()
	if shared.browser == nil {
		if os.Getenv("CI") != "" {
			t.Fatal(shared.missing)
		}
		t.Skip(shared.missing)
	}
	var made struct{ TargetID, SessionID string }
	require.NoError(t, shared.call("", "Target.createTarget", object{"url": "about:blank"}, &made, patience))
	require.NoError(t, shared.call("", "Target.attachToTarget", object{"targetId": made.TargetID, "flatten": true}, &made, patience))
	p := &tab{t: t, url: url, below: below, session: made.SessionID, loaded: make(chan struct{}, 1)}
	shared.mu.Lock()
	shared.sinks[p.session] = p.event
	shared.mu.Unlock()
	t.Cleanup(func() {
		require.NoError(t, shared.call("", "Target.closeTarget", object{"targetId": made.TargetID}, nil, patience))
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, trouble := range p.troubles {
			t.Errorf("in the page: %s", trouble)
		}
	})
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		p.call(domain+".enable", nil, nil)
	}
	p.navigate(url)
	p.waitForDraw()
	return p
}

// navigate loads a URL in the tab.
func (p *tab) navigate(url string) {
	p.t.Helper()
	p.call("Page.navigate", object{"url": url}, nil)
	select {
	case <-p.loaded:
	case <-time.After(patience):
		p.t.Fatalf("%s was not loaded within %v", url, patience)
	}
}

// event handles an event of the page.
func (p *tab) event(method string, params json.RawMessage) {
	var e struct {
		Request          struct{ URL string }
		Entry            struct{ Level, Text string }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
		Type string
		Args []struct{ Value any }
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	trouble := ""
	switch method {
	case "Page.loadEventFired":
		p.loaded <- struct{}{}
	case "Runtime.exceptionThrown":
		trouble = cmp.Or(e.ExceptionDetails.Exception.Description, e.ExceptionDetails.Text)
	case "Log.entryAdded":
		trouble = e.Entry.Text
	case "Runtime.consoleAPICalled":
		trouble = fmt.Sprint(e.Type, " ", e.Args)
	case "Network.requestWillBeSent":
		if !p.mayLoad(e.Request.URL) {
			trouble = "it asks for " + e.Request.URL
		}
	}
	if trouble != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.troubles = append(p.troubles, trouble)
	}
}

// forgive removes a trouble that contains words from those that fail the test.
func (p *tab) forgive(words string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.troubles, func(t string) bool { return strings.Contains(t, words) })
	require.GreaterOrEqual(p.t, i, 0, p.troubles)
	p.troubles = slices.Delete(p.troubles, i, i+1)
}

func (p *tab) mayLoad(url string) bool {
	return strings.HasPrefix(url, "file:") || strings.HasPrefix(url, "data:") || url == p.url || p.below != "" && strings.HasPrefix(url, p.below)
}

func (p *tab) call(method string, params, out any) {
	p.t.Helper()
	if params == nil {
		params = object{}
	}
	require.NoError(p.t, shared.call(p.session, method, params, out, patience))
}

// eval returns the value of an expression in the page. A promise has to be kept within patience.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := try[T](p, expression, patience)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.t.Fatalf("%v\nerrors of the page: %q", err, p.troubles)
	}
	return v
}

// try is eval for an expression that can fail, or take longer than limit.
func try[T any](p *tab, expression string, limit time.Duration) (value T, err error) {
	var out struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	err = shared.call(p.session, "Runtime.evaluate", object{"expression": expression, "returnByValue": true, "awaitPromise": true}, &out, limit)
	switch {
	case err != nil:
	case out.ExceptionDetails != nil:
		err = errors.New(out.ExceptionDetails.Exception.Description)
	case out.Result.Value != nil: // undefined has none
		err = json.Unmarshal(out.Result.Value, &value)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", expression, err)
	}
	return value, err
}

// waitForDraw waits until the page has drawn pending changes.
func (p *tab) waitForDraw() {
	p.t.Helper()
	eval[bool](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// await waits until an expression in the page is true. It fails the test if that takes longer than patience.
func (p *tab) await(expression string) {
	p.t.Helper()
	eval[bool](p, untilTrue(expression))
	p.waitForDraw()
}

// untilTrue returns an expression for a promise, which is kept when an expression is true.
func untilTrue(expression string) string {
	return fmt.Sprintf(`new Promise((done, fail) => {
		const look = () => {
			try {
				(%s) ? done(true) : setTimeout(look, 20);
			} catch (err) {
				fail(err);
			}
		};
		look();
	})`, expression)
}

// TestPatience checks that the tests do not wait for ever, and say for what they waited.
func TestPatience(t *testing.T) {
	p := open(t, page(t, start(t).Server))
	_, err := try[bool](p, untilTrue("model.revision < 0"), time.Millisecond)
	require.ErrorContains(t, err, "no answer to Runtime.evaluate within 1ms")
	require.ErrorContains(t, err, "model.revision < 0")
	_, err = try[bool](p, untilTrue("nothing.at.all"), patience)
	require.ErrorContains(t, err, "nothing is not defined")
}

// texts returns the texts of the elements that match a selector.
func (p *tab) texts(selector string) []string {
	p.t.Helper()
	return eval[[]string](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.textContent.trim())`, selector))
}

func (p *tab) count(selector string) int {
	p.t.Helper()
	return eval[int](p, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
}

// A point is a position in the window.
type point struct{ X, Y float64 }

// middle scrolls to an element and returns the position of its middle.
func (p *tab) middle(selector string) point {
	p.t.Helper()
	return eval[point](p, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({ block: "nearest" });
		const b = e.getBoundingClientRect();
		return { X: b.x + b.width / 2, Y: b.y + b.height / 2 };
	})()`, selector))
}

func (p *tab) mouse(kind string, at point, more object) {
	p.t.Helper()
	params := object{"type": kind, "x": at.X, "y": at.Y}
	for k, v := range more {
		params[k] = v
	}
	p.call("Input.dispatchMouseEvent", params, nil)
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.drag(p.middle(selector), 0)
}

// drag presses the mouse button at a point, moves the mouse to the right, and releases it.
func (p *tab) drag(at point, by float64) {
	p.t.Helper()
	left := object{"button": "left", "buttons": 1, "clickCount": 1}
	p.mouse("mousePressed", at, left)
	if by != 0 {
		for range 10 {
			at.X += by / 10
			p.mouse("mouseMoved", at, left)
		}
	}
	p.mouse("mouseReleased", at, object{"button": "left", "clickCount": 1})
	p.waitForDraw()
}

// press presses a key, such as "ArrowRight" or "+".
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		params := object{"type": "keyDown", "key": key}
		if len(key) == 1 {
			params["text"] = key
		}
		p.call("Input.dispatchKeyEvent", params, nil)
		p.call("Input.dispatchKeyEvent", object{"type": "keyUp", "key": key}, nil)
	}
	p.waitForDraw()
}
