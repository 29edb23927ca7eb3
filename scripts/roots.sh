# shellcheck shell=bash
# Sourced: a fresh system in a folder of its own, for `clean-root`, `packages/try` and `try-images`. Sets `suite`, `root` and `say`, and
# makes `inside` and `fresh`. The first argument of the script is the system's name; `usage` is the script's own.
#
# Needs root and debootstrap. Debian comes from the mirror that this machine's apt uses, or FQC_DEBIAN_MIRROR; Ubuntu from
# FQC_UBUNTU_MIRROR. Roots are made once, in FQC_ROOTS (/var/tmp/fqc-roots); each run has a fresh copy of its own, which is gone when
# the script ends, with all processes. Copies of runs that were killed go with the next one. The network is the machine's own.
apt_mirror() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | grep -m 1 '/debian/*$'
}
mirror=${FQC_DEBIAN_MIRROR:-$(apt_mirror || true)} script=sid keys=/usr/share/keyrings/debian-archive-keyring.gpg components=main
case $1 in
debian-12) suite=bookworm ;;
debian-13) suite=trixie ;;
ubuntu-24.04)
    suite=noble script=gutsy components=main,universe mirror=${FQC_UBUNTU_MIRROR:-}
    keys=${FQC_UBUNTU_KEYS:-/usr/share/keyrings/ubuntu-archive-keyring.gpg}
    ;;
*) usage ;;
esac
[ "$(id -u)" -eq 0 ] || {
    echo "${0##*/}: needs root, for debootstrap and chroot" >&2
    exit 3
}
made=${FQC_ROOTS:-/var/tmp/fqc-roots}/$suite
say() { printf '%s: %s: %s\n' "${0##*/}" "$suite" "$*"; }

mkdir -p "${made%/*}"
exec 8>"$made.lock"
flock 8 # one run makes the root, and looks for leftovers, at a time
if [ ! -e "$made" ]; then
    say "making the root"
    [ -n "$mirror" ] || {
        say "which mirror? Set FQC_DEBIAN_MIRROR or FQC_UBUNTU_MIRROR" >&2
        exit 3
    }
    rm -rf "$made.draft"
    debootstrap --variant=minbase --components="$components" --keyring="$keys" "$suite" "$made.draft" "$mirror" \
        "/usr/share/debootstrap/scripts/$script" >"$made.log" 2>&1 || {
        tail -n 5 "$made.log" >&2
        exit 1
    }
    mv "$made.draft" "$made"
fi
for left in "$made".run.*; do
    # A run that goes on holds the lock of its copy.
    [ ! -d "$left" ] || flock --nonblock "$left" true || continue
    rm -rf --one-file-system "$left"
done
root=$(mktemp -d "$made.run.XXXXXX")
trap 'rm -rf --one-file-system "$root"' EXIT
exec 9<"$root"
flock 9
exec 8>&-
fresh() { # into this folder, a copy of the system
    cp -a "$made/." "$1/"
    rm -f "$1/etc/resolv.conf"
    cp /etc/resolv.conf /etc/hosts "$1/etc/"
    # A machine behind a proxy with certificates of its own.
    [ ! -d /usr/local/share/ca-certificates ] || cp -r /usr/local/share/ca-certificates "$1/usr/local/share/"
}
fresh "$root"
settings=()
for name in http_proxy https_proxy no_proxy PIP_CERT SSL_CERT_FILE NODE_EXTRA_CA_CERTS CURL_CA_BUNDLE FQC_WEB_PORT FQC_LOCAL_PORT_BASE; do
    [ -z "${!name:-}" ] || settings+=("$name=${!name}")
done
# Runs a command inside the root. If `is_alone` is set, it has no access to the network of this machine.
inside() { # user, home, command; with processes of its own, of which none outlives it
    local user=$1 home=$2
    shift 2
    # shellcheck disable=SC2016 # for the shell inside
    unshare ${is_alone:+--net} --mount --pid --fork --kill-child -- bash -c 'root=$1 user=$2; shift 2
        [ -z "${is_alone:-}" ] || ip link set lo up
        mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/tmp" && chmod 1777 "$root/tmp"
        exec chroot --userspec="$user" --groups= "$root" /usr/bin/env -i "$@"' - \
        "$root" "$user" HOME="$home" USER="$user" LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        "${settings[@]}" "$@" </dev/null
}
