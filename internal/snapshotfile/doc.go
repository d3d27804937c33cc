// Package snapshotfile keeps what the registry and its view of the cluster have
// to remember across restarts in one file. It owns the format of the file and
// that it is always whole: what Load returns is exactly what one Save was given.
//
// The file is one line of text and a gzip stream of JSON, a value a line:
//
//	kureka-snapshot 1.0 LENGTH SHA256
//	{"head":...}
//	{"instance":...}
//	...
//	{"end":{"lines":...}}
//
// so `tail -n +2 FILE | zcat` shows it. LENGTH and SHA256 are those of the packed
// stream. Within one major version names are added and none is changed or taken
// away; a reader skips lines and fields that it does not know. The version is that
// of the writer.
//
// It may import the checkpoint's types only. It must not decide what is
// remembered, when it is written, or what follows from a file that cannot be used.
package snapshotfile
