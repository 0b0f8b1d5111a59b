package kubelet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/object"
)

// The back-off of restarts and image pulls.
const (
	minBackoff = 10 * time.Second
	maxBackoff = 5 * time.Minute
)

// A containerKey identifies a container.
type containerKey struct{ uid, name string }

// A backoff is that of the restarts of a container, or of the pulls of its image.
type backoff struct {
	failures int
	until    time.Time
}

// fail begins the next back-off and returns it.
func (b *backoff) fail(now time.Time) time.Duration {
	d := maxBackoff
	if b.failures < 6 {
		d = min(d, minBackoff<<b.failures)
	}
	b.failures++
	b.until = now.Add(d)
	return d
}

func (w *worker) backoff(name string) *backoff {
	key := containerKey{w.object.UID, name}
	b := w.backoffs[key]
	if b == nil {
		b = &backoff{}
		w.backoffs[key] = b
	}
	return b
}

// initContainers returns the statuses of the init containers, and whether all of them
// have completed or failed for good.
func (w *worker) initContainers(spec object.View, was map[string]object.View) (out []object.View, initialized, failed bool) {
	initialized = true
	for c := range spec.At("initContainers").Objects() {
		name := c.String("name")
		if !initialized || failed {
			s := was[name]
			if s.IsNil() {
				s = w.waiting(c, object.View{}, "PodInitializing", "")
			}
			out = append(out, s)
			continue
		}
		sidecar := c.String("restartPolicy") == "Always"
		s := w.initContainer(c, was[name], sidecar)
		out = append(out, s)
		code, ended := s.Int("state", "terminated", "exitCode")
		switch {
		case sidecar:
			initialized = s.Bool("started")
		case ended && code == 0:
		default:
			initialized = false
			failed = ended && spec.String("restartPolicy") == "Never"
		}
	}
	return out, initialized, failed
}

// initContainer returns the status of an init container whose turn it is.
func (w *worker) initContainer(c, was object.View, sidecar bool) object.View {
	if !sidecar && !was.IsNil() {
		if code, ended := was.Int("state", "terminated", "exitCode"); ended && code == 0 {
			return was
		}
	}
	_, known := lifecycle.Find(w.behaviors, c.String("name"), true)
	if sidecar || known {
		return w.container(c, was, true, false)
	}
	s := w.exited(w.running(c, was, false), 0).ShallowCopy()
	s["ready"] = true
	return object.ViewOf(s)
}

// container returns the status of a container. completes says that it ends by itself.
func (w *worker) container(c, was object.View, initialized, completes bool) object.View {
	name := c.String("name")
	if !initialized {
		if !was.IsNil() {
			return was
		}
		return w.waiting(c, object.View{}, "PodInitializing", "")
	}
	init := false
	for i := range w.pod.At("spec", "initContainers").Objects() {
		init = init || i.String("name") == name
	}
	b, known := lifecycle.Find(w.behaviors, name, init)
	if known && b.Action == lifecycle.Run {
		completes = false
	}
	state := was.At("state")
	switch {
	case !state.IsNil("running") && was.String("image") != c.String("image"): // an update in place
		return w.restart(c, w.exited(was, 0), b)
	case !state.IsNil("running"):
		switch {
		case known && b.Action == lifecycle.Exit:
			return w.exited(was, b.ExitCode)
		case !known && completes:
			return w.exited(was, 0)
		}
		ready := !known || b.Action != lifecycle.Hang
		if was.Bool("ready") == ready {
			return was
		}
		s := was.ShallowCopy()
		s["ready"] = ready
		return object.ViewOf(s)
	case !state.IsNil("terminated"):
		return w.afterExit(c, was, b)
	case !was.IsNil("lastState", "terminated"): // CrashLoopBackOff
		if back := w.backoff(name); back.until.After(w.now) {
			w.until(back.until)
			return was
		}
		return w.restart(c, was, b)
	}
	return w.start(c, was, b)
}

// start returns the status of a container that is started, or whose image is pulled.
func (w *worker) start(c, was object.View, b lifecycle.Behavior) object.View {
	name, image := c.String("name"), c.String("image")
	switch b.Action {
	case lifecycle.FailImagePull:
		return w.failPull(c, was, name, image)
	case lifecycle.Exit:
		return w.exited(w.running(c, was, false), b.ExitCode)
	case lifecycle.Hang:
		return w.running(c, was, false)
	}
	if was.String("state", "waiting", "reason") == "ImagePullBackOff" {
		if back := w.backoff(name); back.until.After(w.now) {
			w.until(back.until)
			return was
		}
		delete(w.backoffs, containerKey{w.object.UID, name})
	}
	return w.running(c, was, true)
}

// failPull returns the status of a container whose image cannot be pulled.
func (w *worker) failPull(c, was object.View, name, image string) object.View {
	cause := fmt.Sprintf("failed to pull and unpack image %q: failed to resolve reference %[1]q: %[1]s: not found", image)
	back := w.backoff(name)
	switch was.String("state", "waiting", "reason") {
	case "ErrImagePull":
		w.until(back.until)
		message := fmt.Sprintf("Back-off pulling image %q", image)
		w.event(name, controller.Normal, "BackOff", message)
		w.event(name, controller.Warning, "Failed", "Error: ImagePullBackOff")
		return w.waiting(c, was, "ImagePullBackOff", message+": ErrImagePull: "+cause)
	case "ImagePullBackOff":
		if back.until.After(w.now) {
			w.until(back.until)
			return was
		}
	}
	back.fail(w.now)
	w.until(w.now) // it becomes a back-off in the next sync
	w.event(name, controller.Normal, "Pulling", fmt.Sprintf("Pulling image %q", image))
	w.event(name, controller.Warning, "Failed", fmt.Sprintf("Failed to pull image %q: %s", image, cause))
	w.event(name, controller.Warning, "Failed", "Error: ErrImagePull")
	return w.waiting(c, was, "ErrImagePull", cause)
}

// afterExit returns the status of a container that has ended: it stays so, is
// restarted, or waits for its back-off.
func (w *worker) afterExit(c, was object.View, b lifecycle.Behavior) object.View {
	name := c.String("name")
	policy := c.String("restartPolicy") // of the container, else of the Pod
	if policy == "" {
		policy = w.pod.String("spec", "restartPolicy")
	}
	code, _ := was.Int("state", "terminated", "exitCode")
	if policy == "Never" || policy == "OnFailure" && code == 0 {
		return was
	}
	back := w.backoff(name)
	if back.failures == 0 && back.until.IsZero() {
		back.until = w.now // the first restart is at once
		return w.restart(c, was, b)
	}
	d := back.fail(w.now)
	w.until(back.until)
	s := w.waiting(c, was, "CrashLoopBackOff", fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
		d, name, w.object.Name, w.object.Namespace, w.object.UID)).ShallowCopy()
	s["lastState"] = map[string]any{"terminated": was.At("state", "terminated").Shared()}
	w.event(name, controller.Warning, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s_%s(%s)", name, w.object.Name, w.object.Namespace, w.object.UID))
	return object.ViewOf(s)
}

// restart returns the status of a container that is started again.
func (w *worker) restart(c, was object.View, b lifecycle.Behavior) object.View {
	before := was.ShallowCopy()
	count, _ := was.Int("restartCount")
	before["restartCount"] = count + 1
	if ended := was.At("state", "terminated"); !ended.IsNil() {
		before["lastState"] = map[string]any{"terminated": ended.Shared()}
	}
	before["state"] = map[string]any{}
	return w.start(c, object.ViewOf(before), b)
}

// base returns the fields of a status that all states have.
func (w *worker) base(c, was object.View) map[string]any {
	count, _ := was.Int("restartCount")
	last := was.At("lastState").ShallowCopy()
	return map[string]any{
		"name": c.String("name"), "image": c.String("image"), "imageID": was.String("imageID"),
		"containerID": was.String("containerID"), "restartCount": count, "ready": false, "started": false, "lastState": last,
	}
}

// running returns the status of a container that has just started.
func (w *worker) running(c, was object.View, ready bool) object.View {
	s := w.base(c, was)
	count, _ := object.Int(s, "restartCount")
	s["imageID"] = "sha256:" + digest(c.String("image"))
	s["containerID"] = "fakeapi://" + digest(w.object.UID+"/"+c.String("name")+"/"+strconv.FormatInt(count, 10))
	s["ready"], s["started"] = ready, true
	s["state"] = map[string]any{"running": map[string]any{"startedAt": clock.Timestamp(w.now)}}
	return object.ViewOf(s)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// waiting returns the status of a container that does not run.
func (w *worker) waiting(c, was object.View, reason, message string) object.View {
	s := w.base(c, was)
	state := map[string]any{"reason": reason}
	if message != "" {
		state["message"] = message
	}
	s["state"] = map[string]any{"waiting": state}
	return object.ViewOf(s)
}

// exited returns the status of a container that ran and has ended with a code.
func (w *worker) exited(was object.View, code int64) object.View {
	s := was.ShallowCopy()
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	now := clock.Timestamp(w.now)
	started := was.String("state", "running", "startedAt")
	if started == "" {
		started = now
	}
	s["ready"], s["started"] = false, false
	s["state"] = map[string]any{"terminated": map[string]any{
		"exitCode": code, "reason": reason, "startedAt": started, "finishedAt": now, "containerID": was.String("containerID"),
	}}
	return object.ViewOf(s)
}

// killedCode is the exit code of a container that SIGKILL has ended.
const killedCode = 137

// stopped returns the status of a container that was stopped with its Pod.
func (w *worker) stopped(s object.View) object.View {
	if s.IsNil("state", "running") {
		return s
	}
	return w.exited(s, killedCode)
}
