// Package browser opens the dashboard in a real browser, headless Chromium, beside a
// registry of ten thousand instances and a cluster that is played to it. It is a
// module of its own, so that the product does not depend on what drives a browser.
package browser
