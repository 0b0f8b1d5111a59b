package fakeapi

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/control"
)

// Ready is the status for SetStatus that an object has when it has reached what its spec asks
// for, so that no controller need run: a Deployment is rolled out, a StatefulSet, a DaemonSet,
// a ReplicaSet and a ReplicationController have all their Pods, a Pod is running and ready, and
// a Job is complete. The Pods themselves do not come into being. Other kinds have no such status.
var Ready readyStatus

type readyStatus struct{}

// SetStatus writes fields of the status of an object, as the controller of a cluster would:
// through validation, admission and the watches, without HTTP. status is Ready or a JSON merge
// patch of the status: a Go value whose JSON is an object, or JSON or YAML as []byte or string.
// Fields that it does not have stay, lists are replaced. namespace is "" at cluster scope.
// It returns the stored object.
//
//	srv.SetStatus("deployments.apps", "shop", "web", fakeapi.Ready)
//	srv.SetStatus("services.", "shop", "web", `{loadBalancer: {ingress: [{ip: 192.0.2.1}]}}`)
//
// Errors: ErrNotFound, otherwise ErrInvalidObject.
func (s *Server) SetStatus(resource, namespace, name string, status any) (Object, error) {
	o, err := s.setStatus(control.ObjectName{Resource: resource, Namespace: namespace, Name: name}, status)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: SetStatus: %w", objectError(err))
	}
	return o, nil
}

func (s *Server) setStatus(of control.ObjectName, status any) (Object, error) {
	if status == Ready {
		return s.api.Control().MarkReady(of)
	}
	fields, err := fieldsOf(status)
	if err != nil {
		return nil, err
	}
	return s.api.Control().SetStatus(of, fields)
}

// fieldsOf returns the fields of a value of SetStatus.
func fieldsOf(status any) (map[string]any, error) {
	var text []byte
	switch v := status.(type) {
	case []byte:
		text = v
	case string:
		text = []byte(v)
	default:
		var err error
		if text, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	text, err := toJSON(text)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	if fields == nil {
		return nil, errors.New("the status is not an object")
	}
	return fields, nil
}

// FinishDeletion ends the deletion of an object that is being deleted: it removes the
// finalizers of the object, of a Namespace also those of its spec, and ends the grace period
// of a Pod. What is in a Namespace stays, as when a user removes the finalizers of one.
//
// Errors: ErrNotFound; ErrInvalidObject if the object is not being deleted.
func (s *Server) FinishDeletion(resource, namespace, name string) error {
	if err := s.api.Control().FinishDeletion(control.ObjectName{Resource: resource, Namespace: namespace, Name: name}); err != nil {
		return fmt.Errorf("fakeapi: FinishDeletion: %w", objectError(err))
	}
	return nil
}
