"""Debian's slapd on a node: an LDAP server with TLS, users with SSH keys, and a group."""

from tests.nodes.cluster.running import Running

HOST, BASE, BIND_DN, PASSWORD = "ldap.example.com", "dc=example,dc=com", "cn=sssd,dc=example,dc=com", "s3cret #bind"

CONF = f"""\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
attributetype ( 1.3.6.1.4.1.24552.500.1.1.1.13 NAME 'sshPublicKey'
  EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 )
objectclass ( 1.3.6.1.4.1.24552.500.1.1.2.0 NAME 'ldapPublicKey' SUP top AUXILIARY MAY sshPublicKey )
TLSCertificateFile /root/ldap/server.pem
TLSCertificateKeyFile /root/ldap/server.key
modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
suffix {BASE}
directory /root/ldap/data
access to * by dn.exact={BIND_DN} read by anonymous auth
"""
DATA = f"""\
dn: {BASE}
objectClass: organization
objectClass: dcObject
o: example
dc: example

dn: {BIND_DN}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: sssd
userPassword: {PASSWORD}

dn: cn=vision,{BASE}
objectClass: posixGroup
cn: vision
gidNumber: 30001
memberUid: alice_ldap

dn: cn=speech,{BASE}
objectClass: posixGroup
cn: speech
gidNumber: 30002
"""
USER = """
dn: uid={name},{base}
objectClass: account
objectClass: posixAccount
objectClass: ldapPublicKey
uid: {name}
cn: {name}
uidNumber: {uid}
gidNumber: {gid}
userPassword: {name}'s own
homeDirectory: /home/elsewhere
sshPublicKey: {key}
"""
START = """\
set -eu
cd /root/ldap
mkdir data
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 2 -subj /CN=authority -keyout ca.key -out ca.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj /CN={host} -keyout server.key -out server.csr
printf 'subjectAltName=DNS:{host}' >extensions
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out server.pem
slapadd -f slapd.conf -l data.ldif
systemd-run --quiet --unit=ldap-of-test slapd -d 0 -f /root/ldap/slapd.conf -h 'ldap:/// ldaps:///'
until ldapsearch -x -b '' -s base 1.1 >/dev/null 2>&1; do sleep 0.1; done
"""


def start(cluster: Running, node: str, users: dict[str, tuple[int, int]], key: str) -> str:
    """Start the server with users by name (uid and gid) and a key of all; return its authority's certificate."""
    data = DATA + "".join(USER.format(name=name, base=BASE, uid=uid, gid=gid, key=key) for name, (uid, gid) in users.items())
    for name, content in {"slapd.conf": CONF, "data.ldif": data}.items():
        cluster.run(node, "sh", "-c", f'mkdir -p /root/ldap && printf %s "$1" >/root/ldap/{name}', "sh", content)
    cluster.run(node, "sh", "-c", START.format(host=HOST) + " 2>&1")
    return cluster.run(node, "cat", "/root/ldap/ca.pem") + "\n"


def stop(cluster: Running, node: str) -> None:
    """Stop the server."""
    cluster.run(node, "systemctl", "stop", "ldap-of-test")
