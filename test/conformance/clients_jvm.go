package conformance

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// jvmClients are Netflix' client and those built on it. They read JSON and deltas.
func jvmClients() []*Client {
	const (
		spring = "Spring Cloud Netflix"
		main   = "dev.kureka.conformance.service.ServiceLane"
	)
	build := &mavenBuild{}
	boot27, boot35, boot40 := build.program("boot27", main), build.program("boot35", main), build.program("boot40", main)
	jersey := Lacks{Override: true}
	clients := []*Client{
		{Name: spring, Version: "3.1.8", Variant: "RestTemplate", Program: boot27, Kind: "resttemplate"},
		{Name: spring, Version: "3.1.8", Variant: "WebClient", Program: boot27, Kind: "webclient", Lacks: Lacks{Stop: true}, Notes: []string{
			"When its application stops it says that it is DOWN, but often cannot deregister: Spring has taken WebClient's threads away by then. The instance stays listed as DOWN until its pod is gone or its lease has ended.",
		}},
		{Name: spring, Version: "4.3.0", Variant: "RestTemplate", Program: boot35, Kind: "resttemplate"},
		{Name: spring, Version: "4.3.0", Variant: "RestClient", Program: boot35, Kind: "restclient"},
		{Name: spring, Version: "5.0.3", Variant: "RestClient", Program: boot40, Kind: "restclient"},
		{Name: spring, Version: "5.0.3", Variant: "WebClient", Program: boot40, Kind: "webclient"},
		{
			Name: "Netflix eureka-client", Version: "1.10.18", Variant: "Jersey 1", Kind: "jersey1", Lacks: jersey,
			Program: build.program("jersey1", "dev.kureka.conformance.NetflixLane"),
		},
		{
			Name: "Netflix eureka-client", Version: "2.0.6", Variant: "Jersey 3", Kind: "jersey3", Lacks: jersey,
			Program: build.program("jersey3", "dev.kureka.conformance.NetflixLane"),
		},
		{
			Name: "Spring Cloud Gateway", Version: "5.0.4", Kind: "gateway", Does: Does{Route: true},
			Program: build.program("gateway", "dev.kureka.conformance.gateway.GatewayLane"),
		},
		{
			Name: "Spring Boot Admin", Version: "3.5.6", Kind: "admin", Does: Does{Watch: true},
			Program: build.program("admin", "dev.kureka.conformance.admin.AdminLane"),
		},
	}
	for _, c := range clients {
		c.Family, c.Delta, c.Does.Reconcile = "JVM", true, true
		c.Does.Actuator = !c.Lacks.Override
	}
	return clients
}

// mavenBuild is one build of all lanes in jvm/, made when the first is needed.
type mavenBuild struct {
	once sync.Once
	dir  string
	err  error
}

// program is one module of the build. It is compiled, but not packaged: its class
// path leads into the local repository.
func (b *mavenBuild) program(module, main string) *Program {
	return &Program{
		Name: module,
		Prepare: func(ctx context.Context, shop *Workshop, progress io.Writer) ([]string, error) {
			b.once.Do(func() { b.dir, b.err = buildLanes(ctx, shop, progress) })
			if b.err != nil {
				return nil, b.err
			}
			classpath, err := os.ReadFile(filepath.Join(b.dir, module, "classpath"))
			if err != nil {
				return nil, fmt.Errorf("reading the class path of %s: %w", module, err)
			}
			// Small heaps and the quick compiler only, because a dozen of these share
			// the machine and none lives long.
			return []string{
				"java", "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8",
				"-cp", filepath.Join(b.dir, module, "classes") + ":" + string(classpath), main,
			}, nil
		},
	}
}

// JavaProgram prepares an application of jvm/ that is no lane, and returns its
// command line.
func JavaProgram(ctx context.Context, shop *Workshop, progress io.Writer, module, main string) ([]string, error) {
	return new(mavenBuild).program(module, main).Prepare(ctx, shop, progress)
}

func buildLanes(ctx context.Context, shop *Workshop, progress io.Writer) (string, error) {
	const folder = "jvm"
	var files []string
	err := fs.WalkDir(os.DirFS(shop.Source), folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("listing the sources of the JVM lanes: %w", err)
	}
	return shop.Once(ctx, folder, files, func(ctx context.Context, dir string) error {
		return shop.Run(ctx, progress, "building the JVM lanes (downloads their libraries, once)", dir,
			"mvn", "--batch-mode", "--no-transfer-progress", "--quiet",
			"--file", filepath.Join(shop.Source, folder, "pom.xml"),
			"-Dmaven.repo.local="+filepath.Join(filepath.Dir(shop.Cache), "maven"), "-Dlanes.build="+dir, "process-classes")
	})
}
