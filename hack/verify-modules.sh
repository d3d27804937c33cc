#!/bin/sh
# Fails when the go.mod or go.sum of a module of this repository is not tidy.
set -eu

status=0
for file in $(git ls-files --cached --others --exclude-standard '*go.mod'); do
	folder=$(dirname "$file")
	hack/progress.sh "checking the requirements of module $folder" go -C "$folder" mod tidy -diff || {
		echo "verify: run go mod tidy in $folder" >&2
		status=1
	}
done
exit "$status"
