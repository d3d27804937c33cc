#!/usr/bin/env bash
# Kills a part of the pods of a selector the hard way: they are deleted without a
# grace period, so no hook runs and nobody tells the registry. What happened is
# printed as one JSON object a line:
#
#   {"at":"2026-11-30T03:14:15.123456Z","acknowledged":"…","namespace":"shop",
#    "pod":"orders-1","ip":"10.0.0.7","node":"node-1","process":"left"}
#
# at is when the process was killed or the deletion was sent, acknowledged when the
# API server had taken it. process says what became of the process before that: left
# (to the kubelet), signalled, killed (by --killer), or failed. Everything else that it
# says goes to standard error. Needs bash 5, coreutils and kubectl.
set -euo pipefail

readonly max_pods=20 # without --force
readonly at_a_time=16

usage() {
	cat >&2 <<-'END'
		usage: kill-instances.sh -n NAMESPACE -l SELECTOR (--count N | --percent P) [option...]

		  -n, --namespace NAMESPACE  where the pods are
		  -l, --selector SELECTOR    which pods, as for kubectl
		      --count N              kill N of those that run, chosen by chance
		      --percent P            kill P percent of them, rounded up
		      --dry-run              say which it would be, and kill nobody
		      --yes                  do not ask
		      --force                allow more than --max-percent, or than 20 pods
		      --max-percent P        bound without --force, 50 unless set
		      --signal               also try to kill the processes in the containers at once, by
		                             `kubectl exec ... kill -9 -1`; needs kill in the image and does
		                             not reach a process 1
		      --killer COMMAND       also run COMMAND before each deletion, with POD, NAMESPACE, NODE
		                             and POD_IP set, to kill the process from its node
		      --seed N               choose the same ones again
		      --context CONTEXT      of the kubeconfig

		exit codes: 0 killed (or --dry-run), 1 a deletion failed, 2 nothing was done
	END
	exit 2
}

die() {
	echo "kill-instances: $*" >&2
	exit 2
}

namespace='' selector='' count='' percent='' dry_run='' yes='' force='' max_percent=50 signal='' killer='' seed='' context=()
while (($# > 0)); do
	case $1 in
	-n | --namespace) namespace=${2-} ;;
	-l | --selector) selector=${2-} ;;
	--count) count=${2-} ;;
	--percent) percent=${2-} ;;
	--max-percent) max_percent=${2-} ;;
	--killer) killer=${2-} ;;
	--seed) seed=${2-} ;;
	--context) context=(--context "${2-}") ;;
	--dry-run) dry_run=1 ;;
	--yes) yes=1 ;;
	--force) force=1 ;;
	--signal) signal=1 ;;
	*) usage ;;
	esac
	case $1 in
	--dry-run | --yes | --force | --signal) shift ;;
	*)
		(($# > 1)) || usage
		shift 2
		;;
	esac
done

# number NAME VALUE LEAST MOST fails unless the value is a number in that range.
number() {
	if ! [[ $2 =~ ^[0-9]{1,6}$ ]] || ((10#$2 < $3 || 10#$2 > $4)); then
		die "$1 is \"$2\": want a number from $3 to $4"
	fi
}

[[ ${EPOCHREALTIME-} ]] || die "bash is older than 5.0"
[[ $namespace && $selector ]] || usage
[[ $count || $percent ]] || usage
[[ ! $count || ! $percent ]] || die "give either --count or --percent"
[[ ! $count ]] || number --count "$count" 1 100000
[[ ! $percent ]] || number --percent "$percent" 1 100
number --max-percent "$max_percent" 1 100
[[ ! $seed ]] || number --seed "$seed" 0 32767
command -v kubectl >/dev/null || die "there is no kubectl"

k() { kubectl "${context[@]}" --namespace "$namespace" "$@"; }

# now prints the time in UTC, to the microsecond.
now() {
	local t=$EPOCHREALTIME
	TZ=UTC printf '%(%Y-%m-%dT%H:%M:%S)T.%sZ\n' "${t%[.,]*}" "${t#*[.,]}"
}

# pods lists name, address and node of the pods that run and do not end.
pods() {
	local columns='{range .items[*]}{.metadata.name}|{.status.podIP}|{.spec.nodeName}|{.metadata.deletionTimestamp}{"\n"}{end}'
	k get pods --selector "$selector" --field-selector status.phase=Running --output jsonpath="$columns" --request-timeout 30s |
		while IFS='|' read -r name ip node ending; do
			[[ $ending || ! $ip ]] || echo "$name $ip $node"
		done
}

listed=$(pods) || die "the pods cannot be listed"
mapfile -t running < <(sort <<<"$listed")
[[ $listed ]] || die "no pod of $selector runs in $namespace"
total=${#running[@]}
if [[ $count ]]; then wanted=$((10#$count)); else wanted=$(((total * 10#$percent + 99) / 100)); fi
((wanted <= total)) || die "$wanted are wanted, and $total run"

# Those at the front, after the list was shuffled, are killed.
[[ ! $seed ]] || RANDOM=$((10#$seed))
for ((i = total - 1; i > 0; i--)); do
	j=$(((RANDOM * 32768 + RANDOM) % (i + 1)))
	swap=${running[i]} running[i]=${running[j]} running[j]=$swap
done
victims=("${running[@]:0:wanted}")

{
	echo "context $(kubectl "${context[@]}" config current-context 2>/dev/null || echo '(none)'), namespace $namespace, selector $selector: $wanted of $total pods"
	printf '  %s\n' "${victims[@]}"
} >&2
if ((wanted * 100 > total * 10#$max_percent || wanted > max_pods)) && [[ ! $force ]]; then
	[[ $dry_run ]] || die "that is more than $max_percent % or than $max_pods pods; give --force if you mean it"
	echo "this would need --force" >&2
fi
[[ ! $dry_run ]] || exit 0
if [[ ! $yes ]]; then
	[[ -t 0 ]] || die "nobody can be asked; give --yes"
	read -rp "delete them without a grace period? [y/N] " answer
	[[ $answer == [yY]* ]] || die "nobody was killed"
fi

# process kills what runs in a pod, as far as that was asked for, and prints what
# became of it.
process() {
	if [[ $killer ]]; then
		if POD=$1 POD_IP=$2 NODE=$3 NAMESPACE=$namespace timeout 20 bash -c "$killer" >&2; then echo killed; else echo failed; fi
	elif [[ $signal ]]; then
		# The connection may end together with the shell that was killed.
		if k exec "$1" --request-timeout 10s -- sh -c 'kill -9 -1' >&2 || (($? == 137)); then echo signalled; else echo failed; fi
	else
		echo left
	fi
}

kill_one() {
	local pod=$1 ip=$2 node=$3 at became acknowledged
	at=$(now)
	became=$(process "$pod" "$ip" "$node")
	[[ $became == killed || $became == signalled ]] || at=$(now)
	k delete pod "$pod" --grace-period 0 --force --wait=false --request-timeout 30s >/dev/null 2>"$errors/$pod" || {
		cat "$errors/$pod" >&2
		return 1
	}
	acknowledged=$(now)
	printf '{"at":"%s","acknowledged":"%s","namespace":"%s","pod":"%s","ip":"%s","node":"%s","process":"%s"}\n' \
		"$at" "$acknowledged" "$namespace" "$pod" "$ip" "$node" "$became"
}

errors=$(mktemp -d)
trap 'rm -rf "$errors"' EXIT
failed=0 waiting=()
for victim in "${victims[@]}"; do
	read -r pod ip node <<<"$victim"
	kill_one "$pod" "$ip" "$node" &
	waiting+=($!)
	if ((${#waiting[@]} >= at_a_time)); then
		wait "${waiting[0]}" || failed=1
		waiting=("${waiting[@]:1}")
	fi
done
for pid in "${waiting[@]}"; do
	wait "$pid" || failed=1
done
exit "$failed"
