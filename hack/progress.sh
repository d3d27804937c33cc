#!/bin/sh
# Runs a command and says every 15 seconds that it is still at work, so that no
# step looks stuck. Usage: hack/progress.sh "what it does" command [argument...]
set -u

what=$1
shift
start=$(date +%s)

echo "--> $what"
# The ticker ends with this script however that ends, and the sleep holds no
# file of the caller's open.
(
	while sleep 15 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
		echo "    still $what, $(($(date +%s) - start)) s"
	done
) &
ticker=$!

"$@"
status=$?
kill "$ticker" 2>/dev/null
exit "$status"
