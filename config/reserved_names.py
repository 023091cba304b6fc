"""List user and group names and ids that the nodes reserve."""

# From Debian's and Ubuntu's base-passwd, the packages on HyperPod's images, and their default user ubuntu.
_NAMES = """
root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc gnats _apt nobody
adm tty disk dialout fax voice cdrom floppy tape sudo audio dip operator src shadow utmp video sasl plugdev staff users
nogroup input kvm render sgx crontab lxd netdev admin wheel
messagebus dbus polkitd syslog uuidd tcpdump landscape fwupd-refresh pollinate rtkit tss usbmux dnsmasq _chrony sshd _ssh sssd
ubuntu ec2-user ssm-user ec2-instance-connect ssl-cert
slurm slurmrest munge mysql mariadb docker nvidia-persistenced statd _rpc
"""
_FAMILIES = ("systemd-",)
_NAMED = frozenset(_NAMES.split())

# https://systemd.io/UIDS-GIDS/: the account `nobody`, and the invalid 16-bit id.
NOBODY_IDS = (65534, 65535)
# The same page: systemd-homed, its containers, and dynamic users of services.
_OF_SYSTEMD = (range(60001, 60578), range(61184, 65520))


def is_systemd_id(number: int) -> bool:
    """Return whether systemd assigns the id dynamically."""
    return any(number in numbers for numbers in _OF_SYSTEMD)


def is_reserved(name: str) -> bool:
    """Return whether nodes can have a system user or group with this name."""
    return name in _NAMED or name.startswith(_FAMILIES)
