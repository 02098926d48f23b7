# shellcheck shell=bash
# What setup.sh and the programs in this folder share.  To be sourced, never run.

# A command that runs something in another system's tree: (chroot DIR), or nothing.
inside=()

# Root's programs are out of sight for whoever became root by a plain "su".
PATH=$PATH:/usr/sbin:/sbin

# Whether anybody still reads it must not decide how an installation ends.
say() { printf '==> %s\n' "$*" 2>/dev/null || true; }
die() { printf '%s: %s\n' "${program:-${0##*/}}" "$*" >&2; exit 1; }

# Runs a command that prints pages, and shows them only if it fails; they are in $printed.
quietly() {
    local status=0
    printed=$("$@" 2>&1) || status=$?
    if ((status)); then printf '%s\n' "$printed" >&2; fi
    return "$status"
}

# --- System packages -----------------------------------------------------------------------------

is_debian() { "${inside[@]}" sh -c 'command -v dpkg-query' >/dev/null 2>&1; }

check_architecture() {
    local architecture
    architecture=$("${inside[@]}" dpkg --print-architecture)
    case $architecture in
    amd64 | arm64) ;;
    *) die "Kivy is only published for 64-bit PCs and the 64-bit Raspberry Pi OS," \
        "and this system is $architecture" ;;
    esac
}

# Debian 13 renamed some libraries (libmtdev1t64); apt-get knows both names, dpkg-query does not.
installed() {
    # shellcheck disable=SC2016 # dpkg-query fills it in
    grep -qx installed < <(
        "${inside[@]}" dpkg-query --show --showformat='${db:Status-Status}\n' "$1" "$1t64" \
            2>/dev/null
    )
}

install_missing() {
    local missing=() package
    for package; do installed "$package" || missing+=("$package"); done
    ((${#missing[@]})) || return 0
    local rights=("${inside[@]}")
    if [[ $(id -u) != 0 ]]; then
        command -v sudo >/dev/null ||
            die "these Debian packages are missing: ${missing[*]}" \
                "- installing them needs root or sudo, and neither is at hand"
        rights=(sudo)
    fi
    local sudo=
    [[ ${rights[*]} == sudo ]] && sudo=" with sudo"
    say "Installing Debian packages$sudo: ${missing[*]}"
    # 9 is the lock of install/: what a package starts must not hold it.
    update_lists "${rights[@]}" 9>&- || die "apt-get update failed, see above"
    quietly "${rights[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
        install -q -y --no-install-recommends "${missing[@]}" 9>&- ||
        die "the Debian packages could not be installed, see above"
}

# A fresh machine updates its lists by itself, and apt-get waits for other installers, but not for that.
update_lists() { # HOW TO GET RIGHTS...
    local seconds
    for ((seconds = 0; seconds < 300; seconds += 5)); do
        if printed=$("$@" env LC_ALL=C apt-get update -q 2>&1); then return; fi
        if [[ $printed != *"Could not get lock"* ]]; then break; fi
        if ((!seconds)); then say "Something else is updating the lists of packages: waiting for it"; fi
        sleep 5
    done
    printf '%s\n' "$printed" >&2
    return 1
}
