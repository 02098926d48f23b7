# shellcheck shell=bash
# What the installer puts where, and how it takes it away again.  To be sourced, after lib.sh.
# shellcheck disable=SC2034 # what is set here is used by who sources it

unit=pyramid-kiosk.service

# The system is below this folder; empty for the one that is running.
root=${DESTDIR:-}
root=${root%/}
opt=$root/opt/pyramid-kiosk
etc=$root/etc/pyramid-kiosk
state=$root/var/lib/pyramid-kiosk

# Whoever calls this twice at once would have two programs write the same files.  What is left of an
# installation that was ended keeps the lock until it ends, too.
only_once() {
    if [[ -n ${KIOSK_LOCKED:-} ]]; then return; fi
    command -v flock >/dev/null || return 0
    exec 9<"$root/"
    flock --timeout 10 9 || die "another installation is under way: wait until it has ended"
}

check_ready_within() {
    if [[ ! ${READY_WITHIN:-60} =~ ^[1-9][0-9]{0,4}$ ]]; then
        die "READY_WITHIN=$READY_WITHIN: it is a number of seconds, such as 120"
    fi
}

# Writes a file by way of another name: a power cut leaves the old one or the new one, never a half.
put() { # FILE LINE
    printf '%s\n' "$2" >"$1.new" && mv -f "$1.new" "$1" && return
    rm -f "$1.new"
    return 1
}
put_file() { # MODE FROM TO
    install -m "$1" "$2" "$3.new" && mv -f "$3.new" "$3" && return
    rm -f "$3.new"
    return 1
}

# Whose the desktop is, where the kiosk keeps its state there, and the systemd that has its unit.
desktop_user() { cat "$etc/desktop-user" 2>/dev/null || true; }
desktop_state() {
    local user home
    user=$(desktop_user)
    [[ -n $user ]] || return 0
    if [[ -z $root ]]; then
        home=$(getent passwd "$user" | cut -d: -f6)
    else
        home=$(grep -s "^$user:" "$root/etc/passwd" | cut -d: -f6)
    fi || true
    if [[ -n $home ]]; then echo "$home/.local/state/pyramid-kiosk"; fi
}
stop_on_desktop() {
    local user
    user=$(desktop_user)
    if [[ -n $user ]]; then
        systemctl --user --machine="$user@.host" stop "$unit" pyramid-kiosk-power.path 2>/dev/null || true
    fi
}

# Lists the variant's files: where each is in a release's folder systemd/, and where it goes.
system_files() {
    printf '%s\n' \
        "pyramid-kiosk.sysusers.conf /etc/sysusers.d/pyramid-kiosk.conf" \
        "pyramid-kiosk.rules /etc/udev/rules.d/60-pyramid-kiosk.rules"
    case $1 in
    bare)
        local name
        for name in "$unit" pyramid-kiosk-{power.path,power.service,replug.service,stick@.service}; do
            echo "$name /etc/systemd/system/$name"
        done
        printf '%s\n' \
            "pyramid-kiosk-plugged.rules /etc/udev/rules.d/61-pyramid-kiosk-plugged.rules" \
            "pyramid-kiosk.tmpfiles.conf /etc/tmpfiles.d/pyramid-kiosk.conf" \
            "pyramid-kiosk.logind.conf /etc/systemd/logind.conf.d/pyramid-kiosk.conf" \
            "pyramid-kiosk.sysctl.conf /etc/sysctl.d/60-pyramid-kiosk.conf"
        ;;
    desktop)
        printf '%s\n' \
            "user/$unit /etc/systemd/user/$unit" \
            "pyramid-kiosk-power.path /etc/systemd/user/pyramid-kiosk-power.path" \
            "pyramid-kiosk-power.service /etc/systemd/user/pyramid-kiosk-power.service" \
            "user/pyramid-kiosk.desktop /etc/xdg/autostart/pyramid-kiosk.desktop"
        ;;
    esac
}

# Lists the variant's links, and where they lead: what is started, and what is kept from starting.
system_links() {
    echo "/usr/local/bin/pyramid-kiosk /opt/pyramid-kiosk/current/pyramid-kiosk"
    case $1 in
    bare)
        printf '%s\n' \
            "/etc/systemd/system/multi-user.target.wants/$unit ../$unit" \
            "/etc/systemd/system/paths.target.wants/pyramid-kiosk-power.path ../pyramid-kiosk-power.path" \
            "/etc/systemd/system/getty@tty1.service /dev/null" \
            "/etc/systemd/system/ctrl-alt-del.target /dev/null"
        ;;
    desktop)
        echo "/etc/systemd/user/paths.target.wants/pyramid-kiosk-power.path ../pyramid-kiosk-power.path"
        ;;
    esac
}

# Puts the files and links of a release into their places and takes those of the other variant away.
# Says what it changes; $changed tells whether it changed anything.
changed=no
place() { # RELEASE VARIANT
    local from to target old
    remove_all_but "$2"
    while read -r from to; do
        from=$1/systemd/$from
        cmp -s "$from" "$root$to" && continue
        mkdir -p "$root${to%/*}" && put_file 644 "$from" "$root$to" || return 1
        say "Wrote $to"
        changed=yes
    done < <(system_files "$2")
    while read -r to target; do
        old=$(readlink "$root$to" || true)
        [[ $old == "$target" ]] && continue
        if [[ -e $root$to && ! -L $root$to ]]; then
            say "$to is not ours, and stays: please see to it that it does not disturb the kiosk"
            continue
        fi
        mkdir -p "$root${to%/*}" && ln -sfn "$target" "$root$to" || return 1
        if [[ $target == /dev/null ]]; then say "Masked ${to##*/}"; else say "Linked $to"; fi
        changed=yes
    done < <(system_links "$2")
    place_default_target "$2"
}

# Makes a release the current one, and the current one the previous.
point_to() { # RELEASE
    local old
    old=$(readlink "$opt/current" || true)
    [[ $old == "releases/$1" ]] && return
    if [[ -n $old ]]; then ln -sfnT "$old" "$opt/previous"; fi
    ln -sfn "releases/$1" "$opt/current.new"
    mv -fT "$opt/current.new" "$opt/current"
}

# Without a desktop the machine boots to text, and the kiosk is part of that.
place_default_target() { # VARIANT
    local link=$root/etc/systemd/system/default.target before=$opt/default-target-before now
    now=$(readlink "$link" || true)
    if [[ $1 == bare && ${now##*/} != multi-user.target ]]; then
        put "$before" "$now" && mkdir -p "${link%/*}" || return 1
        ln -sfn /lib/systemd/system/multi-user.target "$link" || return 1
        say "The machine now boots into multi-user.target${now:+ (it was ${now##*/})}"
        changed=yes
    elif [[ $1 != bare && -f $before ]]; then
        now=$(<"$before")
        if [[ -n $now ]]; then ln -sfn "$now" "$link"; else rm -f "$link"; fi
        rm -f "$before"
        say "The machine boots into ${now:-its default target} again"
        changed=yes
    fi
}

# Takes away what was placed for any variant and does not belong to the one named, which may be none.
remove_all_but() { # VARIANT
    local to target variant keep=
    if [[ $1 != none ]]; then
        keep=$(system_files "$1" | cut -d' ' -f2; system_links "$1" | cut -d' ' -f1)
    fi
    for variant in bare desktop; do
        while read -r _ to; do
            grep -qxF -- "$to" <<<"$keep" && continue
            [[ -e $root$to ]] || continue
            rm -f "$root$to"
            say "Removed $to"
            changed=yes
        done < <(system_files "$variant")
        while read -r to target; do
            grep -qxF -- "$to" <<<"$keep" && continue
            [[ $(readlink "$root$to" || true) == "$target" ]] || continue
            rm -f "$root$to"
            if [[ $target == /dev/null ]]; then say "Unmasked ${to##*/}"; else say "Removed $to"; fi
            changed=yes
        done < <(system_links "$variant")
    done
}
