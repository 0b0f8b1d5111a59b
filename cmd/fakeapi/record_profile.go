package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/outputfile"
	"github.com/kubefake/kubefake/internal/profile"
)

// recordProfile writes the profile of a cluster.
func (c *recordCommand) recordProfile(ctx context.Context, stdout, stderr io.Writer) error {
	cluster, err := kubeconfig.Load(ctx, c.kubeconfig, c.context)
	if err != nil {
		return err
	}
	r := profile.Recorder{
		URL: cluster.URL, Client: &http.Client{Transport: cluster.Transport},
		Warn: func(text string) { fmt.Fprintln(stderr, "warning:", text) },
	}
	p, err := r.Record(ctx)
	if err != nil {
		return err
	}
	text, err := p.Encode()
	if err != nil {
		return err
	}
	if err := outputfile.WriteText(c.out, text, 0o600); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	fmt.Fprintf(stdout, "wrote the profile of %s, which has %s, with %d objects to %s\n", cluster.URL, p.Version, len(p.Objects), c.out)
	return nil
}
