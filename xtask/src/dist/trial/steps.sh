#!/bin/sh
# What the life of an installed package looks like, as root inside of the trial's machine. /trial holds
# the packages and a board. Every step is a sentence; the first that does not hold ends it.
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
noc=/sys/class/devfreq/noc
config=/etc/bwmon/bwmon.toml

step() {
    sentence=$1
    shift
    if ! said=$("$@" 2>&1); then
        printf 'FAILED: %s\n%s\n' "$sentence" "$said"
        systemctl status --no-pager --lines=20 bwmon 2>&1
        exit 1
    fi
    printf 'ok: %s\n' "$sentence"
}
# As step, if $1 holds: what it needs of the machine below this one. $2 says so.
step_where() {
    if eval "$1"; then
        shift 2
        step "$@"
    else
        printf 'skipped: %s: %s\n' "$3" "$2"
    fi
}
holds() { eval "$1"; }
# At most ten seconds.
soon() {
    tries=0
    until eval "$1"; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || return 1
        sleep 0.1
    done
}
pid() { systemctl show -P MainPID bwmon; }
governed() { [ "$(cat $noc/governor)" = userspace ] && [ "$(cat $noc/userspace/set_freq)" != undefined ]; }
put_back() { [ "$(cat $noc/governor)" = simple_ondemand ]; }
in_status() { grep -q "$1" "/proc/$(pid)/status"; }
# Whether the longest mount point above $1 that the agent sees has the option $2.
mounted() {
    awk -v path="$1/" -v want="$2" '
        { point = $5 == "/" ? "/" : $5 "/" }
        index(path, point) == 1 && length(point) >= best { best = length(point); options = $6 }
        END { exit !(("," options ",") ~ ("," want ",")) }' "/proc/$(pid)/mountinfo"
}

step "the machine has booted" soon 'systemctl is-active multi-user.target'
step "it installs" dpkg --install /trial/first.deb
step "it says its version" holds 'bwmon --version | grep -q "^bwmon [0-9]"'
step "there is a page for every verb that help names" holds '
    for verb in $(bwmon --help | sed -n "/^Commands:/,/^Options:/s/^  \([a-z]*\) .*/\1/p"); do
        [ "$verb" = help ] || [ -s "/usr/share/man/man1/bwmon-$verb.1.gz" ] || exit 1
    done; [ -s /usr/share/man/man1/bwmon.1.gz ]'
step "the group is there" getent group bwmon
step "it is neither enabled nor started" holds '! systemctl is-enabled bwmon && ! systemctl is-active bwmon'
step "the configuration that comes with it holds" bwmon config check
step "the unit has no fault" systemd-analyze verify --man=no bwmon.service

cat > $config <<-END
	schema = 1
	mode = "dry-run"
	board = "/trial/board.toml"
	policy = "native"
	[journal]
	file = "/var/log/bwmon/journal.jsonl"
END
step "a dry run starts and is ready" systemctl start bwmon
step "it votes nowhere" put_back
step "the manager knows what it does" soon 'systemctl show -P StatusText bwmon | grep -q "native on tree"'
step "it journals where the group reads" holds '
    soon "[ -s /var/log/bwmon/journal.jsonl ]" && [ "$(stat -c %a:%U:%G /var/log/bwmon)" = 750:root:bwmon ]'
step "it stops" systemctl stop bwmon

sed -i 's/dry-run/govern/' $config
step "it governs" systemctl start bwmon
step "a vote is written under the sandbox" governed
step "its capabilities are CAP_SYS_RAWIO, CAP_PERFMON, CAP_BPF and no other" holds '
    in_status "^CapBnd:.*000000c000020000$" && in_status "^CapEff:.*000000c000020000$"'
step "its system calls are filtered, and it gains no privilege" holds '
    in_status "^Seccomp:.2" && in_status "^NoNewPrivs:.1"'
for path in / /usr /etc /home /sys /sys/class /sys/devices/system /sys/bus/platform/devices /proc/sys \
    /sys/fs/cgroup /var/lib; do
    step "$path is read-only" mounted $path ro
done
for path in /sys/devices/platform/soc /sys/bus/platform/drivers /run/bwmon /var/lib/bwmon \
    /var/log/bwmon /etc/bwmon; do
    step "$path is written" mounted $path rw
done
# CAP_SYS_RESOURCE is the capability with the number 24.
may_raise='[ $((0x$(sed -n "s/^CapEff:[^0-9a-f]*//p" /proc/1/status) >> 24 & 1)) = 1 ]'
step_where "$may_raise" "root may not raise limits here (CAP_SYS_RESOURCE)" \
    "no page is waited for: memory is locked without a capability" holds '
    [ "$(sed -n "s/^VmLck:[^0-9]*\([0-9]*\) kB/\1/p" /proc/$(pid)/status)" -gt 0 ]'
step_where "$may_raise" "root may not raise limits here (CAP_SYS_RESOURCE)" \
    "the governing thread is nice without a capability" holds '
    cat /proc/$(pid)/task/*/stat | sed "s/.*) //" | cut -d" " -f17 | grep -qx -- -10'
step "its socket is root'\''s and the group'\''s" holds '
    [ "$(stat -c %a:%U:%G /run/bwmon/control.sock)" = 660:root:bwmon ]'
useradd --no-create-home --groups bwmon ann
useradd --no-create-home bob
step "a member of the group asks and is answered" setpriv --reuid ann --regid ann --init-groups \
    bwmon status
step "somebody else is not" holds '! setpriv --reuid bob --regid bob --init-groups bwmon status'
step "a reload is answered" systemctl reload bwmon
sed -i 's/native/nonsense/' $config
step "a reload that is refused fails, and the agent goes on" holds '
    ! systemctl reload bwmon && systemctl is-active bwmon && governed'
sed -i 's/nonsense/native/' $config

old=$(pid)
kill -KILL "$old"
step "after kill -9 it is started again" soon '[ "$(pid)" != 0 ] && [ "$(pid)" != '"$old"' ] && systemctl is-active bwmon'
step "what it had changed was put back in between" holds '
    journalctl -u bwmon --no-pager | grep -q "given back\|put back\|simple_ondemand"'
step "it governs again" governed
step "a stop puts back" holds 'systemctl stop bwmon && put_back'

sed -i 's/^mode/on_exit = "keep"\nmode/' $config
step "on_exit = keep keeps over a stop" holds 'systemctl start bwmon && systemctl stop bwmon && governed'
step "and restore puts back" holds 'bwmon restore && put_back'
sed -i '/^on_exit/d' $config

systemctl start bwmon
old=$(pid)
echo "# mine" >> $config
step "an upgrade installs" dpkg --install --force-confdef --force-confold /trial/second.deb
step "the new program governs" holds '[ "$(pid)" != 0 ] && [ "$(pid)" != '"$old"' ] && governed'
step "the configuration is as it was" grep -q "^# mine" $config
step "the new example lies beside it" grep -q "^# second" $config.dpkg-dist

step "a removal" dpkg --remove bwmon
step "puts back what the agent changed" put_back
step "stops it" holds '! systemctl is-active bwmon && ! grep -qsx bwmon /proc/[0-9]*/comm'
step "keeps the configuration" grep -q "^# mine" $config
step "leaves no program and no unit" holds '
    [ ! -e /usr/bin/bwmon ] && [ ! -e /usr/lib/systemd/system/bwmon.service ]'

step "it installs again" dpkg --install --force-confold /trial/second.deb
bwmon run --config $config > /tmp/agent 2>&1 &
step "an agent without the service governs" soon governed
step "a removal ends it" dpkg --remove bwmon
step "and puts back" put_back
step "a purge" dpkg --purge bwmon
step "leaves nothing" holds '
    [ -z "$(find /etc/bwmon /var/lib/bwmon /var/log/bwmon /run/bwmon /usr/share/bwmon \
        /usr/share/doc/bwmon /usr/src/bwmon-vote* 2>/dev/null)" ]'
echo "passed"
