// Command chart writes what of the Helm chart is generated, from the top of the
// repository:
//
//	charts/kureka/README.md             from values.yaml and its comments
//	charts/kureka/files/crds            from config/crd/bases
//	charts/kureka/templates/_rules.tpl  from config/rbac/role.yaml
//	docs/rbac.md                        from config/rbac/role.yaml and the reasons here
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	chart    = "charts/kureka"
	roleFile = "config/rbac/role.yaml"
	crdDir   = "config/crd/bases"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

// run writes everything below root.
func run(root string) error {
	rules, err := readRules(filepath.Join(root, roleFile))
	if err != nil {
		return err
	}
	if err := explained(rules, permissions()); err != nil {
		return err
	}
	values, err := os.ReadFile(filepath.Join(root, chart, "values.yaml"))
	if err != nil {
		return fmt.Errorf("reading the values: %w", err)
	}
	readme, err := readmeOf(values)
	if err != nil {
		return err
	}
	return errors.Join(
		write(filepath.Join(root, chart, "README.md"), readme),
		write(filepath.Join(root, chart, "templates", "_rules.tpl"), templates(rules)),
		write(filepath.Join(root, "docs", "rbac.md"), document(permissions())),
		copyFiles(filepath.Join(root, chart, "files", "crds"), filepath.Join(root, crdDir)),
	)
}

func write(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // everybody may read it
		return fmt.Errorf("writing what is generated: %w", err)
	}
	return nil
}

// copyFiles makes a folder hold the files of another one and no others.
func copyFiles(to, from string) error {
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("removing old copies: %w", err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	return nil
}
