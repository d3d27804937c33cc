package conformance

import (
	"context"
	"io"
	"path/filepath"
)

// pythonClients read XML and write JSON. Their interval for fetching is that of
// their heartbeats.
func pythonClients() []*Client {
	return []*Client{
		{Name: "py-eureka-client", Version: "0.13.3", Family: familyPython, Program: pythonProgram("0.13"), Delta: true, Sees: seesElementNames},
		{Name: "py-eureka-client", Version: "0.11.13", Family: familyPython, Program: pythonProgram("0.11"), Delta: true, Sees: seesElementNames},
	}
}

// pythonProgram is a virtual environment for one generation of the client.
func pythonProgram(generation string) *Program {
	name := "python-" + generation
	requirements := "clients/python/requirements-" + generation + ".txt"
	return &Program{
		Name: name,
		Prepare: func(ctx context.Context, shop *Workshop, progress io.Writer) ([]string, error) {
			dir, err := shop.Once(ctx, name, []string{requirements}, func(ctx context.Context, dir string) error {
				if err := shop.Run(ctx, progress, "creating the environment of "+name, dir, "python3", "-m", "venv", dir); err != nil {
					return err
				}
				return shop.Run(ctx, progress, "installing "+name, dir, filepath.Join(dir, "bin", "python"), "-m", "pip", "install",
					"--quiet", "--disable-pip-version-check", "--no-deps", "--requirement", filepath.Join(shop.Source, requirements))
			})
			return []string{filepath.Join(dir, "bin", "python"), filepath.Join(shop.Source, "clients", "python", "lane.py")}, err
		},
	}
}
