# shellcheck shell=bash
# Sourced by each part. Starts and stops a server of this system without its service, and prints outcomes. Changes into the folder with
# the packages.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
cd /root/packages

# The network is that of the machine, where other servers may use the usual ports.
port=23306
log=/var/log/server.log server=
fail() {
    echo "FAILED: $*"
    [ ! -e "$log" ] || tail -n 20 "$log"
    exit 1
}
ok() { echo "ok: $*"; }
# Waits until a command succeeds, at most two minutes. Only a fault takes that long.
until_it() { # what, command
    local what=$1 _
    shift
    for _ in {1..1200}; do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    fail "$what"
}
start() {
    mkdir -p /run/mysqld
    chown mysql: /run/mysqld
    : >"$log"
    mariadbd --user=mysql --bind-address=127.0.0.1 --port="$port" 2>"$log" &
    server=$!
    until mariadb --execute 'SELECT 1' >/dev/null 2>&1; do
        kill -0 "$server" 2>/dev/null || fail "the server does not start"
        sleep 0.1
    done
}
stop() {
    kill "$server"
    wait "$server" || fail "the server did not end well"
}
