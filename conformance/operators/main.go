// Operators runs the suites of public operators to find the roles that they need, and then again
// with the operator as a user who has these roles only:
//
//	go run ./operators                            # all of them
//	go run ./operators -sources DIR jobset kuberay@v1.7.0
//
// A suite runs with the drop-in for envtest, in which authorization by RBAC is on. The one change is
// that the manager impersonates the service account of the operator, and the tests do not: compile
// says how. In the first run the account is an administrator. What it asks becomes roles, which are
// all that it has in the second run. That run is the same if the same specs pass and no request of
// the account is refused.
//
// It prints what the account needs, what of it the roles in the repository do not grant, and what
// they grant that no spec asks for. docs/usage-of-operators.md explains these differences. It is no
// test, because suites take minutes and wait for clocks. -sources has a folder for each operator, which is
// cloned if it does not exist, and -keep a folder for logs, usages and roles.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/usage"
)

func main() {
	sources := flag.String("sources", "", "clone the repositories into the folder `DIR`, or find them there (default a temporary folder)")
	keep := flag.String("keep", "", "keep logs, usages and roles in the folder `DIR`")
	fakeapi := flag.String("fakeapi", "", "run the executable `FILE` (default that of this tree, which is built)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *sources, *keep, *fakeapi, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "operators:", err)
		os.Exit(1)
	}
}

// run runs the suites of the operators with the names, or of all.
func run(ctx context.Context, sources, keep, fakeapi string, names []string) error {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "operators-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if sources == "" {
		sources = filepath.Join(work, "sources")
	}
	if keep == "" {
		keep = filepath.Join(work, "keep")
	}
	for _, dir := range []*string{&sources, &keep} {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}
	assets, err := install(ctx, work, fakeapi)
	if err != nil {
		return err
	}
	failed := false
	for i := range chosen {
		o := &chosen[i]
		source := filepath.Join(sources, o.name)
		if err := o.clone(ctx, source); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		s := &suite{
			operator: o, folder: filepath.Join(source, o.module, o.suite), assets: assets,
			work: filepath.Join(keep, o.name), program: filepath.Join(work, o.name+".test"),
		}
		same, err := s.prove(ctx, filepath.Join(source, o.module))
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		failed = failed || !same
	}
	if failed {
		return fmt.Errorf("a second run was not the same")
	}
	return nil
}

// choose returns operators by their names, which may have a version: "kuberay@v1.7.0".
func choose(names []string) ([]operator, error) {
	if len(names) == 0 {
		return operators, nil
	}
	var out []operator
	for _, name := range names {
		name, version, _ := strings.Cut(name, "@")
		i := slices.IndexFunc(operators, func(o operator) bool { return o.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no operator %q", name)
		}
		o := operators[i]
		if version != "" {
			o.version = version
		}
		out = append(out, o)
	}
	return out, nil
}

// install returns a folder with the binaries for envtest. It builds fakeapi if that is "".
func install(ctx context.Context, work, fakeapi string) (string, error) {
	if fakeapi == "" {
		fakeapi = filepath.Join(work, "fakeapi")
		if err := command(ctx, "", "go", "build", "-o", fakeapi, "github.com/kubefake/kubefake/cmd/fakeapi").Run(); err != nil {
			return "", err
		}
	}
	line, err := command(ctx, "", fakeapi, "envtest", "env", "--dir", work).Output()
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(string(line), "'")
	assets, _, _ := strings.Cut(rest, "'")
	return assets, nil
}

// prove runs the suite twice, prints what differs, and reports whether the second run was the same.
func (s *suite) prove(ctx context.Context, module string) (bool, error) {
	if err := os.MkdirAll(s.work, 0o755); err != nil {
		return false, err
	}
	if err := s.compile(ctx); err != nil {
		return false, err
	}
	fmt.Printf("## %s %s\n\n", s.operator.name, s.operator.version)
	first, asked, err := s.count(ctx, "first", []usage.Role{{
		Name: "administrator", Rules: []usage.Rule{
			{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}},
			{NonResourceURLs: []string{"*"}, Verbs: []string{"*"}},
		},
	}})
	if err != nil {
		return false, err
	}
	found := asked.Roles("found")
	second, again, err := s.count(ctx, "second", found)
	if err != nil {
		return false, err
	}
	patterns := make([]string, len(s.operator.roles))
	for i, p := range s.operator.roles {
		patterns[i] = filepath.Join(module, p)
	}
	shipped, err := usage.ReadRoles(patterns...)
	if err != nil {
		return false, err
	}
	for i := range shipped {
		shipped[i].File = ""
	}
	requests, _ := totals(asked)
	requestsAgain, refused := totals(again)
	same := slices.Equal(first.failed, second.failed) && first.passed == second.passed && requestsAgain > 0 && refused == 0
	fmt.Printf("first run: %d passed, %d failed; %d requests\n", first.passed, len(first.failed), requests)
	fmt.Printf("second run: %d passed, %d failed; %d requests, %d of them refused\n", second.passed, len(second.failed), requestsAgain, refused)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(first.failed, second.failed)))) {
		fmt.Printf("  failed: %s (first run: %t, second run: %t)\n", name, slices.Contains(first.failed, name), slices.Contains(second.failed, name))
	}
	for _, r := range again.Requests {
		if r.Refused > 0 {
			fmt.Printf("  refused: %s, as in %s\n", r.Permission.String(), r.Example)
		}
	}
	fmt.Printf("permissions: %d found, %d shipped\n", permissions(found), permissions(shipped))
	comparison := asked.Compare(shipped)
	fmt.Println(comparison.Text())
	return same, nil
}

// count runs the suite with roles for the account, and returns what it has asked. The files of the
// run are those in s.work that begin with name.
func (s *suite) count(ctx context.Context, name string, roles []usage.Role) (*result, *usage.Usage, error) {
	objects := filepath.Join(s.work, name+".yaml")
	if err := writeGrants(objects, roles, s.operator.account); err != nil {
		return nil, nil, err
	}
	folder := filepath.Join(s.work, name)
	if err := os.RemoveAll(folder); err != nil {
		return nil, nil, err
	}
	ended, err := s.run(ctx, objects, folder)
	if err != nil {
		return nil, nil, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, nil, err
	}
	sum := &usage.Usage{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		one, err := usage.Read(f)
		f.Close()
		if err != nil {
			return nil, nil, err
		}
		sum.Add(one)
	}
	return ended, sum.Of(usage.Client{User: s.operator.account}), nil
}

// writeGrants writes roles and their bindings to a user.
func writeGrants(file string, roles []usage.Role, user string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := usage.WriteRoles(f, roles); err != nil {
		return err
	}
	for _, r := range roles {
		binding, err := json.Marshal(map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": r.Kind() + "Binding",
			"metadata": map[string]any{"name": r.Name, "namespace": r.Namespace},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": r.Kind(), "name": r.Name},
			"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}},
		})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(f, "---\n%s\n", binding); err != nil {
			return err
		}
	}
	return f.Close()
}

// totals returns how many requests there were, and how many of them were refused.
func totals(u *usage.Usage) (requests, refused int64) {
	for _, c := range u.Clients() {
		requests += c.Requests
		refused += c.Refused
	}
	return requests, refused
}

// permissions returns how many verbs roles grant, over all resources and paths.
func permissions(roles []usage.Role) (n int) {
	for _, role := range roles {
		for _, r := range role.Rules {
			n += len(r.Verbs) * (len(r.APIGroups)*len(r.Resources) + len(r.NonResourceURLs))
		}
	}
	return n
}
