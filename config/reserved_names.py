"""Names and numbers of users and groups that a node has already, or that its services take."""

# Debian's and Ubuntu's own (base-passwd), those of packages on HyperPod's images, and ubuntu, the user that these come with.
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

# https://systemd.io/UIDS-GIDS/: nobody's number, and the one that means no user where numbers have 16 bits.
NOBODYS_IDS = (65534, 65535)
# The same page: systemd-homed's and its containers', and those that services get while they run. What lies between is free.
_OF_SYSTEMD = (range(60001, 60578), range(61184, 65520))


def is_systemds(number: int) -> bool:
    """Tell whether systemd gives the number to users or services that it makes itself."""
    return any(number in numbers for numbers in _OF_SYSTEMD)


def is_reserved(name: str) -> bool:
    """Tell whether nodes have a user or a group of this name, or may get one."""
    return name in _NAMED or name.startswith(_FAMILIES)
