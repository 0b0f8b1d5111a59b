package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/storage"
)

// labelSecret sets a label of a Secret as kube-apiserver does, by a patch whose client is itself. It
// changes no other Secret of the name. A failure does not fail the request that used the token.
func (c *Cluster) labelSecret(ctx context.Context, secret *storage.Object, name, value string) {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": secret.UID, "labels": map[string]string{name: value}}})
	if err != nil {
		panic("cluster: label of a secret: " + err.Error()) // unreachable: these are strings
	}
	surface := c.Surface()
	r := registry.Request{
		Type: surface.Builtin().Lookup("", "v1", "secrets"), Surface: surface,
		Namespace: secret.Namespace, Name: secret.Name, User: registry.Server, UserAgent: registry.ServerAgent,
	}
	if _, err := c.Patch(ctx, r, registry.Patch{Type: patch.MergeType, Data: data}, &registry.WriteOptions{}); err != nil {
		c.Journal().RecordNote(journal.Note{
			Kind: journal.State, Resource: "secrets",
			Text: fmt.Sprintf("the Secret %s/%s of a legacy token is not labeled with the day of its use: %v", secret.Namespace, secret.Name, err),
		})
	}
}
