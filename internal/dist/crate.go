package main

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// crateLimit is the size of the largest crate that crates.io takes.
const crateLimit = 10 << 20

// crateParts is the number of crates that an executable is cut into, because one would
// be larger than crateLimit.
const crateParts = 2

// rustOS and rustArch are the names that Rust has for operating systems and
// architectures, where they differ from those of Go.
var (
	rustOS   = map[string]string{"darwin": "macos"}
	rustArch = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}
)

// rust returns the names of a platform in Rust.
func (p platform) rust() (os, arch string) {
	os, arch = p.os, rustArch[p.arch]
	if name := rustOS[os]; name != "" {
		os = name
	}
	return os, arch
}

// crate returns the name of the crate with a part of the executable of a platform.
func (p platform) crate(part int) string {
	os, arch := p.rust()
	return fmt.Sprintf("kubefake-%s-%s-%d", os, arch, part+1)
}

// addCrateExecutables adds the crates of a platform, which have nothing but a part of
// the executable.
func (d *dist) addCrateExecutables(p platform, program []byte) error {
	for part := range crateParts {
		from, to := len(program)*part/crateParts, len(program)*(part+1)/crateParts
		manifest := fmt.Sprintf(`[package]
name = %q
version = %q
edition = "2021"
description = "A part of the executable of kubefake for %s"
license = "Apache-2.0"
repository = "https://github.com/kubefake/kubefake"
`, p.crate(part), d.number(), p)
		const library = `#![no_std]
//! A part of the executable that the crate kubefake carries.

/// The part.
pub const PART: &[u8] = include_bytes!("part");
`
		err := d.addCrate(p.crate(part), manifest, entry{"src/lib.rs", 0o644, []byte(library)}, entry{"src/part", 0o644, program[from:to]})
		if err != nil {
			return err
		}
	}
	return nil
}

// addCrate adds a crate. It fails if crates.io does not take it.
func (d *dist) addCrate(name, manifest string, entries ...entry) error {
	root := name + "-" + d.number()
	all := []entry{{root + "/Cargo.toml", 0o644, []byte(manifest)}}
	for _, e := range entries {
		all = append(all, entry{root + "/" + e.name, e.mode, e.data})
	}
	crate := tarGzip(d.time, all)
	if len(crate) > crateLimit {
		return fmt.Errorf("the crate %s has %d bytes, and crates.io takes %d", name, len(crate), crateLimit)
	}
	d.files[root+".crate"] = crate
	return nil
}

// addCrateLibraries adds the crates of clients/rust. With the feature embed, kubefake
// depends on the crates with the executable of the platform that it is built for.
func (d *dist) addCrateLibraries() error {
	const root = "clients/rust"
	license, err := fs.ReadFile(d.source, "LICENSE")
	if err != nil {
		return err
	}
	for name, dir := range map[string]string{"kubefake": root, "kubefake-macros": root + "/macros"} {
		text, err := fs.ReadFile(d.source, dir+"/Cargo.toml")
		if err != nil {
			return err
		}
		patterns := []string{"src/*.rs"}
		manifest := d.crateManifest(string(text))
		if name == "kubefake" {
			patterns = append(patterns, "README.md")
			manifest = strings.Replace(manifest, "\nembed = []\n", "\nembed = ["+strings.Join(dependencies(`"dep:%s"`), ", ")+"]\n", 1)
			manifest += d.targetDependencies()
		}
		entries, err := d.sourceFiles(dir, patterns...)
		if err != nil {
			return err
		}
		for i, e := range entries {
			if e.name == "src/embedded.rs" {
				entries[i].data = []byte(embedded())
			}
		}
		if err := d.addCrate(name, manifest, append(entries, entry{"LICENSE", 0o644, license})...); err != nil {
			return err
		}
	}
	return nil
}

// tableHeader matches the header of a table, which may follow a comment.
var tableHeader = regexp.MustCompile(`(?m)^\[.*\]$`)

// crateManifest returns a Cargo.toml of the checkout as a release has it: with the
// version, and without what needs the checkout.
func (d *dist) crateManifest(text string) string {
	var out []string
	for _, section := range strings.Split(text, "\n\n") {
		switch tableHeader.FindString(section) {
		case "[dev-dependencies]", "[[test]]", "[profile.dev]", "[workspace]":
			continue
		}
		out = append(out, strings.TrimRight(section, "\n"))
	}
	manifest := strings.Join(out, "\n\n") + "\n"
	manifest = strings.Replace(manifest, "\nversion = \"0.0.1\"\n", "\nversion = \""+d.number()+"\"\n", 1)
	return strings.Replace(manifest, `{ version = "0.0.1", path = "macros" }`, `"=`+d.number()+`"`, 1)
}

// dependencies returns a text for each crate with a part of an executable.
func dependencies(format string) (out []string) {
	for _, p := range platforms {
		for part := range crateParts {
			out = append(out, fmt.Sprintf(format, p.crate(part)))
		}
	}
	return out
}

// condition returns the condition for a platform, as attributes of Rust have it.
func (p platform) condition() string {
	os, arch := p.rust()
	return fmt.Sprintf(`all(target_os = %q, target_arch = %q)`, os, arch)
}

// targetDependencies returns the tables of a Cargo.toml with the crates of each platform.
func (d *dist) targetDependencies() string {
	var b strings.Builder
	for _, p := range platforms {
		fmt.Fprintf(&b, "\n[target.'cfg(%s)'.dependencies]\n", p.condition())
		for part := range crateParts {
			fmt.Fprintf(&b, "%s = { version = \"=%s\", optional = true }\n", p.crate(part), d.number())
		}
	}
	return b.String()
}

// embedded returns the file embedded.rs of a release.
func embedded() string {
	b := &strings.Builder{}
	b.WriteString("//! The executable, in the crates of the platform.\n")
	var conditions []string
	for _, p := range platforms {
		var parts []string
		for part := range crateParts {
			parts = append(parts, strings.ReplaceAll(p.crate(part), "-", "_")+"::PART")
		}
		fmt.Fprintf(b, "\n#[cfg(%s)]\npub const PARTS: [&[u8]; %d] = [%s];\n", p.condition(), crateParts, strings.Join(parts, ", "))
		conditions = append(conditions, p.condition())
	}
	fmt.Fprintf(b, "\n#[cfg(not(any(%s)))]\ncompile_error!(\"the feature embed has no executable for this platform: FAKEAPI_BINARY names one without it\");\n", strings.Join(conditions, ", "))
	return b.String()
}
