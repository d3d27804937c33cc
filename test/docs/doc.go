// Package docs holds the documents to what there is: every path, link, anchor, make
// target, flag, chart value, field of a custom resource and metric that they name
// exists. What they name is compared with pages that are generated from the code.
// The changelog and the decision records tell of the past and are left alone. Below
// it, commands runs what the documents tell readers to run.
package docs
