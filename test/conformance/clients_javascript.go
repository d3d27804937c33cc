package conformance

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// javaScriptClients are eureka-js-client and the fork of it that is maintained.
func javaScriptClients() []*Client {
	program := javaScriptProgram()
	libraries := []struct{ name, version string }{
		{"eureka-js-client", "4.5.0"},
		{"@rocketsoftware/eureka-js-client", "4.5.9"},
	}
	all := make([]*Client, 0, 2*len(libraries))
	for _, c := range libraries {
		for _, delta := range []bool{false, true} {
			client := &Client{
				Name: c.name, Version: c.version, Family: familyJavaScript, Program: program, Kind: c.name, Delta: delta,
				Lacks: Lacks{Status: true, Override: true},
			}
			if delta {
				client.Variant = "delta"
				client.Notes = []string{
					"With `shouldUseDelta` the client replaces and removes the wrong member of an application that has several, whatever the registry sends; `getInstancesByVipAddress` is right.",
				}
			}
			all = append(all, client)
		}
	}
	return all
}

func javaScriptProgram() *Program {
	const manifest, lock = "clients/js/package.json", "clients/js/package-lock.json"
	install := func(ctx context.Context, shop *Workshop, progress io.Writer) (string, error) {
		return shop.Once(ctx, "js", []string{manifest, lock}, func(ctx context.Context, dir string) error {
			for _, file := range []string{manifest, lock} {
				content, err := os.ReadFile(filepath.Join(shop.Source, file))
				if err := errors.Join(err, os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o600)); err != nil {
					return err
				}
			}
			return shop.Run(ctx, progress, "installing the JavaScript clients", dir, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
		})
	}
	return &Program{
		Name: "js",
		Prepare: func(ctx context.Context, shop *Workshop, progress io.Writer) ([]string, error) {
			dir, err := install(ctx, shop, progress)
			modules := "NODE_PATH=" + filepath.Join(dir, "node_modules")
			return []string{"env", modules, "node", filepath.Join(shop.Source, "clients", "js", "lane.js")}, err
		},
	}
}
