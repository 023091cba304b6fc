"""The table of rules that judge events: the first rule that matches counts. docs/operate/events.md lists them."""

import re
from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """Where an event comes from."""

    CLUSTER = "cluster"
    OPERATION = "operation"
    STACK = "stack"
    HEALTH = "health"
    DEEP_CHECK = "deep check"
    KUBERNETES = "kubernetes"
    SLURM = "slurm"
    DISK = "disk"
    BUNDLE = "bundle"
    NODE = "node"
    ALARM = "alarm"


class Verdict(StrEnum):
    """What an event requires."""

    OK = "ok"
    WATCH = "watch"
    ACT = "act"


@dataclass(frozen=True)
class Rule:
    """A verdict on events of a source whose kind and text match; ``action`` may name CLUSTER and NODE."""

    name: str
    source: Source
    verdict: Verdict
    what: str
    kind: str = ""
    text: str = ""
    action: str = ""

    def matches(self, source: Source, kind: str, text: str) -> bool:
        """Return whether the rule judges the event."""
        is_kind = re.fullmatch(self.kind, kind, re.IGNORECASE) if self.kind else True
        return source is self.source and bool(is_kind) and bool(re.search(self.text, text, re.IGNORECASE))


OK, WATCH, ACT = Verdict.OK, Verdict.WATCH, Verdict.ACT
REPLACE = "`./hpod replace CLUSTER NODE`, which waits for its jobs; with automatic `node_recovery` HyperPod replaces it"
DEPLOY = "correct the cause and deploy again"

# https://docs.nvidia.com/deploy/xid-errors/ : errors of the hardware, and errors that a program causes.
HARDWARE_XIDS = "48|62|64|74|79|92|95|109|119|120|121|136|140|143|145|149"
PROGRAM_XIDS = "13|31|43|45|68|137"

RULES = (
    Rule(
        "stack-rollback-failed", Source.STACK, ACT, "CloudFormation stopped a rollback", kind="UPDATE_ROLLBACK_FAILED",
        action="run `./hpod continue-rollback CLUSTER`",
    ),
    Rule(
        "stack-failed", Source.STACK, ACT, "a resource or a stack failed", kind=".*_FAILED",
        action=f"read the reason with `./hpod status CLUSTER`; {DEPLOY}",
    ),
    Rule("stack-rolling-back", Source.STACK, WATCH, "a stack is rolled back", kind=".*ROLLBACK_IN_PROGRESS"),
    Rule(
        "stack-rolled-back", Source.STACK, ACT, "a stack was rolled back", kind="(UPDATE_)?ROLLBACK_COMPLETE",
        action=f"read the reason with `./hpod status CLUSTER`; {DEPLOY}",
    ),
    Rule("stack", Source.STACK, OK, "any other state of a stack"),
    Rule(
        "cluster-capacity", Source.CLUSTER, WATCH, "AWS has no capacity or quota for instances; HyperPod retries",
        kind="Error|Warn", text="capacity|not launched|limit exceeded|quota",
    ),
    Rule(
        "cluster-scripts", Source.CLUSTER, ACT, "lifecycle scripts failed on a node", kind="Error|Warn",
        text="lifecycle|script", action=f"read `./hpod logs CLUSTER NODE`; {DEPLOY}",
    ),
    Rule(
        "cluster-error", Source.CLUSTER, ACT, "any other event of level Error", kind="Error",
        action="read the message, and `./hpod status CLUSTER` for the state of the nodes",
    ),
    Rule("cluster-warning", Source.CLUSTER, WATCH, "any other event of level Warn", kind="Warn"),
    Rule("cluster", Source.CLUSTER, OK, "an event of level Info"),
    Rule("operation-superseded", Source.OPERATION, WATCH, "a later operation replaced this one", kind=".*Superseded"),
    Rule("operation", Source.OPERATION, OK, "an operation that runs or is done"),
    Rule("agent-condition", Source.HEALTH, OK, "a node condition that is not a fault: its status is False", kind=".* False"),
    Rule("agent-program", Source.HEALTH, WATCH, "a fault that the agent attributes to a program", text="UserAppError"),
    Rule(
        "agent-hardware", Source.HEALTH, ACT, "a fault that the agent attributes to the hardware", text="HardwareFailure",
        action=REPLACE,
    ),
    Rule(
        "gpu-hardware", Source.HEALTH, ACT, f"an XID of the hardware: {HARDWARE_XIDS.replace('|', ', ')}",
        kind=f"XID ({HARDWARE_XIDS})", action=REPLACE,
    ),
    Rule(
        "gpu-program", Source.HEALTH, WATCH, f"an XID that a program causes: {PROGRAM_XIDS.replace('|', ', ')}",
        kind=f"XID ({PROGRAM_XIDS})",
    ),
    Rule("gpu-other", Source.HEALTH, WATCH, "any other XID: https://docs.nvidia.com/deploy/xid-errors/", kind="XID .*"),
    Rule(
        "accelerator", Source.HEALTH, ACT, "a fault of memory, NVLink, NVSwitch, temperature, power, PCIe or Neuron",
        text="ecc|dbe|nvlink|nvswitch|sxid|thermal|temperature|power|pcie|infiniband|efa|neuron|fallen off", action=REPLACE,
    ),
    Rule("health", Source.HEALTH, WATCH, "any other record of the health-monitoring agent"),
    Rule(
        "deep-check-faulty", Source.DEEP_CHECK, ACT, "a deep health check found a faulty instance", kind="error",
        text="FaultyInstance|replace the instance", action=REPLACE,
    ),
    Rule(
        "deep-check-error", Source.DEEP_CHECK, ACT, "a deep health check failed for another reason", kind="error",
        action="read `./hpod logs CLUSTER --kind deep-health`",
    ),
    Rule("deep-check", Source.DEEP_CHECK, OK, "any other line of a deep health check"),
    Rule(
        "node-not-ready", Source.KUBERNETES, ACT, "the kubelet of a node does not report", kind=".* NodeNotReady",
        action="`./hpod reboot CLUSTER NODE` if `./hpod status CLUSTER` still shows it as NotReady",
    ),
    Rule(
        "node-pressure", Source.KUBERNETES, ACT, "a node lacks disk space, memory or process ids",
        kind=".* (NodeHas(Insufficient(Memory|PID)|DiskPressure)|EvictionThresholdMet|FreeDiskSpaceFailed)",
        action="end pods that take too much; `kubectl describe node` lists them",
    ),
    Rule("node-memory", Source.KUBERNETES, WATCH, "the kernel ended a process of a pod for lack of memory", kind=".*OOM.*"),
    Rule("node-rebooted", Source.KUBERNETES, WATCH, "a node has booted again", kind=".* Rebooted"),
    Rule("kubernetes-warning", Source.KUBERNETES, WATCH, "any other event of type Warning on a node", kind="Warning .*"),
    Rule("kubernetes", Source.KUBERNETES, OK, "an event of type Normal on a node"),
    Rule("slurm-back", Source.SLURM, OK, "a node or a daemon is available again", kind="available"),
    Rule("slurm-joining", Source.SLURM, OK, "a node has not registered with Slurm yet", kind="joining"),
    Rule(
        "slurm-daemon", Source.SLURM, ACT, "slurmctld or slurmdbd does not run", kind="daemon",
        action="log in to the controller; run `systemctl status` and `journalctl -u` for it, and start it",
    ),
    Rule(
        "slurm-recovery", Source.SLURM, WATCH, "HyperPod reboots or replaces a node (`Action:Reboot`, `Action:Replace`)",
        text="Action:(Reboot|Replace)",
    ),
    Rule(
        "slurm-hpod", Source.SLURM, WATCH, "an operator drained a node with `./hpod`", kind=".*drain.*",
        text=r"^[^:]*: hpod \w+ by ",
    ),
    Rule("slurm-gpu", Source.SLURM, ACT, "Slurm drained a node because it lacks GPUs", text="gres|gpu", action=REPLACE),
    Rule(
        "slurm-stuck", Source.SLURM, ACT, "Slurm drained a node because a process of a job did not end", text="kill task failed",
        action="`./hpod reboot CLUSTER NODE`, then `./hpod resume CLUSTER NODE`",
    ),
    Rule(
        "slurm-rebooted", Source.SLURM, ACT, "a node rebooted without a drain and waits to return to service",
        text="unexpectedly rebooted", action="`./hpod resume CLUSTER NODE`, if the controller does not resume it within minutes",
    ),
    Rule(
        "slurm-down", Source.SLURM, ACT, "a node does not answer Slurm", kind="down.*|.*not_?respond.*|fail.*",
        action="read `./hpod logs CLUSTER NODE`, and run `systemctl status slurmd` on the node",
    ),
    Rule(
        "slurm-drained", Source.SLURM, ACT, "a node is drained for another reason", kind=".*drain.*",
        action="fix the cause, then `./hpod resume CLUSTER NODE`",
    ),
    Rule("slurm", Source.SLURM, WATCH, "any other state that Slurm calls a problem"),
    Rule("disk-back", Source.DISK, OK, "a file system has space again", kind="available"),
    Rule(
        "disk-full", Source.DISK, ACT, "a file system has less than 5 % of its space", kind="full",
        action="delete files, or enlarge the file system: `storage.lustre.storage_capacity_gib`",
    ),
    Rule(
        "disk-low", Source.DISK, ACT, "a file system has less than `monitoring.free_disk_percent` of its space (default: 10 %)",
        action="delete files before it is full",
    ),
    Rule(
        "bundle-refused", Source.BUNDLE, ACT, "a node refused scripts that the deployment did not write", kind="refused",
        action="find who changed the parameter or the bucket in CloudTrail, then deploy again",
    ),
    Rule(
        "bundle-failed", Source.BUNDLE, ACT, "changed scripts failed on a running node", kind="failed",
        action=f"read the message and `./hpod logs CLUSTER NODE`; {DEPLOY}",
    ),
    Rule("bundle", Source.BUNDLE, OK, "a node applied changed scripts"),
    Rule(
        "node-role", Source.NODE, ACT, "users of a node can use its role", text="can use the node role",
        action="run `systemctl status hyperpod-metadata` and `nft list ruleset` on the node",
    ),
    Rule("node", Source.NODE, WATCH, "any other warning of the agent on a node"),
    Rule(
        "alarm", Source.ALARM, ACT, "an alarm of the deployment is in ALARM", kind="ALARM",
        action="read the alarm's description; `./hpod status CLUSTER` lists the alarms that are still in ALARM",
    ),
    Rule(
        "alarm-no-reports", Source.ALARM, ACT, "the controller sends no reports", kind="INSUFFICIENT_DATA",
        text="sends no reports", action="read the alarm's description; `./hpod status CLUSTER` shows the controller's state",
    ),
    Rule("alarm-unknown", Source.ALARM, WATCH, "an alarm of the deployment lacks data", kind="INSUFFICIENT_DATA"),
    Rule("alarm-over", Source.ALARM, OK, "an alarm of the deployment returned to OK"),
)  # fmt: skip


def judge(source: Source, kind: str, text: str) -> Rule:
    """Return the first rule that matches; the last rule of each source matches everything."""
    return next(rule for rule in RULES if rule.matches(source, kind, text))
