#!/usr/bin/env bash
# The programs that some tests drive: a browser, Node, nginx, a PostgreSQL server and, for Spark, a Java runtime, from
# Debian's packages.
# What cannot be installed here is said; the tests that need it are then skipped with a reason.
set -euo pipefail

missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v node >/dev/null || missing+=(nodejs)
[ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing+=(nginx-light)
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || missing+=(postgresql)
command -v java >/dev/null || missing+=(default-jre-headless)
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
    echo "not installed (no apt-get here): ${missing[*]}; the tests that need them are skipped" >&2
    exit 0
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2>/dev/null; then
        echo "not installed (needs root): ${missing[*]}; the tests that need them are skipped" >&2
        exit 0
    fi
    as_root=(sudo)
fi
echo "installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
