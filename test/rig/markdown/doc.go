// Package markdown reads the documents of this repository for the tests that hold
// them to what they say. It knows as much of Markdown as they use, and must not
// import anything of the product.
//
// A comment before a fenced block says what a test does with it, and no reader sees
// it: `<!-- run -->` that its commands are run, `<!-- build -->` that they are run
// before, where there is a network, and `<!-- file NAME -->` that it is the content
// of a file.
package markdown
