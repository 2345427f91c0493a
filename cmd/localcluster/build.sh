#!/bin/sh
# Builds localcluster into the file named by the first argument, unless that file is newer than everything it is made of.
set -eu

usage="usage: build.sh OUTPUT"
output=${1:?$usage}
case $output in /*) ;; *) output=$PWD/$output ;; esac
cd "$(dirname "$0")"

# fresh is true if no input is newer than the output.
fresh() {
	[ -x "$output" ] && [ -z "$(find . -newer "$output" ! -name '*_test.go' \
		\( -name '*.go' -o -name '*.yaml' -o -name go.mod -o -name go.sum -o -name build.sh \) -print -quit)" ]
}

# ldflags stamps the version of Kubernetes as its own release scripts do: kubectl and Helm read it from the server.
ldflags() {
	version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
	major=${version#v}
	minor=${major#*.}
	package=k8s.io/component-base/version
	printf '%s' "-s -w -X $package.gitVersion=$version -X $package.gitMajor=${major%%.*} -X $package.gitMinor=${minor%%.*}" \
		" -X $package.gitCommit= -X $package.gitTreeState=clean"
}

if fresh; then
	exit 0
fi
if [ "$(go env GOOS)" != linux ]; then
	echo "localcluster: cannot build for $(go env GOOS), only for linux: it reads /proc; use another cluster here" >&2
	exit 1
fi
echo "Building localcluster. The first time, this compiles Kubernetes, which takes five to ten minutes on two cores ..." >&2
begun=$(date +%s)
mkdir -p "$(dirname "$output")"
# A name of its own, renamed at the end: others may build or run the same file meanwhile.
trap 'rm -f "$output.$$"' EXIT
go build -trimpath -ldflags "$(ldflags)" -o "$output.$$" .
mv -f "$output.$$" "$output"
echo "Built $output in $(($(date +%s) - begun)) s." >&2
