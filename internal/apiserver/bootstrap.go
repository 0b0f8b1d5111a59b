package apiserver

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/resource"
)

// systemNamespaces are those that every cluster has.
var systemNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// bootstrap makes the objects that a fresh cluster has.
func (s *Server) bootstrap() error {
	namespaces := s.Registry().Lookup("", "v1", "namespaces")
	if namespaces == nil {
		return fmt.Errorf("profile %s serves no namespaces", s.surface.profile.Name())
	}
	for _, name := range systemNamespaces {
		if err := s.make(namespaces, map[string]any{"metadata": map[string]any{"name": name}}); err != nil {
			return err
		}
	}
	return nil
}

// make creates an object on the server's own behalf.
func (s *Server) make(t *resource.Type, obj map[string]any) error {
	r := s.internalRequest(t, "create")
	o := &writeOptions{}
	_, err := r.createNamed(r.tracked().Update(nil, completed(t, obj), r.fieldOptions(o)), o)
	return err
}
