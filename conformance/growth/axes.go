package main

import (
	"fmt"
	"strings"
	"sync"
)

// An axis is what a server has more and more of.
type axis struct {
	name  string
	sizes []int
	// grow fills a new server to a size.
	grow func(s *server, n int) error
}

var axes = []axis{
	{"objects in other namespaces", []int{1_000, 10_000, 100_000, 1_000_000}, func(s *server, n int) error {
		return s.each(n, func(i int) error { return s.put("default", fmt.Sprintf("other-%d", i)) })
	}},
	{"objects of another resource", []int{1_000, 10_000, 100_000}, func(s *server, n int) error {
		return s.each(n, func(i int) error {
			_, err := s.Store(fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"other-%d","namespace":"default"}}`, i))
			return err
		})
	}},
	{"namespaces", []int{10, 100, 1_000, 10_000}, func(s *server, n int) error {
		return s.each(n, func(i int) error {
			_, err := s.Store(fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"other-%d"}}`, i))
			return err
		})
	}},
	{"definitions of custom resources", []int{1, 10, 100, 1_000}, func(s *server, n int) error {
		return s.each(n, func(i int) error {
			_, err := s.Store(fmt.Sprintf(definition, fmt.Sprintf("g%d", i)))
			return err
		})
	}},
	{"managers of each object", []int{1, 2, 5, 10, 20, 50}, func(s *server, n int) error {
		for i := range n {
			for j := range few {
				body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm-%d","annotations":{"example.com/manager-%d":"x"}}}`, j, i)
				if _, err := s.do("PATCH", fmt.Sprintf("%s/cm-%d?fieldManager=manager-%d", path, j, i), applyType, body); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{"old versions", []int{1_000, 10_000, 100_000, 1_000_000}, func(s *server, n int) error {
		return s.each(n, func(i int) error {
			_, err := s.Store(fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"old","namespace":"default"},"data":{"key":"%08d"}}`, i))
			return err
		})
	}},
	{"idle watches of other namespaces", []int{1, 10, 100, 1_000, 10_000}, watches("/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=%d", jsonType, true)},
	{"watches of the namespace that select nothing", []int{1, 10, 100, 1_000, 10_000}, watches("/api/v1/namespaces/measured/configmaps?watch=1&labelSelector=no=thing&resourceVersion=%d", jsonType, true)},
	{"watches of the namespace that read", []int{1, 10, 100, 1_000}, watches("/api/v1/namespaces/measured/configmaps?watch=1&resourceVersion=%d", jsonType, true)},
	{"watches of the namespace that read protobuf", []int{1, 10, 100, 1_000}, watches("/api/v1/namespaces/measured/configmaps?watch=1&resourceVersion=%d", protobufType, true)},
	{"watches of the namespace that do not read", []int{1, 10, 100, 1_000}, watches("/api/v1/namespaces/measured/configmaps?watch=1&resourceVersion=%d", jsonType, false)},
}

// definition is a definition of a custom resource with a schema, in a group of that name
// below example.com.
const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.%[1]s.example.com"},"spec":{
	"group":"%[1]s.example.com","scope":"Namespaced","names":{"kind":"Widget","plural":"widgets"},
	"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
		"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}}]}}`

// watches returns the function that opens watches of a path with a revision.
func watches(path, accept string, reads bool) func(s *server, n int) error {
	return func(s *server, n int) error {
		for range n {
			if err := s.watch(fmt.Sprintf(path, s.Revision()), accept, reads); err != nil {
				return err
			}
		}
		return nil
	}
}

// writers is the number of goroutines that fill a server.
const writers = 4

// each calls a function with all numbers below n.
func (s *server) each(n int, do func(i int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := w; i < n && errs[w] == nil; i += writers {
				errs[w] = do(i)
			}
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !strings.Contains(err.Error(), "conflict") {
			return err
		}
	}
	return nil
}
