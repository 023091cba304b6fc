"""Defects of the rollout to plant in the real code, to test the model checker itself."""

from typing import Any

from cluster_resource import entry, pointer, rollout, rollout_api, waves
from cluster_resource.decision import Call, Decision, Succeed
from tests.soak.defect import Defect


def _without_failures(report_of: Any) -> Any:
    return lambda *arguments: report_of(*arguments)._replace(failed=())


def _same_generation(write: Any) -> Any:
    def repeat(desired: Any, pointer_: Any, *rest: Any) -> Any:
        decision = write(desired, pointer_, *rest)
        if not pointer_ or not isinstance(decision.action, Call):
            return decision
        found = pointer.Pointer.parse(decision.action.arguments["Value"])
        same = found._replace(generation=pointer_.generation) if found else pointer_
        arguments = {**decision.action.arguments, "Value": same.text}
        return decision._replace(action=decision.action._replace(arguments=arguments))

    return repeat


def _delete_keeps_the_pointer(_: Any) -> Any:
    return lambda _rollout, memory, _clock: Decision(Succeed("the bundle parameter is deleted"), memory)


def _all_at_once(_: Any) -> Any:
    return lambda _wave, _fleet: waves.LAST


def _all_controllers(next_controllers: Any) -> Any:
    def every(fleet: Any, controllers: Any) -> Any:
        chosen = controllers
        while found := next_controllers(fleet, chosen):
            chosen = found
        return () if chosen == controllers else chosen

    return every


def _first_page(reports_of: Any) -> Any:
    def first(self: Any, log_group: str) -> Any:
        return list(reports_of(self, log_group))[:20]

    return first


ROLLOUT_DEFECTS: dict[str, Defect] = {
    "a rollout does not look for newer requests": Defect(rollout, "newer_request", lambda _: lambda *_: None),
    "a wave does not wait": Defect(waves.WaveReport, "waiting", lambda _: property(lambda _: "")),
    "a failed node counts as applied": Defect(waves, "report_of", _without_failures),
    "a rollout has one wave": Defect(waves, "next_wave", _all_at_once),
    "controllers go together": Defect(waves, "next_controllers", _all_controllers),
    "a generation does not rise": Defect(rollout, "_write", _same_generation),
    "a deletion keeps the pointer": Defect(rollout, "_deleted", _delete_keeps_the_pointer),
    "a creation does not wait for reports": Defect(rollout, "FIRST_REPORTS_S", lambda _: 0),
    "a rollback goes by waves": Defect(entry, "_is_undo", lambda _: lambda *_: False),
    "only the first page of reports is read": Defect(rollout_api.RolloutApi, "_reports", _first_page),
}
