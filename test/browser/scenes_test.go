package browser

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/kureka/kureka/internal/registry"
)

// many is how many are listed after the death that every fleet sees.
const many = 10_000

// The listed rows as the page shows them.
const rowCount = `document.querySelectorAll('#list tbody tr').length`

func (s *site) page(m member) string {
	return s.url + "/kureka/ui/instance?" + url.Values{"app": {m.key.App}, "id": {m.key.ID}}.Encode()
}

func TestTenThousandInstancesOpenAndASearchNarrowsThem(t *testing.T) {
	s := newSite(t)
	s.populate(t, many+1)
	s.hurt()
	b := open(t)
	b.visit(s.url)
	t.Logf("the registry of %d instances by application: %s", many, b.timing())
	b.picture("light")
	b.visit(s.url + "/?view=instances")
	t.Logf("the registry of %d instances, the first 200: %s", many, b.timing())
	b.picture("instances")
	if got := value[int](b, rowCount); got != 200 {
		t.Errorf("%d rows on the first page", got)
	}
	asked := time.Now()
	b.do(chromedp.SendKeys(chromedp.CSS("#search"), "payments-api"))
	b.until(`location.search.includes('q=payments-api') && [...document.querySelectorAll('#list tbody tr td:nth-child(2)')].every((cell) => cell.textContent === 'PAYMENTS-API') && ` + rowCount + ` > 0`)
	t.Logf("a search among %d instances, from the first key: %v", many, time.Since(asked).Round(time.Millisecond))
	b.do(chromedp.KeyEvent("\x1b"))
	b.until(rowCount + ` === 200`)
	b.quiet()
}

// timing tells how long the page took from the request to the end of its loading.
func (b *tab) timing() string {
	b.t.Helper()
	b.until(`performance.getEntriesByType('navigation')[0].loadEventEnd > 0`)
	ms := value[[]float64](b, `(() => { const n = performance.getEntriesByType('navigation')[0]; return [n.responseEnd, n.domContentLoadedEventEnd, n.loadEventEnd] })()`)
	return fmt.Sprintf("received after %.0f ms, readable after %.0f ms, loaded after %.0f ms", ms[0], ms[1], ms[2])
}

func TestAnInstancePageExplainsAnEndingPodAndADeadOne(t *testing.T) {
	s := newSite(t)
	s.populate(t, 400)
	dead := s.hurt()
	ending := s.one(t, registry.OutOfService, "PodDeleting")
	b := open(t)
	b.visit(s.page(ending))
	said := value[string](b, `document.querySelector('#content').innerText`)
	for _, want := range []string{"OUT_OF_SERVICE", "PodDeleting", ending.pod.Name, ending.pod.Node, "taken-out", "Evidence", "fires"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page of an ending pod does not say %q", want)
		}
	}
	b.picture("instance")
	s.cluster.PodGone(time.Now(), ending.pod.UID)
	b.until(`document.querySelector('#content').innerText.includes('Not registered') && document.querySelector('#checks') === null`)
	b.visit(s.page(dead))
	said = value[string](b, `document.querySelector('#content').innerText`)
	for _, want := range []string{"Not registered", "Pod gone", "removed", "PodGone", dead.pod.Name} {
		if !strings.Contains(said, want) {
			t.Errorf("the page of a dead pod does not say %q:\n%s", want, said)
		}
	}
	b.picture("dead")
}

// one returns an instance with the status for the reason.
func (s *site) one(t *testing.T, status registry.Status, reason string) member {
	t.Helper()
	for _, m := range s.fleet {
		if i := s.engine.Snapshot().Get(m.key); i != nil && i.Status == status && i.Verdict.Reason == reason {
			return m
		}
	}
	t.Fatalf("no instance is %v for %s", status, reason)
	return member{}
}

func TestAChangeAppearsWithoutAReload(t *testing.T) {
	s := newSite(t)
	s.populate(t, 60)
	b := open(t)
	b.visit(s.url + "/?view=instances")
	b.until(`document.getElementById('live-text').textContent === 'Live'`)
	value[bool](b, `window.kept = true`)
	var m member
	for _, m = range s.fleet {
		if m.pod.UID != "" && m.pod.Namespace != watched {
			break
		}
	}
	began := time.Now()
	m.pod.Deleting = true
	s.cluster.ObservePod(began, m.pod)
	b.until(fmt.Sprintf(`[...document.querySelectorAll('#list tr.changed')].some((row) => row.textContent.includes(%q) && row.textContent.includes('OUT_OF_SERVICE'))`, m.key.ID))
	t.Logf("a change was shown after %v", time.Since(began).Round(time.Millisecond))
	s.cluster.PodGone(time.Now(), m.pod.UID)
	b.until(fmt.Sprintf(`!document.getElementById('list').textContent.includes(%q) && document.getElementById('left').textContent.includes(%q)`, m.key.ID, m.key.ID))
	if !value[bool](b, `window.kept === true`) {
		t.Error("the page was loaded anew")
	}
	b.quiet()
}

func TestHostileNamesStayText(t *testing.T) {
	s := newSite(t)
	now := time.Now()
	hostile := []string{
		`"><img src=x onerror=alert(1)>`, `</script><script>document.title='owned'</script>`, `javascript:alert(1)`, `{{.}} ${alert(1)}`, "../../apps", "..", "\u202egnp.x",
		`' onmouseover='alert(1)`, `&lt;b&gt;`, `<svg/onload=alert(1)>`, strings.Repeat("w", 900),
	}
	for n, name := range hostile {
		rec := record("x", name, netip.AddrFrom4([4]byte{192, 0, 2, byte(n + 1)}))
		rec.App, rec.VIP, rec.HostName = strings.ToUpper(name), name, name
		rec.HomePageURL, rec.StatusPageURL, rec.HealthCheckURL = "javascript:document.title='owned'", "data:text/html,<script>alert(1)</script>", name
		rec.Metadata = []registry.Pair{{Key: name, Value: name}}
		s.cluster.Register(now, netip.Addr{}, rec)
	}
	b := open(t)
	for _, address := range []string{"/", "/?view=instances", "/kureka/ui/lastn", "/?q=" + url.QueryEscape(hostile[0]), "/?namespace=" + url.QueryEscape(hostile[0]) + "&reason=" + url.QueryEscape(hostile[1])} {
		b.visit(s.url + address)
		b.harmless(address)
	}
	for _, name := range hostile {
		b.visit(s.page(member{key: registry.NewKey(name, name)}))
		b.harmless(name)
		if got := value[string](b, `document.querySelector('h1').textContent`); got != name {
			t.Errorf("the page of %q is that of %q", name, got)
		}
	}
	b.quiet()
}

// harmless fails if a name has become markup, script or a link that is not of the web.
func (b *tab) harmless(where string) {
	b.t.Helper()
	found := value[[]string](b, `[...document.querySelectorAll('main img, main script, main iframe, main [onerror], main [onmouseover], main [onload]'),
		...[...document.querySelectorAll('main a')].filter((a) => !/^https?:$/.test(a.protocol))].map((e) => e.outerHTML)`)
	if title := value[string](b, `document.title`); len(found) > 0 || title == "owned" {
		b.t.Errorf("%s: %v, title %q", where, found, title)
	}
	if wide := value[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
		b.t.Errorf("%s: the page is %d pixels wider than the window", where, wide)
	}
}

func TestTheKeyboardReachesEverything(t *testing.T) {
	s := newSite(t)
	s.populate(t, 30)
	b := open(t)
	b.visit(s.url)
	b.do(chromedp.KeyEvent("\t"))
	if got := value[string](b, `document.activeElement.className`); got != "skip" {
		t.Errorf("the first stop is %q, want the link to the content", got)
	}
	b.do(chromedp.KeyEvent("\r"))
	b.until(`document.activeElement.id === 'content'`)
	b.do(chromedp.KeyEvent("/"))
	b.until(`document.activeElement.id === 'search'`)
	b.do(chromedp.KeyEvent("nothing like it"))
	b.until(`document.getElementById('list').textContent.includes('No instance matches')`)
	b.do(chromedp.KeyEvent("\x1b"))
	b.until(`!document.getElementById('list').textContent.includes('No instance matches') && document.activeElement.id === 'search'`)
	b.quiet()
}

func TestWithoutJavaScriptEverythingIsReadable(t *testing.T) {
	s := newSite(t)
	s.populate(t, 500)
	s.hurt()
	b := open(t)
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.visit(s.url + "/?view=instances")
	text := func() string {
		said, err := chromedp.Run(b.ctx, chromedp.Text(chromedp.CSS("body")))
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	for _, want := range []string{"499 instances", "Page 1 of 3", "OUT_OF_SERVICE", "Self-preservation by namespace"} {
		if !strings.Contains(text(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(text(), "Live") {
		t.Error("the page claims to be live")
	}
	b.do(chromedp.Click(chromedp.CSS("a[rel=next]")), chromedp.WaitVisible(chromedp.CSS("a[rel=prev]")))
	if !strings.Contains(text(), "Page 2 of 3") {
		t.Error("the next page is not the second")
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#search"), "orders-api\r"), chromedp.WaitReady(chromedp.CSS("#content")))
	b.do(chromedp.WaitVisible(chromedp.CSS(`#search[value="orders-api"]`)))
	if !strings.Contains(text(), "instances match") {
		t.Error("the search does not narrow")
	}
}

func TestDarkAndSmallScreens(t *testing.T) {
	s := newSite(t)
	s.populate(t, many+1)
	s.hurt()
	b := open(t)
	b.prefer("dark")
	b.visit(s.url)
	if got := value[string](b, `getComputedStyle(document.body).backgroundColor`); got != "rgb(14, 19, 24)" {
		t.Errorf("a dark page has the background %s", got)
	}
	b.picture("dark")
	b.prefer("light")
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	for _, address := range []string{"/", "/?view=instances", s.page(s.one(t, registry.OutOfService, "PodDeleting"))[len(s.url):], "/kureka/ui/changes", "/kureka/ui/cluster", "/kureka/ui/consumers", "/kureka/ui/observe", "/kureka/ui/lastn"} {
		b.visit(s.url + address)
		b.harmless(address)
		b.picture("small" + strings.NewReplacer("/", "-", "?", "-").Replace(strings.SplitN(address, "?app", 2)[0]))
	}
	b.quiet()
}

func TestSelfPreservationIsTheFirstThingToSee(t *testing.T) {
	s := newSite(t)
	s.populate(t, 300)
	for n := range 20 {
		rec := record("silent", fmt.Sprintf("silent-%02d", n), netip.AddrFrom4([4]byte{203, 0, 113, byte(n + 1)}))
		rec.RenewalInterval = time.Second
		s.cluster.Register(time.Now(), netip.Addr{}, rec)
	}
	b := open(t)
	b.visit(s.url)
	b.until(`document.querySelector('#alerts .bad h2')?.textContent.includes('Emergency')`)
	b.picture("emergency")
	if said := value[string](b, `document.querySelector('#alerts').textContent`); !strings.Contains(said, "outside pods") {
		t.Errorf("the warning does not name what is held: %s", said)
	}
	b.quiet()
}
