package main

import (
	"encoding/json"
	"io/fs"
)

// nodeOS and nodeCPU are the names that Node.js has for operating systems and
// architectures, where they differ from those of Go.
var (
	nodeOS  = map[string]string{"windows": "win32"}
	nodeCPU = map[string]string{"amd64": "x64"}
)

// node returns the names of a platform in Node.js.
func (p platform) node() (os, cpu string) {
	os, cpu = p.os, p.arch
	if name := nodeOS[os]; name != "" {
		os = name
	}
	if name := nodeCPU[cpu]; name != "" {
		cpu = name
	}
	return os, cpu
}

// addNodeExecutable adds the npm package of a platform, which has nothing but the
// executable. npm installs it only on that platform.
func (d *dist) addNodeExecutable(p platform, program []byte) {
	os, cpu := p.node()
	version := d.number()
	d.addNodePackage("kubefake-"+os+"-"+cpu+"-"+version, map[string]any{
		"name": "@kubefake/" + os + "-" + cpu, "version": version, "license": "Apache-2.0",
		"description": "The executable of kubefake for " + p.String(),
		"os":          []string{os}, "cpu": []string{cpu}, "preferUnplugged": true,
	}, entry{"package/bin/" + p.executable("fakeapi"), 0o755, program})
}

// addNodePackage adds a tarball as "npm pack" writes it. A package with a provenance needs
// the repository.
func (d *dist) addNodePackage(name string, manifest map[string]any, entries ...entry) {
	manifest["repository"] = map[string]any{"type": "git", "url": "git+https://github.com/kubefake/kubefake.git"}
	text, err := json.MarshalIndent(manifest, "", "  ")
	must(err)
	d.files[name+".tgz"] = tarGzip(d.time, append([]entry{{"package/package.json", 0o644, append(text, '\n')}}, entries...))
}

// addNodeLibrary adds the npm package of clients/javascript. The packages of the
// platforms are its optional dependencies.
func (d *dist) addNodeLibrary() error {
	const root = "clients/javascript"
	text, err := fs.ReadFile(d.source, root+"/package.json")
	if err != nil {
		return err
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return err
	}
	version := d.number()
	executables := map[string]string{}
	for _, p := range platforms {
		os, cpu := p.node()
		executables["@kubefake/"+os+"-"+cpu] = version
	}
	manifest["version"], manifest["optionalDependencies"] = version, executables
	delete(manifest, "scripts")
	entries, err := d.sourceFiles(root, "README.md", "src/*.js", "src/*.d.ts")
	if err != nil {
		return err
	}
	license, err := fs.ReadFile(d.source, "LICENSE")
	if err != nil {
		return err
	}
	entries = append(entries, entry{"LICENSE", 0o644, license})
	for i := range entries {
		entries[i].name = "package/" + entries[i].name
	}
	d.addNodePackage("kubefake-"+version, manifest, entries...)
	return nil
}
