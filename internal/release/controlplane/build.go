package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/release/modules"
)

// Sources of the programs. The modules of Kubernetes have no package that is only a program: each
// registers what the ones of a release register.
const (
	apiServerSource = `package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
`
	etcdSource = `package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
`
)

// Build returns the executables of a version such as "v1.36.3" in the folder dir/VERSION, with the
// etcd whose client the version has. It builds those that are not there: some minutes each.
func Build(ctx context.Context, dir, version string) (Executables, error) {
	dir, err := filepath.Abs(filepath.Join(dir, version))
	if err != nil {
		return Executables{}, err
	}
	e := Executables{APIServer: filepath.Join(dir, "kube-apiserver"), Etcd: filepath.Join(dir, "etcd")}
	_, errServer := os.Stat(e.APIServer)
	_, errEtcd := os.Stat(e.Etcd)
	if errServer == nil && errEtcd == nil {
		return e, nil
	}
	module := filepath.Join(dir, "source")
	if err := writeModule(ctx, module, version); err != nil {
		return e, err
	}
	stamp := "-X k8s.io/component-base/version."
	flags := "-s -w " + stamp + "gitVersion=" + version + " " + stamp + "gitMajor=1 " + stamp + "gitMinor=" + strconv.Itoa(modules.Minor(version)) + " " + stamp + "gitTreeState=clean"
	for name, path := range map[string]string{"apiserver": e.APIServer, "etcd": e.Etcd} {
		if _, err := modules.Go(ctx, module, "build", "-mod=mod", "-ldflags", flags, "-o", path, "./"+name); err != nil {
			return e, err
		}
	}
	return e, os.RemoveAll(module)
}

// writeModule writes a module with the programs. Each module of Kubernetes' staging folder has the
// version of the release.
func writeModule(ctx context.Context, dir, version string) error {
	out, err := modules.Go(ctx, "", "mod", "download", "-json", "k8s.io/kubernetes@"+version)
	if err != nil {
		return err
	}
	var downloaded struct{ GoMod string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return err
	}
	if out, err = modules.Go(ctx, "", "mod", "edit", "-json", downloaded.GoMod); err != nil {
		return err
	}
	text, err := moduleText(out, version)
	if err != nil {
		return err
	}
	for name, content := range map[string]string{"go.mod": text, "apiserver/main.go": apiServerSource, "etcd/main.go": etcdSource} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(dir, "go.sum")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// moduleText returns the go.mod file of a module that is built as k8s.io/kubernetes of a version
// is, whose own file is requirements, in the form of go mod edit -json.
func moduleText(requirements []byte, version string) (string, error) {
	var mod struct {
		Go      string
		Require []struct{ Path, Version string }
		Replace []struct {
			Old struct{ Path string }
			New struct{ Path string }
		}
	}
	if err := json.Unmarshal(requirements, &mod); err != nil {
		return "", err
	}
	staging := modules.Staging(version)
	var b bytes.Buffer
	fmt.Fprintf(&b, "module controlplane\n\ngo %s\n\nrequire k8s.io/kubernetes %s\n", mod.Go, version)
	fmt.Fprintf(&b, "require k8s.io/component-base %s\n", staging)
	for _, r := range mod.Require {
		if r.Path == "go.etcd.io/etcd/client/v3" {
			fmt.Fprintf(&b, "require go.etcd.io/etcd/server/v3 %s\n", r.Version)
		}
	}
	for _, r := range mod.Replace {
		if strings.HasPrefix(r.New.Path, "./staging/") {
			fmt.Fprintf(&b, "replace %s => %s %s\n", r.Old.Path, r.Old.Path, staging)
		}
	}
	return b.String(), nil
}
