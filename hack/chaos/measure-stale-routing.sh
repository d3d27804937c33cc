#!/usr/bin/env bash
# Measures for how long requests go to instances that are dead. It calls 50 times a
# second what a registry lists as UP, one after the other, with a list that it fetches
# as rarely as a client does, or one URL, such as a gateway's, and goes on until no
# request has failed for a while after somebody died.
#
# For each dead address the time is that from its death to the last request that was
# sent to it in vain; its death is what kill-instances.sh wrote into --kills, else its
# first failure. With --url, where nobody sees who answered, there is one time for
# each failed request: that from the last death before it, or from the first failure.
#
# The result is printed as "name value" lines: requests, failed, dead, p50_seconds,
# worst_seconds, limit_seconds. Needs bash 5, curl 7.75 or newer, awk and sort.
set -euo pipefail

readonly tick_ms=100

usage() {
	cat >&2 <<-'END'
		usage: measure-stale-routing.sh (--registry URL --app APP | --url URL) [option...]

		  --registry URL        of the Eureka API, such as http://kureka:8761/eureka
		  --app APP             whose instances are called
		  --url URL             called in their place; an answer from 500 on counts as a failure
		  --path PATH           called on every instance, / unless set
		  --fetch-interval N    seconds between two fetches of the list, 30 unless set, like clients
		  --rate N              requests a second, 50 unless set, at most 500
		  --timeout N           seconds after which a request has failed, 2 unless set, at most 10
		  --kills FILE          what kill-instances.sh prints; it may be written meanwhile
		  --settle N            ends when nothing failed for so long after a death: unless set, the
		                        fetch interval and 5 s
		  --duration N          ends after so many seconds at the latest, 300 unless set
		  --limit N             worst time in seconds that is fine, 60 unless set

		exit codes: 0 within the limit, 1 above it, or requests still failed at the end,
		2 nothing could be measured
	END
	exit 2
}

die() {
	echo "measure-stale-routing: $*" >&2
	exit 2
}

registry='' app='' url='' path=/ fetch=30 rate=50 timeout=2 kills='' settle='' duration=300 limit=60
while (($# > 0)); do
	(($# > 1)) || usage
	case $1 in
	--registry) registry=${2%/} ;;
	--app) app=$2 ;;
	--url) url=$2 ;;
	--path) path=$2 ;;
	--fetch-interval) fetch=$2 ;;
	--rate) rate=$2 ;;
	--timeout) timeout=$2 ;;
	--kills) kills=$2 ;;
	--settle) settle=$2 ;;
	--duration) duration=$2 ;;
	--limit) limit=$2 ;;
	*) usage ;;
	esac
	shift 2
done

# number NAME VALUE LEAST MOST fails unless the value is a number in that range.
number() {
	if ! [[ $2 =~ ^[0-9]{1,6}$ ]] || ((10#$2 < $3 || 10#$2 > $4)); then
		die "$1 is \"$2\": want a number from $3 to $4"
	fi
}

[[ ${EPOCHREALTIME-} ]] || die "bash is older than 5.0"
[[ $url || ($registry && $app) ]] || usage
[[ ! $url || ! $registry ]] || die "give either --registry or --url"
number --fetch-interval "$fetch" 1 3600
number --rate "$rate" 1 500
number --timeout "$timeout" 1 10
number --duration "$duration" 1 86400
number --limit "$limit" 0 86400
settle=${settle:-$((10#$fetch + 5))}
number --settle "$settle" 1 3600
[[ $path == /* && $path != *[\"\\]* && $url != *[\"\\]* ]] || die "a path begins with /, and neither it nor a URL has quotes"
command -v curl >/dev/null || die "there is no curl"

work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || :; rm -rf "$work"' EXIT
touch "$work/results" "$work/deaths"

# ms prints the time in milliseconds since 1970.
ms() {
	local t=${EPOCHREALTIME/[.,]/}
	echo "${t::-3}"
}

# instances reads a list in XML and prints the base URL of every instance that is UP.
instances() {
	awk '
		function inner(text, tag,    at, rest) {
			at = match(text, "<" tag "[ >]")
			if (at == 0) return ""
			rest = substr(text, at)
			rest = substr(rest, index(rest, ">") + 1)
			return substr(rest, 1, index(rest, "<") - 1)
		}
		{ text = text $0 }
		END {
			count = split(text, part, "</instance>")
			for (i = 1; i < count; i++) {
				if (inner(part[i], "status") != "UP") continue
				secure = part[i] ~ /<securePort enabled="true"/ && part[i] !~ /<port enabled="true"/
				address = inner(part[i], "ipAddr")
				if (address ~ /:/) address = "[" address "]"
				if (address != "") print (secure ? "https" : "http") "://" address ":" inner(part[i], secure ? "securePort" : "port")
			}
		}' "$1"
}

# fetch_list fetches what clients see now. If the registry does not answer, the list
# stays as it is, which is what clients do.
targets=()
fetch_list() {
	if [[ $url ]]; then
		targets=("$url")
		return
	fi
	# No Accept header of a client of JSON: the answer is XML.
	if curl -sSf --max-time "$timeout" -H 'Accept: application/xml' -o "$work/list" "$registry/apps/$app" 2>"$work/error"; then
		mapfile -t targets < <(instances "$work/list")
	else
		cat "$work/error" >&2
	fi
}

# send calls the next targets in one go and writes a line for each request.
next=0
send() {
	local count=$1 started config='' i target
	started=$(ms)
	for ((i = 0; i < count; i++)); do
		target=${targets[next++ % ${#targets[@]}]}
		[[ $url ]] || target+=$path
		config+="url = \"$target\""$'\n''output = "/dev/null"'$'\n'
	done
	curl -s --insecure --parallel --parallel-max 500 --max-time "$timeout" -w "$started %{exitcode} %{http_code} %{url}\n" \
		--config - <<<"$config" >>"$work/results" 2>/dev/null || : # each line says how it went
}

# deaths turns what was killed into lines of time and address. A time in UTC becomes
# milliseconds by days since 1970.
deaths() {
	[[ ! $kills || ! -s $kills ]] || awk -v begin="$begin" -F'"' '
		function value(name,    i) {
			for (i = 2; i < NF; i += 2) if ($i == name && $(i + 1) ~ /^:/) return $(i + 2)
			return ""
		}
		function days(y, m, d) {
			if (m <= 2) { y--; m += 12 }
			return 365 * y + int(y / 4) - int(y / 100) + int(y / 400) + int((153 * (m - 3) + 2) / 5) + d - 1 - 719468
		}
		{
			at = value("at"); ip = value("ip")
			if (at == "" || ip == "") next
			split(at, t, /[-T:Z]/)
			at = ((days(t[1], t[2], t[3]) * 24 + t[4]) * 60 + t[5]) * 60000 + t[6] * 1000
			if (at >= begin) printf "%.0f %s\n", at, ip # older ones are of an earlier run
		}' "$kills" >"$work/deaths"
}

# evaluate reads the deaths and the requests in the order in which they were sent, and
# prints the result; last is when the last one failed, in milliseconds, 0 if none did.
evaluate() {
	deaths
	sort -n "$work/results" | awk -v deaths="$work/deaths" -v url="$url" -v limit="$limit" '
		function host(target) {
			sub(/^[a-z]+:\/\//, "", target)
			sub(/[\/?].*$/, "", target)
			sub(/:[0-9]+$/, "", target)
			gsub(/[][]/, "", target)
			return target
		}
		function keep(name, took) {
			if (!(name in worst)) order[++count] = name
			if (took > worst[name]) worst[name] = took
		}
		BEGIN {
			while ((getline line < deaths) > 0) {
				split(line, d, " ")
				died[d[2]] = d[1]
				when[++killed] = d[1]
				if (!url) keep(d[2], 0)
			}
		}
		NF == 4 {
			requests++
			if ($2 == 0 && !(url && $3 >= 500)) next
			failed++
			last = $1
			name = url ? failed : host($4)
			if (!url && !(name in died)) died[name] = $1
			since = url ? (first ? first : $1) : died[name]
			if (!first) first = $1
			if (url) for (i = 1; i <= killed; i++) if (when[i] <= $1 && (when[i] > since || since == first)) since = when[i]
			keep(name, $1 - since)
		}
		END {
			for (i = 1; i <= count; i++) {
				took = worst[order[i]]
				for (j = i - 1; j > 0 && sorted[j] > took; j--) sorted[j + 1] = sorted[j]
				sorted[j + 1] = took
			}
			printf "requests %d\nfailed %d\ndead %d\n", requests, failed, url ? killed : count
			printf "p50_seconds %.1f\nworst_seconds %.1f\nlimit_seconds %d\n", sorted[int((count + 1) / 2)] / 1000, sorted[count] / 1000, limit
			printf "last %.0f\n", last
		}'
}

# figure prints one value of the last evaluation.
figure() { sed -n "s/^$1 //p" "$work/figures"; }

fetch_list
((${#targets[@]} > 0)) || die "the registry lists no instance of $app that is UP"
echo "measure-stale-routing: calling ${#targets[@]} at $rate requests a second" >&2

exec {never}<> <(:) # which nobody writes to, so that a read with a limit is a pause
begin=$(ms) fetched=$(ms) looked=$(ms) due=0 sent=0 last=0 settled=''
while :; do
	at=$(ms)
	passed=$((at - begin))
	((passed < 10#$duration * 1000)) || break
	if ((at - fetched >= 10#$fetch * 1000)); then
		fetch_list
		fetched=$at
	fi
	due=$((passed * 10#$rate / 1000 - sent))
	((due <= 10#$rate)) || due=$((10#$rate)) # after a pause nothing is caught up with
	if ((due > 0 && ${#targets[@]} > 0)); then
		send "$due" &
		next=$((next + due))
	fi
	sent=$((passed * 10#$rate / 1000))
	if ((at - looked >= 1000)); then
		looked=$at
		evaluate >"$work/figures"
		last=$(figure last)
		while read -r death _; do
			((death <= last)) || last=$death
		done <"$work/deaths"
		if ((last > 0 && at - last >= 10#$settle * 1000)); then
			settled=1
			break
		fi
	fi
	read -rt "0.$tick_ms" -u "$never" || :
done
wait
evaluate >"$work/figures"
sed '/^last /d' "$work/figures"
if ((last > 0)) && [[ ! $settled ]]; then
	echo "measure-stale-routing: requests still failed within the last ${settle} s" >&2
	exit 1
fi
awk -v worst="$(figure worst_seconds)" -v limit="$limit" 'BEGIN { exit !(worst <= limit) }' || exit 1
[[ $settled ]] || die "nobody died in $duration s"
