#!/bin/sh
# Boots the Debian root $1 in namespaces of its own (unshare made them), on a machine that has what an
# agent governs: /sys and /dev/mem are files that a test can look into.
set -e
root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/run"

mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for name in null zero full random urandom tty; do
    touch "$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir "$root/dev/pts" "$root/dev/shm"
touch "$root/dev/console"
truncate -s 12288 "$root/dev/mem"

mount -t tmpfs -o mode=755 tmpfs "$root/sys"
mkdir -p "$root/sys/fs/cgroup" "$root/sys/class/devfreq" "$root/sys/bus/platform/drivers"
mkdir -p "$root/sys/bus/platform/devices/1400.pmu"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
noc=$root/sys/devices/platform/soc/noc/devfreq/noc
mkdir -p "$noc/userspace"
echo "userspace simple_ondemand" > "$noc/available_governors"
echo "100 200 300" > "$noc/available_frequencies"
echo simple_ondemand > "$noc/governor"
echo 100 > "$noc/min_freq"
echo 300 > "$noc/max_freq"
echo undefined > "$noc/userspace/set_freq"
ln -s ../../devices/platform/soc/noc/devfreq/noc "$root/sys/class/devfreq/noc"

cd "$root"
mkdir -p .outside
pivot_root . .outside
umount -l .outside
exec env -i container=bwmon-trial PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --system --show-status=no --unit=multi-user.target
