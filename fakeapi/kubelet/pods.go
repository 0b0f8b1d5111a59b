package kubelet

import (
	"context"
	"io"

	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/selector"
)

// Pods are Pods that exist, and those that will. The methods are about Pods of the selection
// until another call is about the same selection; of different selections with a Pod in
// common, the newest call applies. They replace what Stages say.
//
// On a running clock the Pods change soon; on a manual one in Settle and Advance. All errors
// are ErrInvalid.
type Pods struct {
	kubelet   Kubelet
	labels    string
	namespace string
	container string
}

// In returns the Pods of the selection in a namespace.
func (p Pods) In(namespace string) Pods {
	p.namespace = namespace
	return p
}

// Container limits what follows to the container of a name, which may be an init
// container. By default it is about all containers but those.
func (p Pods) Container(name string) Pods {
	p.container = name
	return p
}

// CrashLoop makes the containers end with exit code 1 as soon as they start. They are
// restarted with the back-off of the kubelet, from 10 s to 5 minutes.
func (p Pods) CrashLoop() error { return p.Complete(1) }

// Complete makes the containers end with an exit code as soon as they start. A Pod with
// the restartPolicy Never has then succeeded or failed, one with OnFailure has succeeded
// if the code is 0. Otherwise the containers are restarted, as by CrashLoop.
func (p Pods) Complete(exitCode int) error {
	return p.add(lifecycle.Behavior{Action: lifecycle.Exit, ExitCode: int64(exitCode)})
}

// FailImagePull keeps containers that do not run yet from starting: their images do not
// exist. The pull is repeated with the back-off of the kubelet, from 10 s to 5 minutes.
func (p Pods) FailImagePull() error {
	return p.add(lifecycle.Behavior{Action: lifecycle.FailImagePull})
}

// Hang makes the containers run without becoming ready or completing. They ignore
// SIGTERM: the deletion of their Pod takes the whole grace period.
func (p Pods) Hang() error { return p.add(lifecycle.Behavior{Action: lifecycle.Hang}) }

// Run makes the containers run and be ready, those of Jobs too. Containers that wait for
// the end of a back-off start then.
func (p Pods) Run() error { return p.add(lifecycle.Behavior{Action: lifecycle.Run}) }

// SetLog sets what the containers have written: GET of the log of a Pod, such as by kubectl
// logs, answers with the text, also if no kubelet runs. Of the parameters, container,
// tailLines and limitBytes have an effect. Without, the log of a Pod with a Node fails with
// 501: there is no kubelet to ask.
func (p Pods) SetLog(text string) error {
	of, err := p.containers()
	if err == nil {
		p.kubelet.lifecycle.SetLog(of, text)
	}
	return err
}

// A Command is a command that a client executes in a container of a Pod.
type Command struct {
	Namespace, Pod, Container string
	Args                      []string // the name of the program is the first
	TTY                       bool
	Stdin                     io.Reader // at its end at once if the client sends none
	Stdout, Stderr            io.Writer // discard what the client does not ask for
}

// HandleExec sets what runs the commands that clients execute in the containers, such as by
// kubectl exec, also if no kubelet runs. run returns the exit code. It is called in the
// goroutine of a request, for several requests at the same time; its context ends with the
// connection, and with the server. Clients need WebSockets, as kubectl has since 1.31; a
// request over SPDY fails with 501, and so does each exec in a Pod without a function.
func (p Pods) HandleExec(run func(ctx context.Context, c Command) (exitCode int)) error {
	of, err := p.containers()
	if err == nil {
		p.kubelet.lifecycle.SetRun(of, func(ctx context.Context, c lifecycle.Command) int { return run(ctx, Command(c)) })
	}
	return err
}

// SetUsage sets how much of a resource each container of the Pods uses: of "cpu", such as
// "250m", or of "memory". The horizontal-pod-autoscaler-controller reads it as from
// metrics-server, of Pods that run. It is not served as metrics.k8s.io.
//
//	srv.Kubelet().Pods("app=web").SetUsage("cpu", "900m")
func (p Pods) SetUsage(resource, quantity string) error {
	return p.measure(lifecycle.Measurement{Container: p.container, Name: resource, Value: quantity})
}

// SetMetric sets the value of a custom metric of each Pod, which a HorizontalPodAutoscaler
// has as a metric of type Pods. It is not served as custom.metrics.k8s.io.
func (p Pods) SetMetric(name, quantity string) error {
	return p.measure(lifecycle.Measurement{Name: name, Custom: true, Value: quantity})
}

// containers returns the containers of the selection.
func (p Pods) containers() (lifecycle.Containers, error) {
	labels, err := selector.ParseLabels(p.labels)
	if err != nil {
		return lifecycle.Containers{}, invalid(err)
	}
	return lifecycle.Containers{Namespace: p.namespace, Labels: labels, Container: p.container}, nil
}

func (p Pods) add(b lifecycle.Behavior) error {
	of, err := p.containers()
	if err != nil {
		return err
	}
	b.Labels, b.Namespace, b.Container = of.Labels, of.Namespace, of.Container
	p.kubelet.lifecycle.Add(b)
	p.kubelet.wake()
	return nil
}

func (p Pods) measure(m lifecycle.Measurement) error {
	of, err := p.containers()
	if err != nil {
		return err
	}
	m.Labels, m.Namespace = of.Labels, of.Namespace
	if err := p.kubelet.lifecycle.Measure(m); err != nil {
		return invalid(err)
	}
	return nil
}
