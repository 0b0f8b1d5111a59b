package fakeapi

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/selector"
)

// WithStages makes Pods and Nodes behave as Stages of KWOK say, with the controller
// "kubelet" on: files in YAML of kind Stage, kwok.x-k8s.io/v1alpha1. The globs have the
// syntax of fs.Glob. Stages of Pods replace all that Pods do by default, Stages of Nodes
// all that Nodes do. What a Stage has that is not supported is an ErrInvalidOption.
//
// See https://kwok.sigs.k8s.io/docs/user/stages-configuration/.
func WithStages(fsys fs.FS, globs ...string) Option {
	return func(c *config) {
		c.stages = append(c.stages, func() ([]*lifecycle.Stage, error) { return readStages(files{fsys, globs}) })
	}
}

// Pods selects Pods by a label selector, such as "app=web"; "" is all. It is what a test
// uses to say what their containers do while the controller "kubelet" is on:
//
//	srv.Pods("app=web").CrashLoop()
//
// Without, containers run and are ready, and those of Jobs complete.
func (s *Server) Pods(labelSelector string) PodSelection {
	return PodSelection{server: s, labels: labelSelector}
}

// A PodSelection is Pods that exist, and those that will. Its methods are about Pods of
// the selection until another call is about the same selection; of different selections
// with a Pod in common, the newest call applies. They replace what Stages say.
//
// On a running clock the Pods change soon; on a manual one in Settle and Advance. Errors
// are ErrInvalidOption, for a selector that does not parse.
type PodSelection struct {
	server    *Server
	labels    string
	namespace string
	container string
}

// In returns the Pods of the selection in a namespace.
func (p PodSelection) In(namespace string) PodSelection {
	p.namespace = namespace
	return p
}

// Container limits what follows to the container of a name, which may be an init
// container. By default it is about all containers but those.
func (p PodSelection) Container(name string) PodSelection {
	p.container = name
	return p
}

// CrashLoop makes the containers end with exit code 1 as soon as they start. They are
// restarted with the back-off of the kubelet, from 10 s to 5 minutes.
func (p PodSelection) CrashLoop() error { return p.Complete(1) }

// Complete makes the containers end with an exit code as soon as they start. A Pod with
// the restartPolicy Never has then succeeded or failed, one with OnFailure has succeeded
// if the code is 0. Otherwise the containers are restarted, as by CrashLoop.
func (p PodSelection) Complete(exitCode int) error {
	return p.set(lifecycle.Behavior{Action: lifecycle.Exit, ExitCode: int64(exitCode)})
}

// FailImagePull keeps containers that do not run yet from starting: their images do not
// exist. The pull is repeated with the back-off of the kubelet, from 10 s to 5 minutes.
func (p PodSelection) FailImagePull() error {
	return p.set(lifecycle.Behavior{Action: lifecycle.FailImagePull})
}

// Hang makes the containers run without becoming ready or completing. They ignore
// SIGTERM: the deletion of their Pod takes the whole grace period.
func (p PodSelection) Hang() error { return p.set(lifecycle.Behavior{Action: lifecycle.Hang}) }

// Run makes the containers run and be ready, those of Jobs too. Containers that wait for
// the end of a back-off start then.
func (p PodSelection) Run() error { return p.set(lifecycle.Behavior{Action: lifecycle.Run}) }

// Log sets what the containers have written: GET of the log of a Pod, such as by kubectl
// logs, answers with the text, also if no kubelet runs. Of the parameters, container,
// tailLines and limitBytes have an effect. Without, the log of a Pod with a Node fails with
// 501: there is no kubelet to ask.
func (p PodSelection) Log(text string) error {
	of, err := p.containers()
	if err == nil {
		p.server.api.Controllers().Lifecycle().SetLog(of, text)
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

// Exec sets what runs the commands that clients execute in the containers, such as by
// kubectl exec, also if no kubelet runs. run returns the exit code. It is called in the
// goroutine of a request, for several requests at the same time; its context ends with the
// connection, and with the server. Clients need WebSockets, as kubectl has since 1.31; a
// request over SPDY fails with 501, and so does each exec in a Pod without a function.
func (p PodSelection) Exec(run func(ctx context.Context, c Command) (exitCode int)) error {
	of, err := p.containers()
	if err == nil {
		p.server.api.Controllers().Lifecycle().SetRun(of, func(ctx context.Context, c lifecycle.Command) int { return run(ctx, Command(c)) })
	}
	return err
}

// containers returns the containers of the selection.
func (p PodSelection) containers() (lifecycle.Containers, error) {
	labels, err := selector.ParseLabels(p.labels)
	if err != nil {
		return lifecycle.Containers{}, fmt.Errorf("fakeapi: %w", optionError(err))
	}
	return lifecycle.Containers{Namespace: p.namespace, Labels: labels, Container: p.container}, nil
}

func (p PodSelection) set(b lifecycle.Behavior) error {
	of, err := p.containers()
	if err != nil {
		return err
	}
	b.Labels, b.Namespace, b.Container = of.Labels, of.Namespace, of.Container
	m := p.server.api.Controllers()
	m.Lifecycle().Add(b)
	m.Wake()
	return nil
}

// StopNode stops the kubelet of a Node, as if its machine were off: it renews no Lease,
// and its Pods stay as they are.
func (s *Server) StopNode(name string) { s.stopNode(name, true) }

// StartNode starts the kubelet of a Node that was stopped.
func (s *Server) StartNode(name string) { s.stopNode(name, false) }

func (s *Server) stopNode(name string, stop bool) {
	m := s.api.Controllers()
	m.Lifecycle().StopNode(name, stop)
	m.Wake()
}

// loadStages loads the Stages of WithStages.
func (s *Server) loadStages() error {
	var stages []*lifecycle.Stage
	for _, read := range s.config.stages {
		some, err := read()
		if err != nil {
			return err
		}
		stages = append(stages, some...)
	}
	s.api.Controllers().Lifecycle().SetStages(stages)
	return nil
}

// readStages reads files of Stages.
func readStages(f files) (stages []*lifecycle.Stage, err error) {
	err = f.each(func(name string, text []byte) error {
		some, err := lifecycle.Parse(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, optionError(err))
		}
		stages = append(stages, some...)
		return nil
	})
	return stages, err
}
