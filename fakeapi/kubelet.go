package fakeapi

import (
	"fmt"
	"io/fs"

	"github.com/kubefake/kubefake/fakeapi/kubelet"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
)

// WithStages makes Pods and Nodes behave as Stages of KWOK say, with the controller
// "kubelet" on: files in YAML of kind Stage, kwok.x-k8s.io/v1alpha1. The globs have the
// syntax of fs.Glob. Stages of Pods replace all that Pods do by default, Stages of Nodes
// all that Nodes do. What a Stage has that is not supported is an ErrInvalidOption.
//
// See https://kwok.sigs.k8s.io/docs/user/stages-configuration/.
func WithStages(fsys fs.FS, globs ...string) Option {
	return newOption("WithStages", func(c *config) {
		c.stages = append(c.stages, func() ([]*lifecycle.Stage, error) { return readStages(files{fsys, globs}) })
	}, fsys, globs)
}

// Kubelet returns what sets what Pods and Nodes do, such as that containers crash:
//
//	srv.Kubelet().Pods("app=web").CrashLoop()
func (s *Server) Kubelet() kubelet.Kubelet {
	m := s.api.Controllers()
	return kubelet.New(m.Lifecycle(), m.Wake)
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
