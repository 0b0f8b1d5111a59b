package controller

import (
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
)

// A PodControl creates and deletes Pods for their owners, and records Events about the
// owners.
type PodControl struct {
	Client   *Client
	Recorder *Recorder
}

// Create creates a Pod, which belongs to the registry from the call on, in the
// namespace of its owner.
func (c *PodControl) Create(owner *Object, pod map[string]any) (*Object, error) {
	if len(object.Map(pod, "metadata", "labels")) == 0 {
		return nil, errors.New("unable to create pods, no labels")
	}
	created, err := c.Client.Create(Pods, owner.Namespace, pod)
	if err != nil {
		if !IsTerminatingNamespace(err) {
			c.Recorder.Event(owner, Warning, "FailedCreate", "Error creating: %v", err)
		}
		return nil, err
	}
	c.Recorder.Event(owner, Normal, "SuccessfulCreate", "Created pod: %s", created.Name)
	return created, nil
}

// Delete deletes a Pod of an owner.
func (c *PodControl) Delete(owner *Object, name string) error {
	err := c.Client.Delete(Pods, owner.Namespace, name, DeleteOptions{})
	switch {
	case IsNotFound(err):
		return err
	case err != nil:
		c.Recorder.Event(owner, Warning, "FailedDelete", "Error deleting: %v", err)
		return fmt.Errorf("unable to delete pods: %w", err)
	}
	c.Recorder.Event(owner, Normal, "SuccessfulDelete", "Deleted pod: %s", name)
	return nil
}

// SlowStart calls f for each number below n, in batches of 1, 2, 4... calls. If a call
// fails, the batches after its own are skipped. It returns the number of calls that
// succeeded and the first error.
func SlowStart(n int, f func(i int) error) (succeeded int, err error) {
	for start, size := 0, 1; start < n && err == nil; start, size = start+size, 2*size {
		for i := start; i < min(start+size, n); i++ {
			e := f(i)
			if e == nil {
				succeeded++
			} else if err == nil {
				err = e
			}
		}
	}
	return succeeded, err
}
