package kubeconfig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A plugin is an exec credential plugin.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins.
type plugin struct {
	APIVersion string
	Command    string
	Args       []string
	Env        []struct{ Name, Value string }

	InteractiveMode string
}

// run runs the plugin and sets the credentials of u.
func (p *plugin) run(ctx context.Context, dir string, u *user) error {
	command := p.Command
	if strings.ContainsRune(command, os.PathSeparator) {
		// Absolute, since "plugin" for "./plugin" would be looked up in PATH.
		var err error
		if command, err = filepath.Abs(resolve(dir, command)); err != nil {
			return err
		}
	}
	request, err := json.Marshal(map[string]any{
		"apiVersion": p.APIVersion, "kind": "ExecCredential", "spec": map[string]any{"interactive": false},
	})
	if err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, command, p.Args...)
	cmd.Env = append(os.Environ(), "KUBERNETES_EXEC_INFO="+string(request))
	for _, e := range p.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	var answer struct {
		Status *struct{ Token, ClientCertificateData, ClientKeyData string }
	}
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
		return err
	}
	if answer.Status == nil {
		return errors.New("the ExecCredential has no status")
	}
	u.Token = answer.Status.Token
	u.CertificateData, u.KeyData = []byte(answer.Status.ClientCertificateData), []byte(answer.Status.ClientKeyData)
	return nil
}
