#!/bin/sh
# Runs every fuzz target of the module for a while, one after the other, because
# the go command fuzzes one target at a time. Inputs that reach something new are
# shortened for two seconds at most: the default of a minute each leaves little time
# for anything else. Usage: hack/fuzz.sh 30s
set -eu

duration=${1:-30s}
count=0
for file in $(grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' internal); do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "--> $target in $(dirname "$file") for $duration"
		go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$duration" -fuzzminimizetime 2s
		count=$((count + 1))
	done
done
echo "fuzzed $count targets for $duration each"
[ "$count" -gt 0 ]
