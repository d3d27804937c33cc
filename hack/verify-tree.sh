#!/bin/sh
# Runs a command and fails, showing the difference, when it changes, adds or
# removes a file that git does not ignore. What was not committed before stays
# out of the comparison. Usage: hack/verify-tree.sh command [argument...]
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# tree prints the id of the working folder as it is, untracked files included,
# without touching the index.
tree() {
	cp "$(git rev-parse --git-path index)" "$scratch/index" 2>/dev/null || :
	GIT_INDEX_FILE=$scratch/index git add -A
	GIT_INDEX_FILE=$scratch/index git write-tree
}

before=$(tree)
"$@"
after=$(tree)

if [ "$before" != "$after" ]; then
	git --no-pager diff --stat -p "$before" "$after"
	echo "verify: files differ after: $*" >&2
	echo "verify: run it and commit the result" >&2
	exit 1
fi

loose=$(git status --porcelain --untracked-files=all | wc -l)
[ "$loose" -eq 0 ] || echo "note: $((loose)) files are not committed yet"
