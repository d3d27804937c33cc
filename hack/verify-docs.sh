#!/bin/sh
# Fails when a document names a file or folder of this repository that does not
# exist. The changelog and the decision records tell of the past and may.
set -eu

folders='api|charts|cmd|config|controllers|docs|hack|internal|test'

# named prints the relative links of a document, seen from its folder, and the
# paths it sets in code style, seen from the top.
named() {
	grep -oE '\]\([^)#:[:space:]]+' "$1" | sed "s|^](|$(dirname "$1")/|" || :
	grep -oE "\`($folders)/[A-Za-z0-9_./-]*\`" "$1" | tr -d '`' || :
}

missing=0
for document in $(git ls-files --cached --others --exclude-standard '*.md'); do
	case $document in CHANGELOG.md | docs/adr/0*) continue ;; esac
	for path in $(named "$document" | sort -u); do
		[ -e "$path" ] || {
			echo "$document: names $path, which does not exist" >&2
			missing=1
		}
	done
done
exit "$missing"
