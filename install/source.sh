# shellcheck shell=bash
# What of the source tree belongs to a release.  To be sourced, with $source set.
# shellcheck disable=SC2154

# What is needed to run the kiosk and to install it elsewhere.
parts=(engine hardware kiosk install systemd docs pyproject.toml setup.py constraints.txt README.md
    CHANGELOG.md LICENSE)

# Writes it as a tar file that is the same whenever the source is.
source_files() {
    # Whatever was compiled or made in the source tree belongs to that tree.
    tar -C "$source" --sort=name --exclude='__pycache__' --exclude='*.pyc' --exclude='*.so' \
        --exclude='engine/_*.c' --exclude='*.work' --exclude='*.new' \
        --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -cf - "${parts[@]}"
}

source_version() { sed -n 's/^version = "\(.*\)"$/\1/p' "$source/pyproject.toml"; }

# The name of a release says what is in it, so that the same again is recognised.
source_release() { # WHAT ELSE IT IS MADE OF
    local hash
    hash=$({ source_files; echo "$1"; } | sha256sum)
    echo "$(source_version)-${hash:0:8}"
}
