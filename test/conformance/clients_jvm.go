package conformance

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// jvmClients are Netflix' client and those built on it. They read JSON and deltas.
func jvmClients() []*Client {
	build := &mavenBuild{}
	const netflix = "dev.kureka.conformance.NetflixLane"
	own := []*Client{
		{Version: "1.10.18", Variant: "Jersey 1", Kind: "jersey1", Program: build.program("jersey1", netflix)},
		{Version: "2.0.6", Variant: "Jersey 3", Kind: "jersey3", Program: build.program("jersey3", netflix)},
	}
	for _, c := range own {
		c.Name, c.Delta, c.Lacks.Override = "Netflix eureka-client", true, true
	}
	clients := slices.Concat(springClients(build), own)
	for _, c := range clients {
		c.Family, c.Does.Reconcile, c.Does.Actuator = familyJVM, true, !c.Lacks.Override
	}
	return clients
}

func springClients(build *mavenBuild) []*Client {
	const service = "dev.kureka.conformance.service.ServiceLane"
	boot27, boot35, boot40 := build.program("boot27", service), build.program("boot35", service), build.program("boot40", service)
	clients := []*Client{
		{Version: "3.1.8", Variant: "RestTemplate", Program: boot27, Kind: "resttemplate", Delta: true},
		{Version: "3.1.8", Variant: "WebClient", Program: boot27, Kind: "webclient", Delta: true, Lacks: Lacks{Stop: true}, Notes: []string{
			"When its application stops it says that it is DOWN, but often cannot deregister: Spring has taken WebClient's threads away by then. The instance stays listed as DOWN until its pod is gone or its lease has ended.",
			webClientLimit("spring.codec.max-in-memory-size"),
		}},
		{Version: "4.3.0", Variant: "RestTemplate", Program: boot35, Kind: "resttemplate", Delta: true},
		{Version: "4.3.0", Variant: "RestClient", Program: boot35, Kind: "restclient", Delta: true},
		{Version: "5.0.3", Variant: "RestClient", Program: boot40, Kind: "restclient", Delta: true},
		{Version: "5.0.3", Variant: "RestClient without deltas", Program: boot40, Kind: "restclient"},
		{Version: "5.0.3", Variant: "WebClient", Program: boot40, Kind: "webclient", Delta: true, Notes: []string{
			webClientLimit("spring.http.codecs.max-in-memory-size"),
		}},
		{
			Name: "Spring Cloud Gateway", Version: "5.0.4", Kind: "gateway", Delta: true, Does: Does{Route: true},
			Program: build.program("gateway", "dev.kureka.conformance.gateway.GatewayLane"),
			Notes: []string{
				"Its load balancer uses a list for another 35 s after the client has fetched a newer one, unless spring.cloud.loadbalancer.cache.ttl says otherwise; the lane sets it to the fetch interval.",
			},
		},
		{
			Name: "Spring Boot Admin", Version: "3.5.6", Kind: "admin", Delta: true, Does: Does{Watch: true},
			Program: build.program("admin", "dev.kureka.conformance.admin.AdminLane"),
			Notes:   []string{"It needs the healthCheckUrl of an instance to watch it. Spring's clients register one, many others do not."},
		},
	}
	for _, c := range clients {
		if c.Name == "" {
			c.Name = "Spring Cloud Netflix"
		}
	}
	return clients
}

// webClientLimit is what was seen with 500 instances, which are 354 KiB.
func webClientLimit(property string) string {
	return "WebClient reads no more than 256 KiB, a few hundred instances, and fails every fetch of more. Set " + property + " to 10MB or more."
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
	files, err := shop.filesIn(folder)
	if err != nil {
		return "", err
	}
	return shop.Once(ctx, folder, files, func(ctx context.Context, dir string) error {
		return shop.Run(ctx, progress, "building the JVM lanes (downloads their libraries, once)", dir,
			shop.maven(folder, "-Dlanes.build="+dir, "process-classes")...)
	})
}

// ReferenceServer builds the Eureka server of Spring Cloud that the oracle compares
// with, and returns its jar.
func ReferenceServer(ctx context.Context, shop *Workshop, progress io.Writer) (jar string, err error) {
	const folder = "oracle/reference"
	files, err := shop.filesIn(folder)
	if err != nil {
		return "", err
	}
	dir, err := shop.Once(ctx, "reference", files, func(ctx context.Context, dir string) error {
		return shop.Run(ctx, progress, "building the reference server (downloads it, once)", dir,
			shop.maven(folder, "-Dbuild.folder="+dir, "package")...)
	})
	return filepath.Join(dir, "reference.jar"), err
}

// maven is the command line that builds the project in a folder of the checkout.
func (w *Workshop) maven(folder string, args ...string) []string {
	return append([]string{
		"mvn", "--batch-mode", "--no-transfer-progress", "--quiet",
		"--file", filepath.Join(w.Source, folder, "pom.xml"),
		"-Dmaven.repo.local=" + filepath.Join(filepath.Dir(w.Cache), "maven"),
	}, args...)
}

// filesIn lists the files in a folder of the checkout and in those below it.
func (w *Workshop) filesIn(folder string) (files []string, err error) {
	err = fs.WalkDir(os.DirFS(w.Source), folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing the files in %s: %w", folder, err)
	}
	return files, nil
}
