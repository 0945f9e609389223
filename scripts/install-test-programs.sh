#!/usr/bin/env bash
# The programs that some tests drive: browsers, Node, nginx, a PostgreSQL server and, for Spark, a Java runtime, from
# Debian's packages; and two npm packages that look at the studio's page, below .venv.
# What cannot be installed here is said; the tests that need it are then skipped with a reason.
set -euo pipefail
cd "$(dirname "$0")/.."

# axe-core looks for barriers, the TypeScript compiler checks the types of the JavaScript.
NPM_PACKAGES=(axe-core@4.14.0 typescript@5.9.3)

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

install_debian_packages() {
    local missing=()
    command -v chromium >/dev/null || missing+=(chromium)
    command -v firefox-esr >/dev/null || command -v firefox >/dev/null || missing+=(firefox-esr)
    command -v node >/dev/null || missing+=(nodejs)
    [ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing+=(nginx-light)
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || missing+=(postgresql)
    command -v java >/dev/null || missing+=(default-jre-headless)
    [ ${#missing[@]} -eq 0 ] && return
    if ! command -v apt-get >/dev/null; then
        echo "not installed (no apt-get here): ${missing[*]}; the tests that need them are skipped" >&2
    elif ! as_root true 2>/dev/null; then
        echo "not installed (needs root): ${missing[*]}; the tests that need them are skipped" >&2
    else
        echo "installing ${missing[*]}" >&2
        export DEBIAN_FRONTEND=noninteractive
        as_root apt-get update -qq || true # what is known of the packages may do
        as_root apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
            echo "could not be installed: one of ${missing[*]}; the tests that need it are skipped" >&2
    fi
}

install_npm_packages() {
    if ! command -v npm >/dev/null; then
        echo "not installed (no npm here): ${NPM_PACKAGES[*]}; the tests that need them are skipped" >&2
    elif ! npm install --silent --prefix "${VENV:-.venv}" --no-save --no-audit --no-fund --ignore-scripts "${NPM_PACKAGES[@]}" >/dev/null; then
        echo "not installed (npm could not fetch them): ${NPM_PACKAGES[*]}; the tests that need them are skipped" >&2
    fi
}

install_debian_packages
install_npm_packages
