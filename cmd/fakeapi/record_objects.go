package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/profile"
	"github.com/kubefake/kubefake/internal/scrub"
)

// recordObjects writes the objects of a cluster to files in a folder.
func (c *recordCommand) recordObjects(ctx context.Context, stdout, stderr io.Writer) (err error) {
	folder := objectFolder{dir: c.objects, maxFile: maxObjectFile}
	if err := folder.create(); err != nil {
		return fmt.Errorf("--objects: %w", err)
	}
	cluster, err := kubeconfig.Load(ctx, c.kubeconfig, c.context)
	if err != nil {
		return err
	}
	r := profile.Recorder{
		URL: cluster.URL, Client: &http.Client{Transport: cluster.Transport},
		Warn: func(text string) { fmt.Fprintln(stderr, "warning:", text) },
	}
	var rules []scrub.Rule
	for _, s := range c.secrets {
		rules = append(rules, scrub.Rule(s))
	}
	o := profile.Objects{Exclude: c.exclude, Scrubber: scrub.ForFiles(rules...), Write: folder.write}
	if c.show {
		o.Scrubber = nil
	}
	n, err := r.ReadObjects(ctx, o)
	if err := errors.Join(err, folder.close()); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "wrote %d objects of %s to %d files in %s\n", n, cluster.URL, folder.files, c.objects)
	return nil
}

// maxObjectFile is the maxFile of recordings.
const maxObjectFile = 16 << 20

// An objectFolder writes objects to files in YAML: deployments.apps.yaml, deployments.apps-2.yaml.
type objectFolder struct {
	dir     string
	maxFile int // size from which on it begins the next file, in bytes
	files   int

	resource string // of the open file
	part     int    // its number, from 1
	size     int
	file     *os.File // nil before the first object
	w        *bufio.Writer
}

// create creates the folder, which must not have files: those of another recording would be taken
// for objects of this one.
func (f *objectFolder) create() error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(f.dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("the folder %s is not empty", f.dir)
	}
	return err
}

// write writes an object. Those of a resource follow each other.
func (f *objectFolder) write(resource string, obj map[string]any) error {
	text, err := yaml.Marshal(obj)
	if err != nil {
		return err
	}
	if resource != f.resource || f.size >= f.maxFile {
		if err := f.next(resource); err != nil {
			return err
		}
	}
	n, err := fmt.Fprintf(f.w, "---\n%s", text)
	f.size += n
	return err
}

// next begins a file.
func (f *objectFolder) next(resource string) error {
	if err := f.close(); err != nil {
		return err
	}
	if filepath.Base(resource) != resource || !filepath.IsLocal(resource) {
		return fmt.Errorf("the cluster has a resource whose name %q cannot be that of a file", resource)
	}
	f.part++
	name := fmt.Sprintf("%s-%d.yaml", resource, f.part)
	if resource != f.resource {
		f.resource, f.part, name = resource, 1, resource+".yaml"
	}
	file, err := os.OpenFile(filepath.Join(f.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.files++
	f.file, f.w, f.size = file, bufio.NewWriter(file), 0
	return nil
}

// close ends the open file.
func (f *objectFolder) close() error {
	if f.file == nil {
		return nil
	}
	err := errors.Join(f.w.Flush(), f.file.Close())
	f.file = nil
	return err
}
