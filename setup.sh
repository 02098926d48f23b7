#!/usr/bin/env bash
# Installs what is missing on Debian 12/13 or Raspberry Pi OS and makes .venv.
#
#   ./setup.sh          what playing needs
#   ./setup.sh --test   the same, and what the checks need besides
#
# Called by make before every other target.  It names what it installs, and shows what the
# installers print only when they fail.  When nothing is missing it says nothing, asks for no
# rights, needs no network and takes a blink.
set -euo pipefail
cd "$(dirname "$0")"

program=setup
# shellcheck source=install/lib.sh
. install/lib.sh

# Debian's own Python, because the packages below belong to it.
python=${PYTHON:-/usr/bin/python3}

# --- System packages -----------------------------------------------------------------------------

# libgl1 and libegl1 bring Mesa with them, which draws with or without a graphics card;
# libmtdev1 is how Kivy reads a touchscreen when there is no X server.
packages=(python3-venv libgl1 libegl1 libmtdev1)

extras=kiosk,hardware
purpose="playing"
if [[ ${1:-} == --test ]]; then
    # systemd-analyze judges the unit files.
    packages+=(systemd)
    extras+=,cluster,dev
    purpose="playing and checking"
fi

if is_debian; then
    check_architecture
    install_missing "${packages[@]}"
else
    say "Not a Debian system: please see to the equivalents of ${packages[*]} yourself"
fi

# --- Python --------------------------------------------------------------------------------------

[[ -x $python ]] || die "there is no $python"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case $version in
3.11 | 3.12 | 3.13) ;;
*) die "Python 3.11, 3.12 or 3.13 is needed, and $python is $version" \
    "(name another one like this: PYTHON=/usr/bin/python3.13 make run)" ;;
esac

# lgpio has no ready-made wheel for this pair; its source builds with these, and PYPI=1 is its own
# switch for linking its C library in instead of looking for an installed one.
if [[ $version == 3.13 && $(uname -m) == aarch64 ]]; then
    is_debian && install_missing gcc libc6-dev python3-dev swig
    export PYPI=1
fi

# The stamp holds all that the environment was made from, so any change to it, a moved folder or a
# new Python included, makes the next call install again.  What the checks need stays installed once
# it is, and does for playing too.
stamp=.venv/.installed
made_from=$(
    printf '%s %s\n' "$PWD" "$version"
    sha256sum pyproject.toml constraints.txt
)
stamped=
[[ -f $stamp ]] && stamped=$(<"$stamp")
if [[ ${stamped##*$'\n'} == *,dev ]]; then
    extras=${stamped##*$'\n'}
    purpose="playing and checking"
fi
wanted=$made_from$'\n'$extras
current=no
[[ $stamped == "$wanted" ]] && current=yes

# The solver's loop and the casual player are compiled, or they take 40 times as long: that is the
# difference between a hint at once and a hint after a wait.  A compiled file that is older than
# its source would go on being used, so it is made anew whenever the source is newer than this.
compiled=.venv/.compiled
fresh=yes
for source in setup.py engine/_[a-z]*.py engine/_[a-z]*.pxd; do
    if [[ ! -f $compiled || $source -nt $compiled ]]; then fresh=no; fi
done
[[ $current == yes && $fresh == yes ]] && exit 0

# Without a compiler everything works all the same, so none of this may be the end.
if is_debian; then
    (install_missing gcc libc6-dev python3-dev) || say "Going on without a compiler"
fi
rm -f engine/_[a-z]*.so

# --use-pep517: sdnotify is published as source only, and the old way of building it is going away.
install() {
    .venv/bin/python -m pip install --disable-pip-version-check --use-pep517 \
        -c constraints.txt "$@"
}

if [[ $current == no ]]; then
    if [[ ${stamped%%$'\n'*} != "$PWD $version" ]]; then
        # Made anew, it would empty what the link leads to, which others may be using.
        [[ -L .venv ]] && die ".venv is a link, and nothing is installed through it:" \
            "please remove it (rm .venv) and call this again"
        say "Making .venv with Python $version"
        quietly "$python" -m venv --clear .venv
    fi
    say "Installing the Python packages for $purpose into .venv, and compiling the solver"
    quietly install -e ".[$extras]" || die "the Python packages could not be installed, see above"
    while IFS= read -r line; do
        if [[ $line == "Successfully installed "* ]]; then say "Installed ${line#* installed }"; fi
    done <<<"$printed"
    printf '%s\n' "$wanted" >"$stamp"
else
    say "Compiling the solver"
    # With Cython at hand there is no need for pip, which would fetch it from the network.
    if .venv/bin/python -c "import Cython, setuptools" 2>/dev/null; then
        quietly .venv/bin/python setup.py --quiet build_ext --inplace || true
    else
        quietly install --no-deps -e . || true
    fi
fi
: >"$compiled"
compgen -G 'engine/_search.*.so' >/dev/null ||
    say "The solver could not be compiled: it is interpreted, right as ever, and slow"
say "Ready"
